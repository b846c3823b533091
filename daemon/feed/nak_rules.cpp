#include "daemon/feed/nak_rules.h"

#include <algorithm>

namespace spindled {

namespace {
/// From this try on the replier may be dead (LMS, section III-C).
constexpr std::uint8_t kTryOfDoubt = 3;
}  // namespace

namespace {

/// Sequences of a NAK that are treated alike.
class Selection {
 public:
  void insert(std::size_t index) {
    if (count_++ == 0) {
      first_ = index;
      bits_.emplace();
    }
    bits_->insert(index - first_);
  }
  bool empty() const { return count_ == 0; }
  /// Leaves no others in the NAK, which has `count`.
  void apply(FeedNak& nak, std::size_t count) const {
    if (count_ == count) return;
    nak.first += static_cast<std::uint32_t>(first_);
    nak.bits = *bits_;
  }

 private:
  std::size_t count_ = 0;
  std::size_t first_ = 0;
  std::optional<SequenceBits> bits_;
};

}  // namespace

void NakRules::handle(Time now, const FeedRoutes& routes, bool is_installed, LinkId from, Feed* feed, FeedNak& nak) {
  const Arrival arrival{now, routes, is_installed, from, routes.link_to(nak.ref.origin)};
  const bool is_own = nak.ref.origin == routes.self();
  // Down is the way that the feed comes, and no other.
  if (nak.is_down() != arrival.is_from_upstream() || (nak.is_served() && nak.is_down())) {
    ++tally_.misrouted;
    return;
  }
  if (feed == nullptr) {
    if (is_own || arrival.is_from_upstream()) {
      ++tally_.naks_ended;
    } else {
      send_up(arrival, nak);
    }
    return;
  }
  if (nak.is_served()) return pass_served(arrival, *feed, nak);
  ++tally_.naks_in;
  const std::size_t count = nak.bits.count();
  if (config_.steer_by_losses && !arrival.is_from_upstream() && nak.attempt == 1) feed->replier.asked(from, count);
  if (is_own) output_.loss_reported(nak.ref.feed, feed->first_of(nak), nak);
  const std::uint64_t first = feed->first_of(nak);
  // Mostly one packet is missing.
  if (count == 1) {
    act(arrival, *feed, nak, fate_of(arrival, *feed, nak, first));
    return tell_gone(arrival);
  }
  Selection served, lost_above, lost_below;
  nak.bits.for_each([&](std::size_t index) {
    const Fate fate = fate_of(arrival, *feed, nak, first + index);
    if (fate == Fate::served) served.insert(index);
    if (fate == Fate::lost_above) lost_above.insert(index);
    if (fate == Fate::lost_below) lost_below.insert(index);
  });
  const auto act_on = [&](const Selection& selection, Fate fate) {
    if (selection.empty()) return;
    FeedNak selected = nak;
    selection.apply(selected, count);
    act(arrival, *feed, selected, fate);
  };
  act_on(served, Fate::served);
  act_on(lost_above, Fate::lost_above);
  act_on(lost_below, Fate::lost_below);
  tell_gone(arrival);
}

NakRules::Fate NakRules::fate_of(const Arrival& arrival, Feed& feed, const FeedNak& nak, std::uint64_t sequence) {
  if (const auto packet = cache_.find(feed.cached, sequence)) {
    return serve(arrival, feed, nak, sequence, *packet) ? Fate::served : Fate::settled;
  }
  if (feed.own) {
    serve_gone(arrival, feed, nak, sequence);
    return Fate::settled;
  }
  if (feed.gaps.is_open(sequence)) return Fate::settled;
  if (!config_.steer_by_losses || !feed.gaps.has_come(sequence)) return Fate::lost_above;
  const bool is_over = has_crossed(arrival, feed, nak, sequence, asking(arrival, feed, nak));
  return is_over ? Fate::settled : Fate::lost_below;
}

/// On all sequences of the NAK, which have that fate.
void NakRules::act(const Arrival& arrival, Feed& feed, FeedNak& nak, Fate fate) {
  switch (fate) {
    case Fate::settled:
      return;
    case Fate::served:
      nak.flags = FeedNak::kServed;
      nak.affected = {};
      if (!feed.own) pass_served(arrival, feed, nak);  // the source has heard of it
      return;
    case Fate::lost_above:
    case Fate::lost_below:
      steer(arrival, feed, nak, fate == Fate::lost_below);
  }
}

bool NakRules::has_crossed(const Arrival& arrival, const Feed& feed, const FeedNak& nak, std::uint64_t sequence,
                           const MemberSet& to) {
  // The request may have gone up and down the tree, and not the shortest way.
  const Duration round_trip = 2 * arrival.routes.round_trip(nak.reporter);
  const bool is_replier = arrival.is_from_upstream();
  if (nak.attempt > 1 || !feed.recent.covers(arrival.now, sequence, to, round_trip, is_replier)) return false;
  ++tally_.naks_crossed;
  return true;
}

/// Who lacks what the NAK names, as far as this daemon knows.
MemberSet NakRules::asking(const Arrival& arrival, const Feed& feed, const FeedNak& nak) {
  MemberSet members = nak.affected;
  fill_affected(arrival, feed, members);
  return members;
}

/// Where nobody has said who is affected, it is all behind the link that the NAK has come on.
void NakRules::fill_affected(const Arrival& arrival, const Feed& feed, MemberSet& affected) {
  if (!affected.empty()) return;
  const MemberSet& behind = arrival.routes.behind(arrival.from);
  if (arrival.is_installed) {
    affected |= feed.members;
    affected &= behind;
  }
  if (affected.empty()) affected |= behind;
}

// --- What is here ---

MemberSet NakRules::targets(const Arrival& arrival, const Feed& feed, const FeedNak& nak,
                            const PacketCache::Packet& packet) const {
  // Who is affected is not below this daemon.
  if (arrival.is_from_upstream()) return nak.affected;
  MemberSet to = asking(arrival, feed, nak);
  // What it was addressed to is known where it is of this view, and no repair, which was for some of them only.
  if (packet.view == nak.ref.view && (packet.flags & FeedPacket::kRepair) == 0) {
    Reader reader(packet.to);
    to &= MemberSet::read(reader);
  }
  to.erase(arrival.routes.self());
  return to;
}

bool NakRules::serve(const Arrival& arrival, Feed& feed, const FeedNak& nak, std::uint64_t sequence,
                     const PacketCache::Packet& packet) {
  const MemberSet to = targets(arrival, feed, nak, packet);
  if (to.empty()) {
    serve_gone(arrival, feed, nak, sequence);
    return false;
  }
  if (has_crossed(arrival, feed, nak, sequence, to)) return false;
  FeedPacket repair{nak.ref, static_cast<std::uint32_t>(sequence), packet.flags, 0, {}, packet.payload};
  if (!sender_.send_repair(arrival.now, arrival.routes, repair, to, std::nullopt)) return false;
  feed.recent.sent(arrival.now, sequence, to);
  ++tally_.repairs;
  if (feed.own) ++tally_.own_repairs;
  return true;
}

/// To all who are affected, and who has asked for them.
void NakRules::serve_gone(const Arrival& arrival, const Feed& feed, const FeedNak& nak, std::uint64_t sequence) {
  ++tally_.gone;
  const auto number = static_cast<std::uint32_t>(sequence);
  FeedGone gone{nak.ref, asking(arrival, feed, nak), number, number};
  gone.to.insert(nak.reporter);
  if (gone_ && gone_->last + 1 == number && gone_->to == gone.to) {
    gone_->last = number;
    return;
  }
  tell_gone(arrival);
  gone_ = std::move(gone);
}

void NakRules::tell_gone(const Arrival& arrival) {
  if (!gone_) return;
  sender_.send(arrival.routes, *std::exchange(gone_, std::nullopt), std::nullopt);
}

void NakRules::pass_served(const Arrival& arrival, Feed& feed, const FeedNak& nak) {
  if (feed.own) return output_.loss_reported(nak.ref.feed, feed.first_of(nak), nak);
  for (FeedNak& each : feed.served.add(arrival.now, nak)) send_up(arrival, each);
}

void NakRules::send_served(Time now, Feed& feed, const FeedRoutes& routes) {
  for (FeedNak& nak : feed.served.take(now)) {
    // Those of the view before are told too late to matter.
    if (nak.ref.view != routes.tag()) continue;
    send_up({now, routes, true, LinkId{}, routes.link_to(feed.origin)}, nak);
  }
}

// --- What is not ---

void NakRules::steer(const Arrival& arrival, Feed& feed, FeedNak& nak, bool is_lost_below) {
  std::optional<LinkId> replier;
  if (arrival.is_installed) {
    replier = feed.replier.choose(arrival.now, feed.candidates, arrival.routes.round_trip(feed.origin));
  }
  if (arrival.is_from_upstream()) {
    if (replier && !feed.keeps_packets()) return send_down(*replier, nak);
    nak.flags = 0;
    return send_up(arrival, nak);
  }
  if (is_lost_below) {
    fill_affected(arrival, feed, nak.affected);
    if (is_origin_nearer(arrival, feed, replier)) return send_up(arrival, nak);
  }
  if (!replier || replier == arrival.from) return send_up(arrival, nak);
  turn(arrival, feed, nak, *replier);
}

/// Than the replier: next to the origin it is the origin that repairs (LMS, section II-C), and so it is wherever
/// repliers are farther away.
bool NakRules::is_origin_nearer(const Arrival& arrival, const Feed& feed, std::optional<LinkId> replier) {
  if (arrival.upstream && arrival.routes.leads_right_to(*arrival.upstream, feed.origin)) return true;
  const auto found = std::find_if(feed.candidates.begin(), feed.candidates.end(),
                                  [&](const auto& each) { return each.link == replier; });
  return found != feed.candidates.end() && found->nearest >= arrival.routes.round_trip(feed.origin);
}

void NakRules::turn(const Arrival& arrival, Feed& feed, FeedNak& nak, LinkId replier) {
  fill_affected(arrival, feed, nak.affected);
  if (nak.attempt < kTryOfDoubt) return send_down(replier, nak);
  std::vector<ReplierLink::Candidate> others = feed.candidates;
  std::erase_if(others, [&](const auto& each) { return each.link == replier || each.link == arrival.from; });
  if (const auto other = feed.replier.best_of(others, arrival.routes.round_trip(feed.origin))) {
    FeedNak copy = nak;
    send_down(*other, copy);
  }
  send_up(arrival, nak);
}

void NakRules::send_up(const Arrival& arrival, FeedNak& nak) {
  if (nak.hops == 0 || !arrival.upstream) {
    ++tally_.naks_ended;
    return;
  }
  --nak.hops;
  if (!nak.is_served()) ++tally_.naks_forwarded;
  output_.send(*arrival.upstream, nak);
}

void NakRules::send_down(LinkId link, FeedNak& nak) {
  if (nak.hops == 0) {
    ++tally_.naks_ended;
    return;
  }
  --nak.hops;
  nak.flags |= FeedNak::kDown;
  ++tally_.naks_forwarded;
  output_.send(link, nak);
}

}  // namespace spindled
