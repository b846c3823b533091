#include "daemon/admission/membership_rate.h"

#include <algorithm>

namespace spindled {

namespace {
/// Tokens with which an empty bucket is open again.
double enough(double rate, double burst) { return std::min(burst, rate * to_seconds(TokenBucket::kRefill)); }
}  // namespace

void TokenBucket::fill(Time now, double rate, double burst) {
  tokens_ = filled_at_ ? std::min(burst, tokens_ + rate * to_seconds(now - *filled_at_)) : burst;
  filled_at_ = now;
  if (tokens_ >= enough(rate, burst)) empty_ = false;
}

Time TokenBucket::opens_at(double rate, double burst) const {
  return *filled_at_ + from_seconds(std::max(0.0, (enough(rate, burst) - tokens_) / rate)) + Duration(1us);
}

std::optional<Time> MembershipRate::wait_until(Time now, MembershipBudget& client) {
  client.bucket.fill(now, rate(), burst());
  all_.fill(now, kAllClients * rate(), kAllClients * burst());
  if (!client.bucket.is_open()) return client.bucket.opens_at(rate(), burst());
  if (!all_.is_open()) return all_.opens_at(kAllClients * rate(), kAllClients * burst());
  const double spent = client.turn == turn_ ? client.spent_in_turn : 0;
  if (spent >= kClientTurnBytes || spent_in_turn_ >= kTurnBytes) return now;
  return std::nullopt;
}

void MembershipRate::pay(MembershipBudget& client, double bytes) {
  const double cost = std::min(bytes, kCostMaxS * rate());
  client.bucket.take(cost);
  all_.take(cost);
  if (client.turn != turn_) client.spent_in_turn = 0;
  client.turn = turn_;
  client.spent_in_turn += cost;
  spent_in_turn_ += cost;
}

}  // namespace spindled
