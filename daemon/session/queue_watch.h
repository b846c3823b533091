// Holds the queue of a client against the limits of its policy.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "daemon/base/memory_budget.h"
#include "daemon/base/node_config.h"

namespace spindled {

/// Mechanism apart from policy: it is told how much waits and when the client has read something, and says what is due.
/// The caller drops, warns and cuts off.
///
/// - price: the client is behind from a sixteenth of SessionConfig::queue_full_price_bytes on, or less, where memory is
///   scarce. It loses the connection
///   where it reads nothing at all for a while, above the hard limit for a moment. While it reads it keeps the
///   connection whatever waits: senders pay for that, and the daemon's memory has a bound of its own
///   (daemon/base/memory_budget.h).
/// - drop: behind from the soft limit on, where it loses messages, or before, where memory is scarce; the connection at
///   the hard limit, which only views and replies can reach.
/// - disconnect: behind from the soft limit on. It loses the connection after a while above that, at once at the hard
///   limit.
class QueueWatch {
 public:
  /// Both outlive this one.
  QueueWatch(const SessionConfig& config, const MemoryBudget& memory)
      : config_(&config), memory_(&memory), policy_(config.slow_policy) {}

  SlowPolicy policy() const { return policy_; }
  void set_policy(SlowPolicy policy) { policy_ = policy; }
  /// Bytes at which the client loses something first.
  std::size_t limit() const {
    return policy_ == SlowPolicy::price ? config_->queue_hard_bytes : config_->queue_soft_bytes;
  }
  /// Whether the client is behind: what waits passed the bound above, and has not fallen to a fraction of it since.
  bool is_behind() const { return behind_since_.has_value(); }
  bool is_priced() const { return is_behind() && policy_ == SlowPolicy::price; }
  /// From how many bytes on messages are dropped, for a client with that policy, and to how many.
  std::size_t drop_from() const;
  std::size_t drop_to() const { return drop_from() / 4 * 3; }

  /// Before what is said of a moment. While the client is behind this comes every kLookPeriod at least: what is beyond
  /// that the daemon has stood still, and it has yet to see what the client has read meanwhile.
  void note_look(Time now);
  /// The client has taken something.
  void note_progress(Time now) { progress_at_ = now; }
  Time progress_at() const { return progress_at_; }
  /// Whether senders pay for what waits, and the client goes on reading it.
  bool is_paid_for(Time now) const { return is_priced() && now - progress_at_ < kStalled; }
  /// The client has come back on another connection, and so much waits for it: it has yet to be seen how it reads.
  void note_return(Time now, std::size_t bytes);
  /// Of so many bytes that wait, those that are held against it: not what was there as it came back.
  std::size_t unexcused(std::size_t bytes) const { return bytes - std::min(bytes, excused_); }
  /// `bytes` wait. The percentage to warn of, if it is time for a warning.
  std::optional<unsigned> note_length(Time now, std::size_t bytes);
  /// For how long a client that senders slow down for has read nothing, if it is time to say so in the log.
  std::optional<Duration> note_stall(Time now);
  /// Why the client is to be cut off, if it is: what waits, the limit, and what to do.
  std::optional<std::string> objection(Time now, std::size_t bytes) const;

  static constexpr unsigned kWarnings[] = {50, 80};  // percent of the limit
  /// A client that has read nothing for so long does not go on reading: it is said to, and again after so long.
  static constexpr Duration kStalled = 1s;
  static constexpr Duration kStalledAgain = 10s;
  static constexpr Duration kLookPeriod = 500ms;

 private:
  const SessionConfig* config_;
  const MemoryBudget* memory_;
  SlowPolicy policy_;
  std::optional<Time> behind_since_;
  Time progress_at_{};  // counts while behind
  Time looked_at_{};    // likewise
  std::size_t excused_ = 0;
  Time warned_at_{};
  unsigned warned_ = 0;  // percent; the last warning that still holds
  std::optional<Time> stall_said_at_;
};

}  // namespace spindled
