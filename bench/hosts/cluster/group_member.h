// What the load needs of a group communication system.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace spindle::bench {

/// One member of the one group that everybody sends to. Implemented once for each system that is measured; whatever
/// goes wrong ends the process, see client_lines.h.
class GroupMember {
 public:
  /// Called for every message of the group, the own ones included, by one thread at a time.
  using Receive = std::function<void(std::span<const std::byte> payload)>;

  virtual ~GroupMember() = default;
  /// Joins the group, and returns once it has `members` members.
  virtual void join(std::size_t members, Receive receive) = 0;
  /// By any one thread at a time, `Receive` included, where it must not block.
  virtual void send(std::span<const std::byte> payload) = 0;
};

}  // namespace spindle::bench
