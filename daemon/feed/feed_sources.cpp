#include "daemon/feed/feed_sources.h"

#include <algorithm>

#include "daemon/base/check.h"
#include "daemon/link/datagram_limits.h"

namespace spindled {

namespace {

/// Around the body of a frame that has a datagram of its own.
constexpr std::size_t kAroundFrame = kDatagramHeadBytes + DatagramCipher::kTagBytes + kDatagramFrameHeadBytes;
/// What a set may grow by when repairs go to a later view.
constexpr std::size_t kSetGrowth = 4;
/// In front of the set and the payload of a packet, at most.
constexpr std::size_t kPacketHeadMax = 2 + 2 + 5 + 4 + 1 + 1;
/// In one operation.
constexpr std::size_t kFeedsToldMax = 100;
/// A daemon that comes later than that has stood still: what lies there for it has waited.
constexpr Duration kLate = FeedPacer::kLate;

}  // namespace

FeedSource* FeedSources::find(FeedHandle feed) const {
  const auto found = sources_.find(feed);
  return found == sources_.end() ? nullptr : found->second.get();
}

FeedSource* FeedSources::find(SessionId session, FeedHandle feed) const {
  FeedSource* source = find(feed);
  return source != nullptr && source->owner().session == session && !source->is_closing() ? source : nullptr;
}

void FeedSources::wake(FeedHandle feed, Time at) {
  if (const auto before = wake_of_.find(feed); before != wake_of_.end()) {
    if (before->second == at) return;
    wakes_.erase({before->second, feed});
    wake_of_.erase(before);
  }
  if (at == kNever) return;
  wakes_.emplace(at, feed);
  wake_of_.emplace(feed, at);
}

FeedKey FeedSources::key_of(FeedHandle feed) const {
  const View& view = around_.groups.view();
  return {view.members[view.self], feed};
}

void FeedSources::originate(Time now, const FeedOperation& operation) {
  around_.groups.originate(now, number_of(operation), write_feed_operation(operation));
}

// --- From clients ---

Result<FeedHandle> FeedSources::open(Time now, FeedHandle handle, FeedSource::Owner owner, FeedTerms terms,
                                     const FeedRoutes& routes) {
  auto& feeds = by_session_[owner.session];
  const bool has_room = feeds.size() < kFeedsPerClient && sources_.size() < kFeedsMax && around_.repair.has_room() &&
                        !around_.directory.is_full();
  if (!has_room) {
    if (feeds.empty()) by_session_.erase(owner.session);
    return fail(Errc::too_many_feeds);
  }
  feeds.insert(handle);
  around_.repair.open(handle, terms.repair_for);
  FeedsOpened opened;
  opened.feeds.push_back({handle, terms.group, owner.client, terms.repair_for, 0});
  sources_.emplace(handle, std::make_unique<FeedSource>(handle, std::move(owner), std::move(terms),
                                                        context_.random.split(), tree_, context_.slabs));
  context_.counters.add(Counter::feeds_opened);
  FeedSource& source = *sources_.find(handle)->second;
  find_destinations(now, source, routes);
  clients_->give_room(source.owner().session, handle, source.take_room(payload_max(routes)));
  originate(now, opened);
  return handle;
}

std::optional<Errc> FeedSources::send(Time now, SessionId session, FeedHandle feed, ByteView message) {
  FeedSource* source = find(session, feed);
  if (source == nullptr) return Errc::unknown_feed;
  if (!source->has_room()) return Errc::flow_exceeded;
  source->add(now, message);
  touch(feed);
  return std::nullopt;
}

void FeedSources::close(SessionId session, FeedHandle feed) {
  FeedSource* source = find(session, feed);
  if (source == nullptr) return;
  source->close();
  touch(feed);
}

bool FeedSources::deny(SessionId session, FeedHandle feed) {
  FeedSource* source = find(feed);
  if (source == nullptr || source->owner().session != session) return false;
  const bool was_open = !source->is_closing();
  const bool had_something = source->drop();
  touch(feed);
  return was_open || had_something;
}

void FeedSources::close_session(SessionId session) {
  const auto feeds = by_session_.find(session);
  if (feeds == by_session_.end()) return;
  for (const FeedHandle each : feeds->second) {
    find(each)->abandon();
    touch(each);
  }
}

// --- The order, and views ---

void FeedSources::opened(FeedHandle feed) {
  FeedSource* source = find(feed);
  if (source == nullptr) return;
  source->begin();
  touch(feed);
}

void FeedSources::refused(Time now, FeedHandle feed) {
  FeedSource* source = find(feed);
  if (source == nullptr) return;
  const SessionId session = source->owner().session;
  if (!source->is_closing()) clients_->end({&session, 1}, feed, FeedEnd::lost);
  around_.repair.close(now, feed);
  remove(feed);
}

void FeedSources::view_began(Time now, const GroupTable::Renumbering& to, bool is_meeting) {
  is_settled_ = false;
  is_view_new_ = true;
  is_tree_old_ = true;
  for (const auto& [feed, source] : sources_) {
    FeedDestinations destinations = source->destinations();
    MemberSet members;
    destinations.members.for_each([&](MemberIndex each) {
      if (each < to.size() && to[each]) members.insert(*to[each]);
    });
    destinations.members = std::move(members);
    source->set_destinations(now, std::move(destinations), context_.config.feed.datagram_bytes,
                             context_.config.feed.rate_min);
    touch(feed);
  }
  if (is_meeting && around_.groups.is_open()) say_again(now);
}

void FeedSources::say_again(Time now) {
  FeedsOpened opened;
  const auto say = [&] {
    if (opened.feeds.empty()) return;
    const FeedOperation operation = std::exchange(opened, {});
    around_.groups.originate_at_once(now, number_of(operation), write_feed_operation(operation));
  };
  for (const auto& [feed, source] : sources_) {
    const OpenFeed* known = around_.directory.find(key_of(feed));
    if (known == nullptr) continue;  // it is closed
    // One of which nothing has left has not begun for those that come, either.
    opened.feeds.push_back(
        {feed, known->group, source->owner().client, known->repair_for, std::max<std::uint64_t>(source->packets(), 1)});
    if (opened.feeds.size() == kFeedsToldMax) say();
  }
  say();
}

void FeedSources::may_originate() {
  for (const auto& [feed, source] : sources_) {
    if (source->is_closing()) touch(feed);
  }
}

void FeedSources::set_destinations(Time now, FeedSource& source, MemberSet to, const FeedRoutes& routes) {
  FeedDestinations destinations;
  to.for_each(
      [&](MemberIndex each) { destinations.round_trip = std::max(destinations.round_trip, routes.round_trip(each)); });
  routes.split(to, [&](LinkId, const MemberSet&) { ++destinations.links; });
  destinations.members = std::move(to);
  source.set_destinations(now, std::move(destinations), context_.config.feed.datagram_bytes,
                          context_.config.feed.rate_min);
}

void FeedSources::find_destinations(Time now, FeedSource& source, const FeedRoutes& routes) {
  MemberSet to;
  if (const Group* group = around_.groups.table().find(source.terms().group)) to = group->subscribers;
  to.erase(routes.self());
  set_destinations(now, source, std::move(to), routes);
  touch(source.handle());
}

void FeedSources::find_destinations(Time now, const FeedRoutes& routes) {
  if (std::exchange(is_view_new_, false)) {
    for (const auto& [feed, source] : sources_) set_destinations(now, *source, source->destinations().members, routes);
  }
  const GroupTable& table = around_.groups.table();
  if (!is_settled_ || table.version() == version_) return;
  const std::uint64_t before = std::exchange(version_, table.version());
  for (const auto& [feed, source] : sources_) {
    if (table.has_changed_since(before, source->groups())) find_destinations(now, *source, routes);
  }
}

// --- The network ---

void FeedSources::lost(Time now, FeedHandle feed, const DaemonId& reporter, std::uint64_t first, const FeedNak& nak) {
  FeedSource* source = find(feed);
  if (source == nullptr) return;
  note_time(now);
  std::vector<std::uint64_t> sequences;
  nak.bits.for_each([&](std::size_t index) { sequences.push_back(first - FeedRepair::kSequenceBase + index); });
  if (std::exchange(is_tree_old_, false)) tree_.install(around_.groups.view());
  LossReport report;
  report.reporter = tree_.reporter(reporter);
  report.held = std::chrono::microseconds(nak.held_us);
  if (nak.way_us != FeedNak::kWayUnknown) report.mean_round_trip = std::chrono::microseconds(nak.way_us);
  report.is_first_try = nak.attempt == 1;
  report.late_by = late_by_;
  report.late_at = late_at_;
  report.heard = sequences.back() + 1;
  report.sequences = sequences;
  if (source->lost(now, report)) ++reductions_;
  touch(feed);
}

Time FeedSources::silent_until(FeedHandle feed) const {
  const FeedSource* source = find(feed);
  return source == nullptr ? Time{} : source->silent_until();
}

void FeedSources::repaired(FeedHandle feed, std::size_t bytes) {
  if (FeedSource* source = find(feed)) source->repaired(bytes);
}

void FeedSources::yielded(Time now, FeedHandle feed) {
  if (FeedSource* source = find(feed)) source->yielded(now);
}

// --- What leaves ---

std::size_t FeedSources::payload_max(const FeedRoutes& routes) const {
  const std::size_t set = 2 + (routes.size() + 7) / 8 + kSetGrowth;
  return std::min(kFeedPayloadMax, around_.links.feed_frame_bytes_max() - kPacketHeadMax - set);
}

void FeedSources::note_time(Time now) {
  if (now - kLate <= due_ || now == late_at_) return;
  late_by_ = now - due_;
  late_at_ = now;
}

void FeedSources::flush(Time now, const FeedRoutes& routes) {
  note_time(now);
  send_all(now, routes);
  due_ = sources_.empty() ? kNever : std::max(now, std::min(next_at(), around_.repair.next_at()));
}

void FeedSources::send_all(Time now, const FeedRoutes& routes) {
  find_destinations(now, routes);
  if (wakes_.empty() && touched_.empty() && drained_.empty()) return;
  while (!wakes_.empty() && wakes_.begin()->first <= now) {
    const FeedHandle feed = wakes_.begin()->second;
    touch(feed);
    wake(feed, kNever);
  }
  // Each in its turn, where there is more to do than one turn has room for.
  std::set<FeedHandle> touched = std::exchange(touched_, {});
  while (!touched.empty()) {
    if (context_.turn.is_over()) {
      touched_.merge(touched);
      break;
    }
    auto next = touched.upper_bound(looked_at_);
    if (next == touched.end()) next = touched.begin();
    looked_at_ = *next;
    touched.erase(next);
    look_at(now, looked_at_, routes);
  }
  end_drained(now);
}

void FeedSources::look_at(Time now, FeedHandle feed, const FeedRoutes& routes) {
  if (const auto over = over_at_.find(feed); over != over_at_.end()) {
    if (over->second <= now) {
      remove(feed);
    } else {
      wake(feed, over->second);
    }
  } else if (FeedSource* source = find(feed)) {
    send_waiting(now, *source, routes);
  }
}

void FeedSources::send_waiting(Time now, FeedSource& source, const FeedRoutes& routes) {
  const std::size_t room = payload_max(routes);
  source.advance(now);
  while (source.may_send(now)) {
    if (context_.turn.is_over()) return touch(source.handle());
    context_.turn.begin_step();
    send_packet(now, source, room);
  }
  if (source.is_drained()) {
    drained_.insert(source.handle());
    return wake(source.handle(), kNever);
  }
  tell(now, source, room);
  wake(source.handle(), source.next_at(now));
}

void FeedSources::send_packet(Time now, FeedSource& source, std::size_t payload_max) {
  const FragmentQueue::Fragment fragment = source.take(payload_max);
  const MemberSet& to = source.destinations().members;
  const std::size_t head = kPacketHeadMax + to.encoded_size();
  const std::uint64_t sequence =
      around_.repair.send(now, source.handle(), to, fragment.flags, fragment.payload) - FeedRepair::kSequenceBase;
  source.sent(now, sequence, fragment.message_bytes, kAroundFrame + head + fragment.payload.size());
  ++packets_;
  context_.turn.count(1);
  around_.listeners.deliver(key_of(source.handle()), sequence, fragment.flags, fragment.payload, true);
}

void FeedSources::tell(Time now, FeedSource& source, std::size_t payload_max) {
  const SessionId session = source.owner().session;
  if (const std::size_t room = source.take_room(payload_max)) clients_->give_room(session, source.handle(), room);
  if (const auto flow = source.take_flow(now)) clients_->tell_flow(session, source.handle(), *flow);
}

void FeedSources::end_drained(Time now) {
  if (drained_.empty() || !around_.groups.is_ready()) return;  // `may_originate` looks again
  FeedsClosed closed;
  for (const FeedHandle feed : std::exchange(drained_, {})) {
    const FeedSource* source = find(feed);
    if (source == nullptr) continue;
    closed.feeds.push_back({feed, source->packets()});
    around_.repair.close(now, feed);
    const Time over_at = now + std::max<Duration>(source->terms().repair_for, 2 * Beats::kLast);
    over_at_.emplace(feed, over_at);
    wake(feed, over_at);
    if (closed.feeds.size() < kFeedsToldMax) continue;
    originate(now, std::exchange(closed, {}));
  }
  if (!closed.feeds.empty()) originate(now, closed);
}

void FeedSources::remove(FeedHandle feed) {
  const SessionId session = find(feed)->owner().session;
  const auto feeds = by_session_.find(session);
  feeds->second.erase(feed);
  if (feeds->second.empty()) by_session_.erase(feeds);
  wake(feed, kNever);
  over_at_.erase(feed);
  drained_.erase(feed);
  sources_.erase(feed);
}

std::size_t FeedSources::waiting_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [feed, source] : sources_) bytes += source->waiting_bytes();
  return bytes;
}

std::size_t FeedSources::heap_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [feed, source] : sources_) bytes += source->heap_bytes();
  return bytes;
}

std::size_t FeedSources::slab_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [feed, source] : sources_) bytes += source->slab_bytes();
  return bytes;
}

}  // namespace spindled
