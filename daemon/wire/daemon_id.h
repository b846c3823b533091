// Who a daemon is.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace spindled {

/// A daemon in one of its lives. Of two lives of a daemon the one with the larger incarnation is the later, so whoever
/// starts a daemon puts the time of the start into the upper bits of the incarnation, finely enough that no restart has
/// the time of the start before it, and random bits into the lower. Where a clock was set back between two lives,
/// daemons that still hold the old life ignore the new one until the old ages out (three refresh intervals); direct
/// neighbours forget the old life as soon as a link is up.
struct DaemonId {
  std::string name;
  std::uint64_t incarnation = 0;

  auto operator<=>(const DaemonId&) const = default;
};

}  // namespace spindled
