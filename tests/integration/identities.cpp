#include "tests/integration/identities.h"

namespace spindle::test {

std::string Identities::file(const std::string& name, std::string_view text) {
  const std::string path = folder_.path(name);
  write_file(path, std::string(text));
  return path;
}

WallTime Identities::tomorrow() { return wall_time() + kDay; }

CertificateContents Identities::contents(const std::string& holder, const std::string& cluster) {
  CertificateContents contents;
  contents.uri = "spindle://" + cluster + "/" + holder;
  contents.from = tomorrow() - 2 * kDay;
  contents.until = tomorrow();
  return contents;
}

std::string Identities::bundle(const CertificateContents& contents, const TestAuthority& authority) {
  const TestCertificate issued = authority.issue(contents);
  last_serial_ = issued.serial;
  return file("bundle" + std::to_string(++files_) + ".pem", make_bundle(authority, issued));
}

std::string Identities::authority_file() { return file("authority.pem", authority_.certificate()); }

DaemonOptions Identities::daemon(const std::string& name, const std::string& more) {
  DaemonOptions options;
  options.name = name;
  options.configuration = "[tls]\nbundle = \"" + bundle("daemon/" + name) + "\"\n" + more;
  return options;
}

}  // namespace spindle::test
