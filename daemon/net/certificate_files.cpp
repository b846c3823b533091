#include "daemon/net/certificate_files.h"

#include <fmt/format.h>

#include "libclient/tls/certificate_text.h"

namespace spindled {

namespace {

FileWatch watch(const TlsConfig& tls) {
  std::vector<std::string> paths;
  for (const std::string& path : {tls.bundle, tls.revocation_lists}) {
    if (!path.empty()) paths.push_back(path);
  }
  return FileWatch(std::move(paths));
}

std::string describe(const TlsConfig& tls, const spindle::CertificateRecord& own) {
  std::string text =
      fmt::format("the certificates of {} are taken: {}, serial {}, valid until {}", tls.bundle, to_identity(own.name),
                  spindle::show_serial(own.serial), spindle::show_time(own.expires));
  if (!tls.revocation_lists.empty()) text += fmt::format("; those revoked by {}", tls.revocation_lists);
  return text;
}

}  // namespace

Result<CertificateFiles::Taken> CertificateFiles::take(const DaemonConfig& config, spindle::WallTime now) {
  FileWatch seen = watch(config.tls);
  Result<Protection> protection = load_protection(config, now);
  if (!protection) {
    // Files that were only tried, in place of those that the daemon goes by, are none to look after.
    if (seen.is_of_same_files(watch_)) {
      watch_ = std::move(seen);
      failure_ = protection.error().message();
    }
    return tl::unexpected(protection.error());
  }
  Taken taken{std::move(*protection), {}};
  const bool is_new = seen != watch_ || !failure_.empty();
  if (is_new && taken.protection) taken.news = describe(config.tls, *taken.protection.accepted_link->certificate());
  watch_ = std::move(seen);
  failure_.clear();
  bundle_ = config.tls.bundle;
  ends_ = taken.protection.ends;
  warned_.reset();
  return taken;
}

std::optional<Protection> CertificateFiles::look(const DaemonConfig& config, spindle::WallTime now) {
  std::optional<Protection> taken = take_changes(config, now);
  warn(now);
  return taken;
}

void CertificateFiles::warn(spindle::WallTime now) {
  for (const std::string& warning : warn_of_ends(ends_, warned_, now)) log_.warning("{}: {}", bundle_, warning);
  warned_ = now;
}

std::optional<Protection> CertificateFiles::take_changes(const DaemonConfig& config, spindle::WallTime now) {
  const bool has_changed = watch_.changed();
  // What was of no use may become so with time: a certificate that is valid from tomorrow on, a disk that was not
  // there.
  if (!has_changed && failure_.empty()) return std::nullopt;
  const std::string told = failure_;
  Result<Taken> taken = take(config, now);
  if (taken) {
    log_.info("{}", taken->news);
    return std::move(taken->protection);
  }
  if (has_changed || failure_ != told) {
    log_.error("{}", failure_);
    log_.error("nothing is taken: the certificates stay as they are");
  }
  return std::nullopt;
}

}  // namespace spindled
