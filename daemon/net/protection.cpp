#include "daemon/net/protection.h"

#include <fmt/format.h>

#include "libclient/tls/certificate_file.h"

namespace spindled {

namespace {

using spindle::CertificateName;
using spindle::TlsContext;
using spindle::TlsPort;
using spindle::TlsRole;
using spindle::TlsSide;

/// The certificate is to say what the configuration says.
std::string find_mismatch(const DaemonConfig& config, const CertificateName& own) {
  if (own.kind != CertificateName::Kind::daemon) {
    return fmt::format("the certificate is that of {}, not of a daemon: spmonitor pki issue makes one for {}",
                       to_identity(own), config.node.name);
  }
  if (own.cluster != config.node.cluster) {
    return fmt::format("the certificate is for the cluster {}, and daemon.cluster says {}", own.cluster,
                       config.node.cluster);
  }
  if (own.name != config.node.name && own.name != spindle::kAnyDaemon) {
    return fmt::format("the certificate is that of the daemon {}, and daemon.name says {}", own.name, config.node.name);
  }
  return {};
}

}  // namespace

Result<Protection> load_protection(const DaemonConfig& config, spindle::WallTime now) {
  if (config.tls.bundle.empty()) return Protection();
  std::string wrong;
  const std::optional<std::string> bundle = spindle::read_certificate_file(config.tls.bundle, wrong);
  if (!bundle) {
    return fail(Errc::bad_configuration, fmt::format("tls.bundle = \"{}\": {}", config.tls.bundle, wrong));
  }
  const std::optional<std::string> lists = spindle::read_revocation_lists(config.tls.revocation_lists, wrong);
  if (!lists) return fail(Errc::bad_configuration, "tls.revocation_lists: " + wrong);
  const auto make = [&](TlsPort port, TlsSide side, bool requires_certificate = true) {
    const TlsRole role{port, side, requires_certificate};
    return wrong.empty() ? TlsContext::make(role, *bundle, *lists, now, wrong) : nullptr;
  };
  Protection protection;
  protection.accepted_link = make(TlsPort::link, TlsSide::accepting);
  protection.dialled_link = make(TlsPort::link, TlsSide::dialling);
  // Clients may have a token instead, and are then held to it.
  protection.accepted_client = make(TlsPort::client, TlsSide::accepting, config.tokens.empty());
  protection.accepted_admin = make(TlsPort::admin, TlsSide::accepting);
  if (wrong.empty()) wrong = find_mismatch(config, protection.accepted_link->certificate()->name);
  if (!wrong.empty())
    return fail(Errc::bad_configuration, fmt::format("tls.bundle = \"{}\": {}", config.tls.bundle, wrong));
  if (const auto parts = spindle::parse_bundle(*bundle, wrong)) protection.ends = read_ends(*parts);
  return protection;
}

}  // namespace spindled
