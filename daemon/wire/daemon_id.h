// Who a daemon is.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace spindled {

/// A daemon in one of its lives. The incarnation is drawn at random at each start: it tells lives apart and says
/// nothing of which is the later. Nobody has to know that: lives are kept side by side, and the one that others have
/// links to is the one that lives (`LinkStateDatabase`).
struct DaemonId {
  std::string name;
  std::uint64_t incarnation = 0;

  auto operator<=>(const DaemonId&) const = default;
};

}  // namespace spindled
