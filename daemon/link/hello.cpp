#include "daemon/link/hello.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <tuple>

#include "daemon/link/link_limits.h"
#include "libclient/common/printable.h"

namespace spindled {

std::uint64_t settings_digest(const NodeConfig& config) {
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const std::uint64_t value :
       std::initializer_list<std::uint64_t>{kControlFrameBytesMax, kFragmentBytesMax, kDataFrameBytesMax, kMembersMax,
                                            kBundleWeightMax, config.first_number}) {
    for (int shift = 0; shift < 64; shift += 8) {
      digest ^= (value >> shift) & 0xff;
      digest *= 0x100000001b3;
    }
  }
  return digest;
}

LinkHello make_hello(const NodeConfig& config) {
  LinkHello hello;
  hello.cluster = config.cluster;
  hello.daemon = {config.name, config.incarnation};
  hello.settings_digest = settings_digest(config);
  return hello;
}

Result<void> check_hello(const LinkHello& own, const LinkHello& peer) {
  // In an order that both sides share, so that the texts are the same.
  const auto key = [](const LinkHello& hello) {
    return std::tie(hello.daemon, hello.cluster, hello.version_min, hello.version_max, hello.settings_digest);
  };
  const bool own_first = key(own) <= key(peer);
  const LinkHello& a = own_first ? own : peer;
  const LinkHello& b = own_first ? peer : own;

  if (std::max(a.version_min, b.version_min) > std::min(a.version_max, b.version_max)) {
    return fail(Errc::version_mismatch,
                fmt::format("{} speaks versions {} to {}, {} speaks {} to {}", a.daemon.name, a.version_min,
                            a.version_max, b.daemon.name, b.version_min, b.version_max));
  }
  if (a.cluster != b.cluster) {
    return fail(Errc::cluster_mismatch,
                fmt::format("{} belongs to cluster '{}', {} to '{}'", a.daemon.name, spindle::printable(a.cluster),
                            b.daemon.name, spindle::printable(b.cluster)));
  }
  if (a.daemon == b.daemon) {
    return fail(Errc::name_conflict,
                fmt::format("the address leads {} back to itself: it is no neighbour", a.daemon.name));
  }
  if (a.daemon.name == b.daemon.name) {
    return fail(Errc::name_conflict, fmt::format("two daemons are named {} (incarnations {:016x} and {:016x}): "
                                                 "give one of them another daemon.name",
                                                 a.daemon.name, a.daemon.incarnation, b.daemon.incarnation));
  }
  if (a.settings_digest != b.settings_digest) {
    return fail(Errc::settings_mismatch,
                fmt::format("the digest of settings that must agree is {:016x} at {}, {:016x} at {}", a.settings_digest,
                            a.daemon.name, b.settings_digest, b.daemon.name));
  }
  return {};
}

Result<void> check_identity(std::string_view identity, std::string_view daemon) {
  constexpr std::string_view kAnyDaemon = "daemon:*";
  if (identity.empty() || identity == kAnyDaemon || identity == fmt::format("daemon:{}", daemon)) return {};
  return fail(Errc::identity_mismatch,
              fmt::format("it calls itself {}, and its certificate is that of {}", daemon, identity));
}

}  // namespace spindled
