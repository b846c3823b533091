#include "tools/spmonitor/pki/issue.h"

#include <fmt/format.h>

#include <algorithm>

#include "libclient/common/names.h"
#include "tools/spmonitor/pki/authority_file.h"
#include "tools/spmonitor/pki/files.h"
#include "tools/spmonitor/pki/issued_log.h"

namespace spmonitor::pki {

using namespace spindle;

namespace {

constexpr const char* kNameOfAnyDaemonFile = "any-daemon";

Result<void> check_name(const std::string& name) {
  if (is_daemon_name(name)) return {};
  constexpr const char* kText =
      "\"{}\" is no name: it must have 1 to 64 printable ASCII characters other than '#' and space";
  return fail(fmt::format(kText, name));
}

Result<void> check_name(const IssueOptions& options) {
  if (options.name == kAnyDaemon && options.kind != CertificateName::Kind::daemon) {
    return fail("\"*\" stands for any daemon; give a client or an operator another name");
  }
  return check_name(options.name);
}

/// "alpha.pem", or what was asked for.
Result<std::string> output_path(const std::string& asked, const std::string& name, std::string_view ending) {
  if (!asked.empty()) return asked;
  if (name.find('/') != std::string::npos) {
    return fail(fmt::format("\"{}\" cannot be the name of a file; give --output FILE", name));
  }
  return fmt::format("{}{}", name == kAnyDaemon ? kNameOfAnyDaemonFile : name, ending);
}

/// Only what `issue` itself has written: no key of a CA, and nothing that got into the way by mistake.
Result<void> check_replaceable(const std::string& path, bool force) {
  if (!exists(path)) return {};
  if (!force) {
    return fail(path + ": is there already; --force replaces it, --output FILE writes another file");
  }
  const Result<CertificateBundle> there = load_bundle(path);
  if (there && there->certificate && name_of(*there->certificate)) return {};
  return fail(path + ": is no certificate of a cluster, and is not replaced; move it away");
}

/// Those certificates of CAs in `paths` that `known` does not have.
Result<std::vector<CertificateHandle>> load_trusted(const std::vector<std::string>& paths, const Authority& known) {
  std::vector<CertificateHandle> trusted;
  for (const std::string& path : paths) {
    Result<CertificateBundle> bundle = load_bundle(path);
    if (!bundle) return tl::unexpected(bundle.error());
    if (bundle->authorities.empty()) {
      return fail(path + ": holds no certificate of a CA; give one that does, such as trading.ca");
    }
    for (CertificateHandle& authority : bundle->authorities) {
      if (cluster_of(*authority) != known.cluster) {
        return fail(fmt::format("{}: is of another cluster than {}; give a CA of that", path, known.cluster));
      }
      if (X509_cmp(authority.get(), known.certificate.get()) != 0) trusted.push_back(std::move(authority));
    }
  }
  return trusted;
}

Result<std::string> identity_pem(const Identity& identity, const Authority& authority,
                                 const std::vector<CertificateHandle>& trusted) {
  std::vector<X509*> certificates{identity.certificate.get(), authority.certificate.get()};
  for (const CertificateHandle& other : trusted) certificates.push_back(other.get());
  return to_pem(*identity.key, certificates);
}

Result<Validity> validity_under(const Authority& authority, const IssueOptions& options, Time now) {
  const Time authority_until = from_asn_time(X509_get0_notAfter(authority.certificate.get()));
  if (authority_until <= now) {
    return fail(fmt::format("{}: expired at {}; make another CA with `spmonitor pki init --output FILE`",
                            options.authority_path, show_time(authority_until)));
  }
  Validity validity = validity_from(now, std::chrono::days(options.days));
  validity.until = std::min(validity.until, authority_until);
  return validity;
}

Result<void> note(const Issued& issued, const std::string& authority_path) {
  return IssuedLog::open(issued_path(authority_path)).and_then([&](IssuedLog log) { return log.append(issued); });
}

}  // namespace

Result<std::string> init(const InitOptions& options, Time now) {
  if (const Result<void> name = check_name(options.cluster); !name) return tl::unexpected(name.error());
  const Result<std::string> path = output_path(options.output, options.cluster, ".ca");
  if (!path) return tl::unexpected(path.error());
  for (const std::string& file : {*path, issued_path(*path), revocation_list_path(*path)}) {
    if (exists(file)) {
      return fail(file + ": is there already, and a CA is never replaced; give another --output FILE");
    }
  }
  const Validity validity = validity_from(now, std::chrono::days(options.days));
  const Result<Authority> authority = make_authority(options.cluster, validity);
  if (!authority) return tl::unexpected(authority.error());
  const Result<void> written =
      to_pem(*authority->key, {authority->certificate.get()}).and_then([&](const std::string& pem) {
        return write_file(*path, pem, Access::secret, Existing::keep);
      });
  if (!written) return tl::unexpected(written.error());
  return fmt::format(
      "{}: the CA of cluster {}, until {}. Keep it offline: whoever has it can be anybody in the cluster\n", *path,
      options.cluster, show_time(validity.until));
}

Result<std::string> issue(const IssueOptions& options, Time now) {
  if (const Result<void> name = check_name(options); !name) return tl::unexpected(name.error());
  const Result<std::string> path = output_path(options.output, options.name, ".pem");
  if (!path) return tl::unexpected(path.error());
  const Result<Authority> authority = load_authority(options.authority_path);
  if (!authority) return tl::unexpected(authority.error());
  const Result<Validity> validity = validity_under(*authority, options, now);
  if (!validity) return tl::unexpected(validity.error());
  if (const Result<void> free = check_replaceable(*path, options.force); !free) return tl::unexpected(free.error());
  const Result<std::vector<CertificateHandle>> trusted = load_trusted(options.trusted_paths, *authority);
  if (!trusted) return tl::unexpected(trusted.error());

  const CertificateName name{authority->cluster, options.kind, options.name};
  const Result<Identity> identity = make_identity(*authority, {name, options.dns_names, options.addresses, *validity});
  if (!identity) return tl::unexpected(identity.error());
  const Issued issued{serial_of(*identity->certificate), name, show_time(validity->until)};
  // The line first: no certificate is ever there that the file of those issued does not have.
  const Result<void> written =
      note(issued, options.authority_path)
          .and_then([&] { return identity_pem(*identity, *authority, *trusted); })
          .and_then([&](const std::string& pem) {
            return write_file(*path, pem, Access::secret, options.force ? Existing::replace : Existing::keep);
          });
  if (!written) return tl::unexpected(written.error());
  return fmt::format("{}: {} of cluster {}, until {}, serial {}\n", *path, to_identity(name), name.cluster,
                     issued.until, issued.serial);
}

}  // namespace spmonitor::pki
