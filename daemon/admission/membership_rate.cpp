#include "daemon/admission/membership_rate.h"

#include <algorithm>

namespace spindled {

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
