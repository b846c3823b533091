#include "daemon/feed/feed_repair.h"

#include <algorithm>
#include <utility>

#include "daemon/base/check.h"

namespace spindled {

namespace {
/// Packets of a new feed that may come before its first one does, and before its opening.
constexpr std::uint64_t kOvertakenMax = 64;
/// How often it is looked at, while there are beats, whether the index of a feed's packets has become too large.
constexpr Duration kFitInterval = 10s;
/// What a gap takes, and what is known of a feed that was described, about.
constexpr std::size_t kGapBytes = 96;
constexpr std::size_t kDescribedBytes = 160;
}  // namespace

FeedRepair::FeedRepair(const RepairConfig& config, RepairOutput& output)
    : config_(config),
      output_(output),
      cache_(config.cache_bytes),
      links_(config.datagram_bytes),
      sender_(output, links_, tally_),
      rules_(config_, output, cache_, sender_, tally_) {}

// --- Around it ---

void FeedRepair::install(Time now, FeedRoutes routes, Time since) {
  former_ = std::exchange(installed_, std::move(routes));
  former_until_ = since + kFormerViewFor;
  std::map<DaemonId, MemberIndex> indices;
  for (std::size_t i = 0; i < installed_.size(); ++i) {
    indices.emplace(installed_.member(static_cast<MemberIndex>(i)), static_cast<MemberIndex>(i));
  }
  new_indices_.assign(former_.size(), std::nullopt);
  for (std::size_t i = 0; i < former_.size(); ++i) {
    const auto index = indices.find(former_.member(static_cast<MemberIndex>(i)));
    if (index != indices.end()) new_indices_[i] = index->second;
  }
  const auto leave = [&](Feed& feed) {
    feed.gaps.give_up(now, 0, UINT64_MAX, GivenUp::source_lost);
    look_after(now, feed);
  };
  const auto stay = [&](Feed& feed) {
    feed.to.clear();  // the routes are others, too
    address(feed, in_installed_view(feed.members));
  };
  table_.install(installed_, leave, stay);
}

MemberSet FeedRepair::in_installed_view(const MemberSet& former) const {
  MemberSet members;
  former.for_each([&](MemberIndex member) {
    if (new_indices_[member]) members.insert(*new_indices_[member]);
  });
  return members;
}

void FeedRepair::link_down(LinkId link) {
  installed_.remove(link);
  former_.remove(link);
  links_.forget(link);
  table_.for_each([&](Feed& feed) { branch(feed); });
}

FeedRepair::Named FeedRepair::find_view(Time now, std::uint16_t tag) const {
  if (tag == installed_.tag() && installed_.size() != 0) return {&installed_, FeedTable::View::installed};
  if (tag == former_.tag() && former_.size() != 0 && now < former_until_) return {&former_, FeedTable::View::former};
  return {};
}

Feed* FeedRepair::begin(Time now, MemberIndex origin, std::uint32_t number, std::uint64_t first, Duration quiet) {
  const auto known = described_.find({installed_.member(origin), number});
  if (known != described_.end() && known->second.next) {
    first = *known->second.next;  // what was lost while nothing came is missing, and what is older comes too late
  } else if (known == described_.end() && first <= kSequenceBase + kOvertakenMax) {
    // It may be new. What overtakes its opening may have overtaken its first packets, too.
    first = kSequenceBase;
  }
  Feed* feed = table_.add({installed_.member(origin), number}, origin, first, now + quiet);
  if (feed == nullptr) {
    ++tally_.feeds_refused;
    return nullptr;
  }
  feed->heard_at = now;
  if (known != described_.end()) feed->gaps.settings().repair_for = known->second.repair_for;
  feed->gaps.settings().later_packets = config_.later_packets;
  feed->gaps.set_asking(config_.cache == FeedCache::all);
  if (const Duration to_origin = installed_.round_trip(origin); to_origin != Duration::zero()) {
    // Where relays keep nothing, a repair may come from farther away than the origin is.
    const bool upstream_keeps = config_.cache == FeedCache::all;
    feed->gaps.near().expect(2 * to_origin, upstream_keeps ? Duration::zero() : 2 * to_origin);
    feed->gaps.far().expect(2 * to_origin, 2 * to_origin);
  }
  table_.wake(*feed, now + kFeedSilence);
  return feed;
}

Feed* FeedRepair::begin(Time now, const FeedKey& key, std::uint64_t first) {
  for (std::size_t i = 0; i < installed_.size(); ++i) {
    const auto origin = static_cast<MemberIndex>(i);
    if (installed_.member(origin) != key.origin) continue;
    Feed* feed = begin(now, origin, key.number, first, {});
    // What is lost of it is missing here, also where nothing but repairs comes.
    if (feed != nullptr) address(*feed, MemberSet::of(installed_.self()));
    return feed;
  }
  return nullptr;
}

/// A packet or beat was addressed to these members of the named view.
void FeedRepair::address(Feed& feed, const Named& named, const MemberSet& to) {
  if (named.is_installed()) {
    address(feed, to);
  } else if (feed.members.empty()) {
    address(feed, in_installed_view(to));
  }
}

void FeedRepair::address(Feed& feed, const MemberSet& to) {
  if (to == feed.members && !feed.to.empty()) return;
  const EncodedSet encoded(to);
  feed.to.assign(encoded.view().begin(), encoded.view().end());
  feed.members = to;
  feed.is_member = !feed.own && (feed.members.contains(installed_.self()) || output_.has_listeners(feed.key));
  const bool asks = !feed.own && (config_.cache == FeedCache::all || feed.is_member);
  if (asks != feed.gaps.asks()) feed.gaps.set_asking(asks);
  branch(feed);
}

void FeedRepair::branch(Feed& feed) {
  feed.branches.clear();
  feed.candidates.clear();
  const std::optional<LinkId> upstream = installed_.link_to(feed.origin);
  installed_.split(feed.members, [&](LinkId link, const MemberSet& part) {
    if (link == upstream) return;
    const EncodedSet encoded(part);
    feed.branches.push_back({link, {encoded.view().begin(), encoded.view().end()}});
    feed.candidates.push_back({link, nearest_replier(link, part)});
  });
}

/// How far it is to who may have packets: the neighbour where all keep them, otherwise the nearest with listeners.
Duration FeedRepair::nearest_replier(LinkId link, const MemberSet& members) const {
  if (config_.cache == FeedCache::all) return installed_.round_trip(link);
  Duration nearest = Duration::max();
  members.for_each([&](MemberIndex member) { nearest = std::min(nearest, installed_.round_trip(member)); });
  return nearest;
}

// --- Feeds of this daemon's own ---

void FeedRepair::open(std::uint32_t number, Duration repair_for, std::uint32_t first) {
  const MemberIndex self = installed_.self();
  Feed* feed = table_.add({installed_.member(self), number}, self, kSequenceBase + first, Time{});
  SPINDLE_CHECK(feed != nullptr);
  feed->own.emplace();
  feed->own->oldest = kSequenceBase + first;
  feed->gaps.settings().repair_for = repair_for;
  feed->gaps.set_asking(false);
}

std::uint64_t FeedRepair::send(Time now, std::uint32_t number, const MemberSet& to, std::uint8_t flags,
                               ByteView payload) {
  Feed* feed = table_.find(FeedTable::View::installed, installed_.self(), number);
  SPINDLE_CHECK(feed != nullptr && feed->own->forgotten_at == kNever);
  address(*feed, to);
  const std::uint64_t sequence = feed->gaps.highest() + 1;
  const FeedPacket packet{
      {installed_.tag(), installed_.self(), number}, static_cast<std::uint32_t>(sequence), flags, 0, feed->to, payload};
  feed->gaps.packet(now, sequence, false);
  if (!to.empty()) cache_.put(feed->cached, sequence, {packet.ref.view, flags, packet.to, payload, now});
  forward(*feed, packet);
  feed->replier.packets_sent(1);
  feed->own->beats.sent(now);
  table_.wake(*feed, feed->own->beats.next_at());
  return sequence;
}

void FeedRepair::close(Time now, std::uint32_t number) {
  Feed* feed = table_.find(FeedTable::View::installed, installed_.self(), number);
  SPINDLE_CHECK(feed != nullptr);
  feed->own->forgotten_at = now + std::max<Duration>(feed->gaps.settings().repair_for, 2 * Beats::kLast);
  table_.wake(*feed, feed->own->forgotten_at);
}

/// Only the tail is to be shown, and only to those that were sent something.
void FeedRepair::beat(Time now, Feed& feed) {
  feed.own->beats.beaten(now, feed.gaps.settings().repair_for);
  fit(now, feed);
  if (feed.members.empty()) return;
  const std::uint64_t highest = feed.gaps.highest();
  // Of what was sent while nobody elsewhere listened nothing is kept, and that may be the work of days.
  std::uint64_t& oldest = feed.own->oldest;
  oldest = std::max(oldest, highest + 1 - PacketCache::kPlacesMax);
  while (oldest <= highest && !cache_.find(feed.cached, oldest)) ++oldest;
  FeedBeat beat{{installed_.tag(), feed.origin, feed.key.number},
                0,
                feed.members,
                static_cast<std::uint32_t>(highest),
                static_cast<std::uint32_t>(oldest)};
  sender_.send(installed_, std::move(beat), std::nullopt);
}

// --- Packets ---

void FeedRepair::describe(Time now, const FeedKey& key, Duration repair_for, std::optional<std::uint32_t> first) {
  described_[key].repair_for = repair_for;
  Feed* feed = table_.find(key);
  if (feed == nullptr && first) feed = begin(now, key, kSequenceBase + *first);
  if (feed != nullptr) feed->gaps.settings().repair_for = repair_for;
}

void FeedRepair::finish(Time now, const FeedKey& key, std::uint32_t end) {
  Feed* feed = table_.find(key);
  if (feed == nullptr) feed = begin_again(now, key, end);
  if (feed == nullptr || feed->own) return;
  feed->gaps.beat(now, feed->gaps.expand(end - 1));
  look_after(now, *feed);
}

/// One that was forgotten, as nothing had come for long, where members here lack something that is before `end`.
Feed* FeedRepair::begin_again(Time now, const FeedKey& key, std::uint32_t end) {
  const auto known = described_.find(key);
  if (known == described_.end() || !known->second.next) return nullptr;
  const std::uint64_t next = *known->second.next;
  const auto missing = static_cast<std::int32_t>(end - static_cast<std::uint32_t>(next));
  if (missing <= 0) return nullptr;
  Feed* feed = begin(now, key, next);
  if (feed == nullptr) {
    const Gaps::Lost lost{next, static_cast<std::uint64_t>(missing), GivenUp::too_many};
    count_lost(lost);
    output_.lost(key, lost.first, lost.count);
  } else if (const std::optional<LinkId> upstream = installed_.link_to(feed->origin)) {
    hear(now, *feed, installed_, *upstream);
  }
  return feed;
}

void FeedRepair::leave(const FeedKey& key) {
  if (const auto known = described_.find(key); known != described_.end()) known->second.next.reset();
  if (Feed* feed = table_.find(key)) feed->is_left = !feed->own;
}

void FeedRepair::rejoin(const FeedKey& key) {
  Feed* feed = table_.find(key);
  if (feed != nullptr && std::exchange(feed->is_left, false)) feed->gaps.begin_with_next();
}

bool FeedRepair::is_whole(const FeedKey& key, std::uint32_t end) const {
  const Feed* feed = table_.find(key);
  if (feed == nullptr) return true;
  return feed->gaps.highest() >= feed->gaps.expand(end - 1) && feed->gaps.open() == 0;
}

std::optional<FeedRepair::State> FeedRepair::state_of(const FeedKey& key) const {
  const Feed* feed = table_.find(key);
  if (feed == nullptr) return std::nullopt;
  State state;
  state.next = feed->gaps.highest() + 1 - kSequenceBase;
  state.missing = feed->gaps.open();
  if (!feed->own) state.upstream = installed_.link_to(feed->origin);
  state.branches = feed->branches.size();
  return state;
}

FeedRepair::Result FeedRepair::handle(Time now, LinkId from, const FeedPacket& packet) {
  const Named named = find_view(now, packet.ref.view);
  if (named.routes == nullptr) return Result::unknown_view;
  if (packet.ref.origin >= named.routes->size()) return Result::malformed;
  if (packet.is_repair()) return handle_repair(now, from, named, packet);
  if (named.routes->link_to(packet.ref.origin) != from) {
    ++tally_.misrouted;
    return Result::handled;
  }
  return handle_original(now, from, named, packet);
}

FeedRepair::Result FeedRepair::handle_original(Time now, LinkId from, const Named& named, const FeedPacket& packet) {
  ++tally_.packets_in;
  links_.at(from).budget.fed(packet_size(packet));
  Feed* feed = table_.find(named.view, packet.ref.origin, packet.ref.feed);
  const bool is_as_before = feed != nullptr && named.is_installed() &&
                            std::equal(packet.to.begin(), packet.to.end(), feed->to.begin(), feed->to.end());
  MemberSet to;
  if (!is_as_before) {
    to = read_to(packet);
    if (!named.routes->is_valid(to)) return Result::malformed;
  }
  if (feed == nullptr && named.is_installed()) {
    feed = begin(now, packet.ref.origin, packet.ref.feed, kSequenceBase + packet.sequence,
                 installed_.round_trip(packet.ref.origin));
  }
  if (feed == nullptr) {
    sender_.send_packet(*named.routes, packet, to, from);
    return Result::handled;
  }
  if (!is_as_before) address(*feed, named, to);
  const bool is_for_here = named.is_installed() ? feed->is_member : to.contains(named.routes->self());
  hear(now, *feed, *named.routes, from);
  const std::uint64_t sequence = feed->gaps.expand(packet.sequence);
  if (take(now, *feed, is_for_here, sequence, packet) == Gaps::Arrival::duplicate) {
    ++tally_.duplicates;
    return Result::handled;
  }
  FeedPacket onward = packet;
  if (feed->gaps.asks()) onward.missing = feed->gaps.open_before(sequence);
  if (named.is_installed()) {
    forward(*feed, onward);
  } else {
    sender_.send_packet(*named.routes, onward, to, from);
  }
  feed->replier.packets_sent(1);
  if (packet.missing != 0) feed->gaps.lack_too(now, sequence, packet.missing);
  look_after(now, *feed);
  return Result::handled;
}

Gaps::Arrival FeedRepair::take(Time now, Feed& feed, bool is_for_here, std::uint64_t sequence,
                               const FeedPacket& packet) {
  const Gaps::Arrival arrival = feed.gaps.packet(now, sequence, packet.is_repair());
  if (arrival == Gaps::Arrival::duplicate) return arrival;
  if (feed.keeps_packets()) {
    cache_.put(feed.cached, sequence, {packet.ref.view, packet.flags, packet.to, packet.payload, now});
  }
  if (!is_for_here) return arrival;
  if (arrival == Gaps::Arrival::late) {
    ++tally_.late;
  } else {
    output_.deliver(feed.key, sequence, packet);
  }
  return arrival;
}

/// To those that the last packet of the installed view was addressed to.
void FeedRepair::forward(const Feed& feed, const FeedPacket& packet) {
  FeedPacket copy = packet;
  for (const FeedBranch& each : feed.branches) {
    copy.to = each.to;
    links_.at(each.link).budget.fed(packet_size(copy));
    output_.send(each.link, copy);
  }
}

FeedRepair::Result FeedRepair::handle_repair(Time now, LinkId from, const Named& named, const FeedPacket& packet) {
  MemberSet to = read_to(packet);
  if (!named.routes->is_valid(to)) return Result::malformed;
  const bool is_named = to.contains(named.routes->self());
  if (Feed* feed = table_.find(named.view, packet.ref.origin, packet.ref.feed); feed != nullptr && !feed->own) {
    ++tally_.repairs_in;
    // What others have asked for may be missing here, too.
    const bool is_for_here = is_named || (named.is_installed() && feed->is_member);
    if (named.routes->link_to(packet.ref.origin) == from) ++tally_.upstream_repairs;
    const std::uint64_t sequence = feed->gaps.expand(packet.sequence);
    const Gaps::Arrival arrival = take(now, *feed, is_for_here, sequence, packet);
    if (arrival == Gaps::Arrival::duplicate) {
      if (is_named) ++tally_.needless;
    } else {
      feed->recent.received(now, sequence, to);
    }
    look_after(now, *feed);
  }
  to.erase(named.routes->self());
  sender_.send_repair(now, *named.routes, packet, to, from);
  return Result::handled;
}

// --- Requests, and what there is to be had ---

FeedRepair::Result FeedRepair::handle(Time now, LinkId from, FeedNak&& nak) {
  const Named named = find_view(now, nak.ref.view);
  if (named.routes == nullptr) return Result::unknown_view;
  const std::size_t members = named.routes->size();
  if (nak.ref.origin >= members || nak.reporter >= members) return Result::malformed;
  if (!nak.affected.empty() && !named.routes->is_valid(nak.affected)) return Result::malformed;
  if (!links_.at(from).naks.take(now, nak.bits.count())) {
    ++tally_.naks_refused;
    return Result::handled;
  }
  // A replier below that has passed it on is on the way as well: what the source measures goes there and back, too.
  if (!nak.is_down()) nak.way_us = links_.way_with(nak.way_us, from);
  Feed* feed = table_.find(named.view, nak.ref.origin, nak.ref.feed);
  rules_.handle(now, *named.routes, named.is_installed(), from, feed, nak);
  if (feed != nullptr && feed->served.next_at() != kNever) table_.wake(*feed, feed->served.next_at());
  return Result::handled;
}

FeedRepair::Result FeedRepair::handle(Time now, LinkId from, const FeedGone& gone) {
  const Named named = find_view(now, gone.ref.view);
  if (named.routes == nullptr) return Result::unknown_view;
  if (gone.ref.origin >= named.routes->size() || !named.routes->is_valid(gone.to)) return Result::malformed;
  Feed* feed = table_.find(named.view, gone.ref.origin, gone.ref.feed);
  const bool is_from_upstream = named.routes->link_to(gone.ref.origin) == from;
  if (feed != nullptr && (is_from_upstream || gone.to.contains(named.routes->self()))) {
    feed->gaps.give_up(now, feed->gaps.expand(gone.first), feed->gaps.expand(gone.last), GivenUp::gone);
    look_after(now, *feed);
  }
  sender_.send(*named.routes, gone, from);
  return Result::handled;
}

FeedRepair::Result FeedRepair::handle(Time now, LinkId from, const FeedBeat& beat) {
  const Named named = find_view(now, beat.ref.view);
  if (named.routes == nullptr) return Result::unknown_view;
  if (beat.ref.origin >= named.routes->size() || !named.routes->is_valid(beat.to)) return Result::malformed;
  if (named.routes->link_to(beat.ref.origin) != from) {
    ++tally_.misrouted;
    return Result::handled;
  }
  Feed* feed = table_.find(named.view, beat.ref.origin, beat.ref.feed);
  if (feed == nullptr && named.is_installed()) {
    feed = begin(now, beat.ref.origin, beat.ref.feed, kSequenceBase + beat.highest + 1,
                 installed_.round_trip(beat.ref.origin));
  }
  FeedBeat onward = beat;
  if (feed != nullptr) {
    hear(now, *feed, *named.routes, from);
    fit(now, *feed);
    address(*feed, named, beat.to);
    const std::uint64_t highest = feed->gaps.expand(beat.highest);
    feed->gaps.beat(now, highest);
    feed->gaps.give_up(now, 0, feed->gaps.expand(beat.oldest) - 1, GivenUp::gone);
    if (beat.missing != 0) feed->gaps.lack_too(now, highest + 1, beat.missing);
    if (feed->gaps.asks()) onward.missing = feed->gaps.open_before(highest + 1);
    look_after(now, *feed);
  }
  sender_.send(*named.routes, std::move(onward), from);
  return Result::handled;
}

void FeedRepair::fit(Time now, Feed& feed) {
  if (now < feed.fitted_at + kFitInterval) return;
  feed.fitted_at = now;
  cache_.fit(feed.cached);
}

std::size_t FeedRepair::memory_bytes() const {
  return cached_bytes() + cache_.index_bytes() + table_.size() * sizeof(Feed) + table_.open_gaps() * kGapBytes +
         described_.size() * kDescribedBytes;
}

void FeedRepair::hear(Time now, Feed& feed, const FeedRoutes& routes, LinkId from) {
  feed.heard_at = now;
  const Duration measured = links_.at(from).round_trip;
  feed.gaps.settings().hop_round_trip = measured != Duration::zero() ? measured : routes.round_trip(from);
  feed.gaps.settings().way_round_trip = installed_.round_trip(feed.origin);
}

// --- Time ---

void FeedRepair::look_after(Time now, Feed& feed) {
  if (feed.gaps.is_due(now)) {
    const Gaps::Due due = feed.gaps.collect(now);
    for (const Gaps::Ask& each : due.asks) ask(feed, each);
    for (const Gaps::Lost& each : due.lost) report_lost(feed, each);
  }
  table_.wake(feed, feed.gaps.next_at());
}

void FeedRepair::ask(Feed& feed, const Gaps::Ask& ask) {
  const std::optional<LinkId> upstream = installed_.link_to(feed.origin);
  if (!upstream) return;
  ++tally_.asked;
  ++tally_.asked_by_try[ask.attempt - 1];
  FeedNak nak;
  nak.ref = {installed_.tag(), feed.origin, feed.key.number};
  // Where no repair is wanted, the origin's rate is to know all the same.
  if (feed.gaps.settings().repair_for == Duration::zero()) nak.flags = FeedNak::kServed;
  nak.attempt = ask.attempt;
  nak.hops = kNakHopsMax;
  nak.reporter = installed_.self();
  nak.held_us = static_cast<std::uint32_t>(ask.held / 1us);
  nak.first = static_cast<std::uint32_t>(ask.first);
  nak.bits = ask.bits;
  output_.send(*upstream, nak);
}

void FeedRepair::count_lost(const Gaps::Lost& lost) {
  tally_.lost += lost.count;
  tally_.lost_by[static_cast<std::size_t>(lost.why)] += lost.count;
}

void FeedRepair::report_lost(Feed& feed, const Gaps::Lost& lost) {
  count_lost(lost);
  if (feed.is_member) output_.lost(feed.key, lost.first, lost.count);
}

Time FeedRepair::next_of(const Feed& feed) const {
  const Time next = std::min(feed.gaps.next_at(), feed.served.next_at());
  if (!feed.own) return std::min(next, feed.heard_at + kFeedSilence);
  return std::min({next, feed.own->beats.next_at(), feed.own->forgotten_at});
}

void FeedRepair::handle_time(Time now) {
  while (Feed* feed = table_.take_due(now)) {
    const bool is_over = feed->own ? now >= feed->own->forgotten_at : now >= feed->heard_at + kFeedSilence;
    if (is_over) {
      end(now, *feed);
    } else {
      time_of(now, *feed);
    }
  }
}

void FeedRepair::end(Time now, Feed& feed) {
  feed.gaps.give_up(now, 0, UINT64_MAX, GivenUp::source_lost);
  look_after(now, feed);
  const auto known = described_.find(feed.key);
  if (feed.is_member && !feed.is_left && known != described_.end()) known->second.next = feed.gaps.highest() + 1;
  table_.remove(feed);
  if (table_.size() == 0) cache_.clear();
}

void FeedRepair::time_of(Time now, Feed& feed) {
  look_after(now, feed);
  if (feed.served.next_at() <= now) rules_.send_served(now, feed, installed_);
  if (feed.own && feed.own->beats.next_at() <= now) beat(now, feed);
  table_.wake(feed, next_of(feed));
}

}  // namespace spindled
