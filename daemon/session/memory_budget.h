// What the clients of a daemon hold of its memory.
#pragma once

#include <cstddef>

#include "daemon/base/node_config.h"

namespace spindled {

/// What one client holds, in bytes.
struct SessionMemory {
  std::size_t unfinished = 0;   // that it has sent and that has not entered: parts of frames and of messages
  std::size_t definitions = 0;  // of its sets of destinations
  std::size_t held = 0;         // of messages that wait for its independent flows
  std::size_t queued = 0;       // that it has yet to read

  std::size_t total() const { return unfinished + definitions + held + queued; }
  SessionMemory& operator+=(const SessionMemory& other) {
    unfinished += other.unfinished;
    definitions += other.definitions;
    held += other.held;
    queued += other.queued;
    return *this;
  }
};

/// Adds up what all clients hold, and says when it is too much.
///
/// The payload of a large message that waits for many clients is in memory once, and counts for each of them. So what
/// is counted is too much only where the slabs, which hold all that is read and written, take as much, too.
class MemoryBudget {
 public:
  explicit MemoryBudget(const SessionConfig& config) : config_(config) {}

  void change(const SessionMemory& before, const SessionMemory& after) {
    total_ += after.total() - before.total();
    definitions_ += after.definitions - before.definitions;
  }
  std::size_t total() const { return total_; }
  /// Memory is short: nothing large is begun any more.
  bool is_short(std::size_t slab_bytes) const { return exceeds(slab_bytes, config_.memory_bytes_max / 8 * 7); }
  /// There is more than may be: somebody has to go.
  bool is_exceeded(std::size_t slab_bytes) const { return exceeds(slab_bytes, config_.memory_bytes_max); }

 private:
  bool exceeds(std::size_t slab_bytes, std::size_t limit) const {
    return total_ > limit && slab_bytes + definitions_ > limit;
  }

  const SessionConfig& config_;
  std::size_t total_ = 0;
  std::size_t definitions_ = 0;
};

}  // namespace spindled
