#include "tools/spmonitor/pki/revoke.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tools/spmonitor/pki/authority_file.h"
#include "tools/spmonitor/pki/files.h"
#include "tools/spmonitor/pki/issued_log.h"
#include "tools/spmonitor/pki/revocation_list.h"

namespace spmonitor::pki {

using namespace spindle;

namespace {

Result<std::vector<Issued>> find_in_file(const std::string& path, const Authority& authority,
                                         const std::string& authority_path) {
  const Result<CertificateBundle> bundle = load_bundle(path);
  if (!bundle) return tl::unexpected(bundle.error());
  if (!bundle->certificate) {
    return fail(path + ": holds no certificate to revoke; a CA is given up by issuing all from another one");
  }
  const std::optional<CertificateName> name = name_of(*bundle->certificate);
  if (!name || !is_issued_by(*bundle->certificate, *authority.certificate)) {
    return fail(fmt::format("{}: was not issued by {}; give the CA that has issued it", path, authority_path));
  }
  return std::vector<Issued>{{serial_of(*bundle->certificate), *name, {}}};
}

Result<std::vector<Issued>> find_by_name(const CertificateName& name, const IssuedLog& log, const std::string& path) {
  std::vector<Issued> found;
  std::copy_if(log.entries().begin(), log.entries().end(), std::back_inserter(found),
               [&](const Issued& issued) { return issued.name == name; });
  if (!found.empty()) return found;
  return fail(fmt::format("{} names no certificate of {}; give another name, or the file of the certificate", path,
                          to_identity(name)));
}

/// Null where there is none yet.
Result<RevocationListHandle> load_revocation_list(const std::string& path, const Authority& authority) {
  if (!exists(path)) return RevocationListHandle();
  Result<CertificateBundle> bundle = load_bundle(path);
  if (!bundle) return tl::unexpected(bundle.error());
  if (bundle->revocation_lists.size() == 1 &&
      X509_CRL_verify(bundle->revocation_lists.front().get(), authority.key.get()) == 1) {
    return std::move(bundle->revocation_lists.front());
  }
  ERR_clear_error();
  return fail(path + ": is not the list of this CA; move it away, or give the CA that it is of");
}

Result<std::vector<Issued>> find(const RevokeOptions& options, const Authority& authority, const IssuedLog& log,
                                 const std::string& log_path) {
  std::error_code none;
  if (!options.kind && std::filesystem::is_regular_file(options.target, none)) {
    return find_in_file(options.target, authority, options.authority_path);
  }
  const CertificateName::Kind kind = options.kind.value_or(CertificateName::Kind::daemon);
  return find_by_name({authority.cluster, kind, options.target}, log, log_path);
}

std::string tell(const std::vector<Issued>& found, const RevocationListHandle& earlier) {
  std::string text;
  for (const Issued& issued : found) {
    const bool was_revoked = earlier && is_revoked(*earlier, issued.serial);
    text += fmt::format("{} of {}: {}\n", issued.serial, to_identity(issued.name),
                        was_revoked ? "was revoked before" : "is revoked");
  }
  return text;
}

}  // namespace

Result<std::string> revoke(const RevokeOptions& options, Time now) {
  const Result<Authority> authority = load_authority(options.authority_path);
  if (!authority) return tl::unexpected(authority.error());
  // Until the end: two that revoke at once would each forget what the other has revoked.
  const std::string log_path = issued_path(options.authority_path);
  const Result<IssuedLog> log = IssuedLog::open(log_path);
  if (!log) return tl::unexpected(log.error());
  const Result<std::vector<Issued>> found = find(options, *authority, *log, log_path);
  if (!found) return tl::unexpected(found.error());

  const std::string path = revocation_list_path(options.authority_path);
  const Result<RevocationListHandle> earlier = load_revocation_list(path, *authority);
  if (!earlier) return tl::unexpected(earlier.error());
  std::vector<std::string> serials;
  for (const Issued& issued : *found) serials.push_back(issued.serial);
  const Validity validity = validity_from(now, std::chrono::days(options.days));
  const Result<void> written =
      make_revocation_list(*authority, earlier->get(), serials, validity)
          .and_then([](const RevocationListHandle& list) { return to_pem(*list); })
          .and_then([&](const std::string& pem) { return write_file(path, pem, Access::open, Existing::replace); });
  if (!written) return tl::unexpected(written.error());
  return fmt::format("{}{}: the list of revoked certificates, until {}\n", tell(*found, *earlier), path,
                     show_time(validity.until));
}

}  // namespace spmonitor::pki
