// How fast clients may change who is a member of what.
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/base/node_config.h"
#include "daemon/base/token_bucket.h"

namespace spindled {

/// What one client has to spend on changes of membership.
struct MembershipBudget {
  TokenBucket bucket;
  std::uint64_t turn = 0;    // the last in which it spent something,
  double spent_in_turn = 0;  // and that
};

/// A join or a leave is one small message to all daemons, and then a view for each member of the group: what it costs
/// others grows with the group, and nothing of that shows in the queue of any link. So each client has a token bucket
/// of bytes told, and so have all clients of the daemon together. What a change comes to is reckoned by the client's
/// daemon, which knows the group's members. A join pays for the views of the leave that will follow it, too: a client
/// that is gone cannot be asked for anything any more.
///
/// In one turn only so much enters, of one client and of all, and the rest in the next ones, so that whoever asks for
/// much leaves others their place between.
///
/// Order of calls: `start_turn`; then `wait_until`, and `pay` where the change may enter.
class MembershipRate {
 public:
  explicit MembershipRate(const SessionConfig& config) : config_(config) {}

  void start_turn() {
    ++turn_;
    spent_in_turn_ = 0;
  }
  /// Nothing where a change may enter now; otherwise when it is worth trying again.
  std::optional<Time> wait_until(Time now, MembershipBudget& client);
  void pay(MembershipBudget& client, double bytes);

  /// What a change comes to that tells `members` other clients views of so many bytes: the `base` for what it costs
  /// each daemon, and the views.
  static constexpr double kBaseBytes = 400;
  static constexpr double kTellingBytes = 256;  // what queueing and writing it costs beside the bytes
  /// No change costs more than what this time brings, however dear it is.
  static constexpr double kCostMaxS = 2;

 private:
  static constexpr double kClientTurnBytes = 64u << 10;
  static constexpr double kTurnBytes = 256u << 10;
  /// Of what one client has, all have so many times as much.
  static constexpr double kAllClients = 2;

  double rate() const { return static_cast<double>(config_.membership_rate_bytes); }
  double burst() const { return static_cast<double>(config_.membership_burst_bytes); }

  const SessionConfig& config_;
  TokenBucket all_;
  std::uint64_t turn_ = 0;
  double spent_in_turn_ = 0;
};

}  // namespace spindled
