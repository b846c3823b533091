#include "daemon/group/subscriptions.h"

#include <algorithm>

#include "daemon/base/broken.h"
#include "daemon/base/check.h"

namespace spindled {

void Subscriptions::join_all(const std::string& group, Entry& entry, std::vector<Step>& steps) {
  for (const SessionId session : entry.wanting) {
    steps.push_back({Step::Kind::join, group, session});
    ++entry.joins_on_their_way;
  }
  entry.wanting.clear();
}

std::vector<Subscriptions::Step> Subscriptions::want(const std::string& group, SessionId session, std::size_t members) {
  std::vector<Step> steps;
  const auto [at, added] = entries_.try_emplace(group);
  Entry& entry = at->second;
  if (added && members != 0) entry.state = State::subscribed;
  entry.wanting.push_back(session);
  if (added && members == 0) steps.push_back({Step::Kind::subscribe, group, 0});
  if (entry.state == State::subscribed || (added && broken(Broken::join_without_subscription)))
    join_all(group, entry, steps);
  return steps;
}

void Subscriptions::subscribed(const std::string& group, std::uint64_t position) {
  const auto at = entries_.find(group);
  if (at == entries_.end() || at->second.state != State::subscribing) return;
  at->second.state = State::waiting;
  at->second.position = position;
  waiting_.emplace_back(position, group);
}

std::vector<Subscriptions::Step> Subscriptions::horizon_advanced(std::uint64_t position) {
  std::vector<Step> steps;
  std::size_t passed = 0;
  for (; passed < waiting_.size() && waiting_[passed].first <= position; ++passed) {
    const std::string& group = waiting_[passed].second;
    Entry& entry = entries_.at(group);
    entry.state = State::subscribed;
    join_all(group, entry, steps);
    if (entry.joins_on_their_way == 0) {  // whoever wanted to join has gone meanwhile
      entry.state = State::unsubscribing;
      steps.push_back({Step::Kind::unsubscribe, group, 0});
    }
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(passed));
  return steps;
}

void Subscriptions::joined(const std::string& group, std::size_t members) {
  const auto at = entries_.find(group);
  if (at == entries_.end() || at->second.joins_on_their_way == 0) return;
  --at->second.joins_on_their_way;
  if (at->second.state == State::subscribed && at->second.joins_on_their_way == 0 && members != 0) entries_.erase(at);
}

std::vector<Subscriptions::Step> Subscriptions::left(const std::string& group, std::size_t members_left) {
  if (members_left != 0) return {};
  const auto [at, added] = entries_.try_emplace(group);
  if (!added && (at->second.state != State::subscribed || at->second.joins_on_their_way != 0)) return {};
  at->second.state = State::unsubscribing;
  return {{Step::Kind::unsubscribe, group, 0}};
}

std::vector<Subscriptions::Step> Subscriptions::unsubscribed(const std::string& group) {
  const auto at = entries_.find(group);
  if (at == entries_.end() || at->second.state != State::unsubscribing) return {};
  if (at->second.wanting.empty()) {
    entries_.erase(at);
    return {};
  }
  at->second.state = State::subscribing;
  return {{Step::Kind::subscribe, group, 0}};
}

bool Subscriptions::withdraw(const std::string& group, SessionId session) {
  if (std::erase(later_, std::pair(group, session)) != 0) return true;
  const auto at = entries_.find(group);
  return at != entries_.end() && std::erase(at->second.wanting, session) != 0;
}

void Subscriptions::forget(SessionId session) {
  for (auto& [group, entry] : entries_) std::erase(entry.wanting, session);
  std::erase_if(later_, [&](const auto& join) { return join.second == session; });
}

void Subscriptions::restart() {
  std::vector<std::pair<std::string, SessionId>> unfinished;
  for (const auto& [group, entry] : entries_) {
    for (const SessionId session : entry.wanting) unfinished.emplace_back(group, session);
  }
  later_.insert(later_.begin(), unfinished.begin(), unfinished.end());
  entries_.clear();
  waiting_.clear();
}

}  // namespace spindled
