#include "daemon/net/protection.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>

#include "daemon/net/socket.h"

namespace spindled {

namespace {

using spindle::CertificateName;
using spindle::TlsContext;
using spindle::TlsPort;
using spindle::TlsRole;
using spindle::TlsSide;

/// A bundle has some kilobytes; lists of revoked certificates can be longer.
constexpr std::size_t kFileBytesMax = 16u << 20;

Result<std::string> read_file(std::string_view key, const std::string& path) {
  const auto failure = [&](std::string_view what) {
    return fail(Errc::bad_configuration, fmt::format("{} = \"{}\": {}", key, path, what));
  };
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return failure(describe_errno(errno));
  std::string text;
  for (char piece[4096]; stream.read(piece, sizeof piece), stream.gcount() > 0;) {
    text.append(piece, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kFileBytesMax) return failure("the file is too large for what it should hold");
  }
  if (stream.bad()) return failure(describe_errno(errno));
  return text;
}

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

Result<Protection> load_protection(const DaemonConfig& config) {
  if (config.tls.bundle.empty()) return Protection();
  const Result<std::string> bundle = read_file("tls.bundle", config.tls.bundle);
  if (!bundle) return tl::unexpected(bundle.error());
  std::string lists;
  if (!config.tls.revocation_lists.empty()) {
    Result<std::string> read = read_file("tls.revocation_lists", config.tls.revocation_lists);
    if (!read) return tl::unexpected(read.error());
    lists = std::move(*read);
  }
  std::string wrong;
  const auto make = [&](TlsPort port, TlsSide side) {
    return wrong.empty() ? TlsContext::make(TlsRole{port, side, true}, *bundle, lists, wall_time(), wrong) : nullptr;
  };
  Protection protection;
  protection.accepted_link = make(TlsPort::link, TlsSide::accepting);
  protection.dialled_link = make(TlsPort::link, TlsSide::dialling);
  protection.accepted_client = make(TlsPort::client, TlsSide::accepting);
  if (wrong.empty()) wrong = find_mismatch(config, protection.accepted_link->certificate()->name);
  if (!wrong.empty())
    return fail(Errc::bad_configuration, fmt::format("tls.bundle = \"{}\": {}", config.tls.bundle, wrong));
  return protection;
}

spindle::WallTime wall_time() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

}  // namespace spindled
