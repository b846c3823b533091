// Holds what daemons keep in memory to what they were configured with, and to what the plan can have brought them.
#pragma once

#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/node/node.h"
#include "tests/hunt/outcome.h"
#include "tests/hunt/plan.h"

namespace spindled::hunt {

class MemoryLimits {
 public:
  explicit MemoryLimits(const Plan& plan);

  /// What a daemon keeps between two turns.
  void check(HostIndex host, const NodeMemory& memory);

  /// One for each limit and daemon that was exceeded, as far as it went.
  std::vector<Finding> findings() const;
  /// The most that any daemon kept, and how near it came to its limits, in percent.
  void count(Tally& tally) const;

 private:
  /// Of one daemon.
  struct OfDaemon {
    std::size_t own = 0;
    std::size_t foreign = 0;         // of any other daemon
    std::size_t foreign_at_end = 0;  // likewise, as the view ends
    std::size_t sessions = 0;
    std::size_t definitions = 0;
    std::size_t feeds = 0;
  };
  struct Use {
    std::size_t most = 0;
    std::size_t percent = 0;
  };
  struct Excess {
    std::size_t amount = 0;
    std::size_t limit = 0;
  };
  /// What there is a limit for.
  enum class Kept : std::uint8_t {
    own_stream,
    foreign_stream,
    all_streams,
    unordered,
    own_unordered,
    pushed,
    held_up,
    partial,
    link_data,
    link_control,
    session_queue,
    session_kept,
    clients,
    definitions,
    feeds,
    sessions,
    groups,
    memberships,
    bulk_rings,
    count_
  };
  static std::string_view text_of(Kept kept);

  void hold(HostIndex host, Kept kept, std::size_t amount, std::size_t limit);

  std::vector<OfDaemon> daemons_;
  std::size_t all_streams_ = 0;   // that is retained of them, or brought by recovery
  std::size_t all_contents_ = 0;  // of all messages of the run that take a place or wait for the group layer
  std::size_t held_up_ = 0;
  std::size_t partial_ = 0;
  std::size_t link_data_ = 0;
  std::size_t link_control_ = 0;
  std::size_t queue_ = 0;
  std::size_t session_kept_ = 0;  // that one client may have to get again
  std::size_t clients_ = 0;
  std::size_t groups_ = 0;
  std::size_t memberships_ = 0;
  std::size_t bulk_rings_ = 0;  // or 64 KiB for each channel, where that is more
  std::array<Use, static_cast<std::size_t>(Kept::count_)> uses_;
  std::map<std::pair<HostIndex, Kept>, Excess> excesses_;
};

}  // namespace spindled::hunt
