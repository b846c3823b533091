#include "daemon/feed/feed_listeners.h"

#include <algorithm>

namespace spindled {

namespace {
/// What a client costs that listens to a group, beside the name.
constexpr std::size_t kListeningBytes = 200;
/// Of packets that are lost before their feeds are open, of all feeds.
constexpr std::size_t kEarlyLostRunsMax = 4'096;
/// Groups with feeds that nobody here listens to are passed over in the time that is one unit of a turn's work.
constexpr int kGroupsPassedAtOnce = 16;
}  // namespace

// --- What clients ask ---

std::optional<Errc> FeedListeners::listen(SessionId session, std::string_view group) {
  if (is_listening(session, group)) return std::nullopt;
  if (context_.memory.is_full()) return Errc::limit_exceeded;
  auto& groups = groups_of_[session];
  if (groups.size() >= kGroupsPerClient) return Errc::too_many_memberships;
  groups.emplace(group);
  listening_bytes_ += kListeningBytes + group.size();
  ++requests_;
  listening_[std::string(group)].insert(session);
  if (!may_tell()) return std::nullopt;
  const Group* known = groups_.table().find(group);
  if (known != nullptr && is_member(*known, session)) describe_all(group, session);
  return std::nullopt;
}

void FeedListeners::stop_listening(SessionId session, std::string_view group) {
  const auto groups = groups_of_.find(session);
  if (groups == groups_of_.end()) return;
  const auto found = groups->second.find(group);
  if (found == groups->second.end()) return;
  forget(group, session);
  ++requests_;
  const auto listening = listening_.find(group);
  listening->second.erase(session);
  if (listening->second.empty()) listening_.erase(listening);
  groups->second.erase(found);
  listening_bytes_ -= kListeningBytes + group.size();
  if (groups->second.empty()) groups_of_.erase(groups);
}

void FeedListeners::close_session(SessionId session) {
  const auto groups = groups_of_.find(session);
  if (groups == groups_of_.end()) return;
  const std::set<std::string, std::less<>> names = groups->second;
  for (const std::string& each : names) {
    context_.turn.begin_step();
    context_.turn.count(1);
    stop_listening(session, each);
  }
}

bool FeedListeners::is_listening(SessionId session, std::string_view group) const {
  const auto found = listening_.find(group);
  return found != listening_.end() && found->second.contains(session);
}

// --- Members ---

bool FeedListeners::is_member(const Group& group, SessionId session) const {
  if (!groups_.table().is_member(group, groups_.view().self, session)) return false;
  if (!group.is_synchronous()) return true;
  std::vector<SessionId> told;
  groups_.add_told_members(group, told);
  return std::find(told.begin(), told.end(), session) != told.end();
}

void FeedListeners::member_came(const Group& group, SessionId session) {
  if (is_settled_ && is_listening(session, group.name)) describe_all(group.name, session);
}

void FeedListeners::member_left(const Group& group, SessionId session) { forget(group.name, session); }

void FeedListeners::describe_all(std::string_view group, SessionId to) {
  directory_.for_each_of(group, [&](const OpenFeed& feed) { describe(feed, {&to, 1}, kWithNext); });
}

void FeedListeners::forget(std::string_view group, SessionId session) {
  directory_.for_each_of(group, [&](const OpenFeed& feed) {
    const auto told = told_.find(feed.key);
    if (told == told_.end()) return;
    const auto listener = std::lower_bound(told->second.begin(), told->second.end(), session,
                                           [](const Listener& each, SessionId id) { return each.session < id; });
    if (listener == told->second.end() || listener->session != session) return;
    told->second.erase(listener);
    --size_;
    if (told->second.empty()) told_.erase(told);
    context_.turn.count(1);
    clients_->end({&session, 1}, feed.handle, FeedEnd::left);
  });
}

void FeedListeners::settle(Time now) {
  groups_.do_in_steps(now, [this, at = Settling()](Time) mutable { return settle_next(at); });
}

/// One feed, or some groups that nobody listens to. Whether nothing is left.
bool FeedListeners::settle_next(Settling& at) {
  is_settled_ = true;
  context_.turn.count(1);
  const OpenFeed* feed = at.group ? find_next(*at.group, at.feed) : nullptr;
  for (int passed = 0; feed == nullptr; ++passed) {
    if (passed == kGroupsPassedAtOnce) return false;
    const std::string* group = listening_.empty() ? nullptr : directory_.group_behind(at.group);
    if (group == nullptr) return true;
    at.group = *group;
    at.feed.reset();
    feed = find_next(*group, at.feed);
  }
  // Clients may have asked for something else since the last step.
  if (!at.feed || at.requests != requests_) {
    at.due = find_due(feed->group);
    at.requests = requests_;
    context_.turn.count(at.due.size());
  }
  at.feed = feed->key;
  settle(*feed, at.due);
  return false;
}

/// Of the feeds of a group; null: none comes behind that one, or nobody here listens to them.
const OpenFeed* FeedListeners::find_next(std::string_view group, const std::optional<FeedKey>& feed) const {
  return listening_.contains(group) ? directory_.find_behind(group, feed) : nullptr;
}

std::vector<SessionId> FeedListeners::find_due(std::string_view group) const {
  std::vector<SessionId> due;
  const auto listening = listening_.find(group);
  const Group* known = listening == listening_.end() ? nullptr : groups_.table().find(group);
  if (known == nullptr) return due;
  groups_.add_told_members(*known, due);
  std::erase_if(due, [&](SessionId each) { return !listening->second.contains(each); });
  std::sort(due.begin(), due.end());
  return due;
}

void FeedListeners::settle(const OpenFeed& feed, std::span<const SessionId> due) {
  context_.turn.count(due.size());
  to_.clear();
  newcomers_.clear();
  auto next = due.begin();
  if (const auto told = told_.find(feed.key); told != told_.end()) {
    context_.turn.count(told->second.size());
    std::erase_if(told->second, [&](const Listener& each) {
      while (next != due.end() && *next < each.session) newcomers_.push_back(*next++);
      const bool stays = next != due.end() && *next == each.session;
      if (stays) {
        ++next;
      } else {
        to_.push_back(each.session);
      }
      return !stays;
    });
    size_ -= to_.size();
    if (told->second.empty()) told_.erase(told);
  }
  newcomers_.insert(newcomers_.end(), next, due.end());
  if (!to_.empty()) clients_->end(to_, feed.handle, FeedEnd::left);
  describe(feed, newcomers_, kWithNext);
}

// --- Feeds ---

void FeedListeners::describe(const OpenFeed& feed, std::span<const SessionId> to, std::uint64_t from) {
  if (to.empty()) return;
  std::vector<Listener>& told = told_[feed.key];
  const auto before = static_cast<std::ptrdiff_t>(told.size());
  for (const SessionId each : to) told.push_back({each, from});
  const auto by_session = [](const Listener& a, const Listener& b) { return a.session < b.session; };
  std::inplace_merge(told.begin(), told.begin() + before, told.end(), by_session);
  size_ += to.size();
  context_.turn.count(to.size());
  clients_->describe(to, {feed.handle, feed.group, feed.source, feed.repair_for, from == 0});
}

void FeedListeners::opened(const OpenFeed& feed, bool is_new) {
  if (may_tell()) {
    const std::vector<SessionId> due = find_due(feed.group);
    context_.turn.count(due.size());
    describe(feed, due, is_new ? 0 : kWithNext);
  }
  deliver_early(feed);
}

void FeedListeners::ended(const OpenFeed& feed, FeedEnd why) {
  const auto told = told_.find(feed.key);
  if (told == told_.end()) return;
  to_.clear();
  for (const Listener& each : told->second) to_.push_back(each.session);
  size_ -= told->second.size();
  told_.erase(told);
  context_.turn.begin_step();
  context_.turn.count(to_.size());
  clients_->end(to_, feed.handle, why);
}

// --- Packets ---

void FeedListeners::deliver(const FeedKey& key, std::uint64_t sequence, std::uint8_t flags, ByteView payload,
                            bool is_newest) {
  const auto told = told_.find(key);
  const OpenFeed* feed = directory_.find(key);
  if (feed == nullptr) return hold(key, sequence, flags, payload);
  if (told != told_.end()) deliver(told->second, *feed, sequence, flags, payload, is_newest);
}

void FeedListeners::deliver(std::vector<Listener>& listeners, const OpenFeed& feed, std::uint64_t sequence,
                            std::uint8_t flags, ByteView payload, bool is_newest) {
  to_.clear();
  for (Listener& each : listeners) {
    if (each.from == kWithNext && is_newest) each.from = sequence;
    if (each.from <= sequence) to_.push_back(each.session);
  }
  if (to_.empty()) return;
  context_.turn.count(to_.size());
  context_.counters.add(Counter::feed_packets_delivered, to_.size());
  constexpr std::uint8_t kTold = FeedPacket::kFirst | FeedPacket::kLast | FeedPacket::kBundle;
  clients_->deliver(to_, feed.handle, sequence, static_cast<std::uint8_t>(flags & kTold), payload);
}

void FeedListeners::lost(const FeedKey& key, std::uint64_t first, std::uint64_t count) {
  const OpenFeed* feed = directory_.find(key);
  if (feed == nullptr) return hold_lost(key, first, count);
  lose(*feed, first, count);
}

void FeedListeners::lose(const OpenFeed& feed, std::uint64_t first, std::uint64_t count) {
  const auto told = told_.find(feed.key);
  if (told == told_.end()) return;
  const std::uint64_t end = first + count;
  to_.clear();
  for (const Listener& each : told->second) {
    if (each.from <= first) {
      to_.push_back(each.session);
    } else if (each.from != kWithNext && each.from < end) {
      clients_->lose({&each.session, 1}, feed.handle, each.from, end - each.from);
    }
  }
  context_.turn.count(to_.size());
  if (!to_.empty()) clients_->lose(to_, feed.handle, first, count);
}

void FeedListeners::hold(const FeedKey& feed, std::uint64_t sequence, std::uint8_t flags, ByteView payload) {
  early_.push_back({feed, sequence, flags, {payload.begin(), payload.end()}});
  early_bytes_ += sizeof(Early) + payload.size();
  while (early_bytes_ > kEarlyBytesMax) {
    const Early& oldest = early_.front();
    early_bytes_ -= sizeof(Early) + oldest.payload.size();
    hold_lost(oldest.feed, oldest.sequence, 1);
    early_.pop_front();
  }
}

void FeedListeners::hold_lost(const FeedKey& feed, std::uint64_t first, std::uint64_t count) {
  std::uint64_t end = first + count;
  auto& runs = early_lost_[feed];
  auto next = runs.lower_bound(first);
  if (next != runs.begin() && std::prev(next)->second >= first) {
    --next;
    first = next->first;
  }
  while (next != runs.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = runs.erase(next);
    --early_lost_runs_;
  }
  runs.emplace_hint(next, first, end);
  ++early_lost_runs_;
  while (early_lost_runs_ > kEarlyLostRunsMax) {
    // Of the feed that has the most: it may never be open.
    const auto most = std::max_element(early_lost_.begin(), early_lost_.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    early_lost_runs_ -= most->second.size();
    early_lost_.erase(most);
  }
}

void FeedListeners::deliver_early(const OpenFeed& feed) {
  if (!early_.empty()) {
    const auto told = told_.find(feed.key);
    std::erase_if(early_, [&](const Early& each) {
      if (each.feed != feed.key) return false;
      early_bytes_ -= sizeof(Early) + each.payload.size();
      context_.turn.begin_step();
      if (told != told_.end()) deliver(told->second, feed, each.sequence, each.flags, each.payload, true);
      return true;
    });
  }
  const auto missed = early_lost_.extract(feed.key);
  if (missed.empty()) return;
  early_lost_runs_ -= missed.mapped().size();
  for (const auto& [first, end] : missed.mapped()) lose(feed, first, end - first);
}

}  // namespace spindled
