// The one limit of a daemon's memory, and how near to it the daemon is.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "daemon/base/node_config.h"
#include "daemon/base/slab.h"

namespace spindled {

/// Adds up what a daemon holds: the slabs, in which all stands that is read or written, and what others tell of the
/// rest. Not counted is what a process takes that does nothing.
///
/// Who holds memory asks how near the limit is, and gives up something, the earlier the less it costs others
/// (docs/operations.md, "Memory"):
///
/// - from kScarce on, what may wait for a client shrinks: senders to those who do not keep up pay more, and clients
///   with the policy `drop` lose messages sooner;
/// - from kShort on no message in several parts is begun, those that were go on one at a time, and clients are read in
///   small steps;
/// - from kFull on newcomers and new groups are refused, and clients are cut off that let lie what they hold;
/// - beyond the limit those that hold most.
///
/// Links are never shed. What is on its way between daemons has half of the limit (`window`), and a
/// quarter what has come ahead of messages (EnteringMessages).
class MemoryBudget {
 public:
  /// What is counted besides slabs.
  enum class Use : std::uint8_t {
    definitions,  // of clients' sets of destinations
    waiting,      // what is held of clients' messages outside slabs, and their joins and leaves
    clients,      // themselves
    connections,  // what the driver holds of them
    groups,
    parts,  // of messages, that have come ahead of them
    bulk,   // indexes of channels, and what is said to be there of them
    feeds,  // packets that are kept or wait, and what is known of feeds and their listeners
    count_
  };

  // In percent of the limit.
  static constexpr std::size_t kScarce = 70;
  static constexpr std::size_t kShort = 85;
  static constexpr std::size_t kFull = 95;

  /// Both outlive this one.
  MemoryBudget(const NodeConfig& config, const SlabPool& slabs) : config_(config), slabs_(slabs) {}

  void set(Use use, std::size_t bytes) {
    std::size_t& counted = uses_[static_cast<std::size_t>(use)];
    others_ += bytes - counted;
    counted = bytes;
  }

  std::size_t limit() const { return config_.memory_bytes_max; }
  std::size_t used() const { return slabs_.bytes_in_use() + others_; }
  bool is_short() const { return used() > part(kShort); }
  /// Without being short then.
  bool has_room_for(std::size_t bytes) const { return used() + bytes <= part(kShort); }
  bool is_full() const { return used() > part(kFull); }
  bool is_exceeded() const { return used() > limit(); }

  /// What share of its usual bounds a client's queue may have: 1 up to kScarce, and 0 from kFull on.
  double allowance() const {
    const std::size_t bytes = used();
    if (bytes <= part(kScarce)) return 1;
    if (bytes >= part(kFull)) return 0;
    return static_cast<double>(part(kFull) - bytes) / static_cast<double>(part(kFull) - part(kScarce));
  }

  /// What each of `daemons` may have on its way where the least limit of any is `smallest`: half of it together, but
  /// as much as keeps a link busy in any case.
  static std::size_t window(std::size_t smallest, std::size_t daemons) {
    return std::max(kWindowLeast, smallest / (2 * std::max<std::size_t>(daemons, 1)));
  }

 private:
  static constexpr std::size_t kWindowLeast = 256u << 10;

  std::size_t part(std::size_t percent) const { return limit() / 100 * percent; }

  const NodeConfig& config_;
  const SlabPool& slabs_;
  std::array<std::size_t, static_cast<std::size_t>(Use::count_)> uses_{};
  std::size_t others_ = 0;  // their sum
};

}  // namespace spindled
