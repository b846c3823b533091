#include "daemon/group/subscriptions.h"

#include "daemon/base/check.h"

namespace spindled {

Subscriptions::Step Subscriptions::want(const std::string& group, SessionId session, std::size_t members) {
  const auto [at, added] = entries_.try_emplace(group);
  Entry& entry = at->second;
  if (added && members != 0) entry.state = State::subscribed;
  ++entry.wanted;
  if (entry.state != State::subscribed) entry.sessions.push_back(session);
  return added && members == 0 ? Step::subscribe : Step::none;
}

bool Subscriptions::start_join(const std::string& group) {
  Entry& entry = entries_.at(group);
  SPINDLE_CHECK(entry.wanted != 0);
  if (entry.state != State::subscribed) return false;
  --entry.wanted;
  ++entry.on_their_way;
  return true;
}

Subscriptions::Step Subscriptions::withdraw(const std::string& group, std::size_t members) {
  const auto at = entries_.find(group);
  if (at == entries_.end()) return Step::none;  // a new view has begun, and its group table is not there yet
  --at->second.wanted;
  if (at->second.state != State::subscribed || at->second.is_needed()) return Step::none;
  if (members == 0) return left(group, 0);
  entries_.erase(at);
  return Step::none;
}

void Subscriptions::subscribed(const std::string& group, std::uint64_t position) {
  const auto at = entries_.find(group);
  if (at == entries_.end() || at->second.state != State::subscribing) return;
  at->second.state = State::waiting;
  at->second.position = position;
  waiting_.push_back({position, group});
}

Subscriptions::Reached Subscriptions::pass_horizon() {
  Reached reached;
  reached.group = waiting_.pop_front().second;
  Entry& entry = entries_.at(reached.group);
  entry.state = State::subscribed;
  reached.sessions = std::exchange(entry.sessions, {});
  if (!entry.is_needed()) {
    entry.state = State::unsubscribing;
    reached.step = Step::unsubscribe;
  }
  return reached;
}

void Subscriptions::joined(const std::string& group, std::size_t members) {
  const auto at = entries_.find(group);
  if (at == entries_.end() || at->second.on_their_way == 0) return;
  --at->second.on_their_way;
  if (at->second.state == State::subscribed && !at->second.is_needed() && members != 0) entries_.erase(at);
}

Subscriptions::Step Subscriptions::left(const std::string& group, std::size_t members_left) {
  if (members_left != 0) return Step::none;
  const auto [at, added] = entries_.try_emplace(group);
  if (!added && (at->second.state != State::subscribed || at->second.is_needed())) return Step::none;
  at->second.state = State::unsubscribing;
  return Step::unsubscribe;
}

Subscriptions::Step Subscriptions::unsubscribed(const std::string& group) {
  const auto at = entries_.find(group);
  if (at == entries_.end() || at->second.state != State::unsubscribing) return Step::none;
  if (at->second.wanted == 0) {
    entries_.erase(at);
    return Step::none;
  }
  at->second.state = State::subscribing;
  return Step::subscribe;
}

void Subscriptions::restart() {
  entries_.clear();
  waiting_.clear();
}

}  // namespace spindled
