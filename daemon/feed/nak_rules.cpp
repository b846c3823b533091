#include "daemon/feed/nak_rules.h"

#include <algorithm>

namespace spindled {

namespace {
/// From this try on the replier may be dead (LMS, section III-C).
constexpr std::uint8_t kTryOfDoubt = 3;
}  // namespace

FeedNak NakRules::Selection::of(FeedNak nak) const {
  nak.first = first_ + static_cast<std::uint32_t>(indices_.front());
  nak.bits = {};
  for (const std::size_t index : indices_) nak.bits.insert(index - indices_.front());
  return nak;
}

void NakRules::handle(Time now, const FeedRoutes& routes, bool is_installed, LinkId from, Feed* feed, FeedNak nak) {
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
      send_up(arrival, std::move(nak));
    }
    return;
  }
  if (nak.is_served()) return pass_served(arrival, *feed, std::move(nak));
  ++tally_.naks_in;
  if (config_.steer_by_losses && !arrival.is_from_upstream() && nak.attempt == 1) {
    feed->replier.asked(from, nak.bits.count());
  }
  if (is_own) output_.loss_reported(nak.ref.feed, feed->span_of(nak), nak);
  Selection served(nak), lost_above(nak), lost_below(nak);
  const std::uint64_t first = feed->span_of(nak);
  nak.bits.for_each([&](std::size_t index) {
    const std::uint64_t sequence = first + index;
    if (const auto packet = cache_.find(feed->cached, sequence)) {
      if (serve(arrival, *feed, nak, sequence, *packet)) served.insert(index);
    } else if (is_own) {
      serve_gone(arrival, *feed, nak, sequence);
    } else if (!feed->gaps.is_open(sequence)) {
      if (!config_.steer_by_losses || !feed->gaps.has_come(sequence)) {
        lost_above.insert(index);
      } else if (!has_crossed(arrival, *feed, nak, sequence, asking(arrival, *feed, nak))) {
        lost_below.insert(index);
      }
    }
  });
  if (!served.empty() && !is_own) {
    FeedNak told = served.of(nak);
    told.flags = FeedNak::kServed;
    told.affected = {};
    pass_served(arrival, *feed, std::move(told));
  }
  if (!lost_above.empty()) steer(arrival, *feed, lost_above.of(nak), false);
  if (!lost_below.empty()) steer(arrival, *feed, lost_below.of(nak), true);
}

bool NakRules::has_crossed(const Arrival& arrival, const Feed& feed, const FeedNak& nak, std::uint64_t sequence,
                           const MemberSet& to) {
  const Duration round_trip = arrival.routes.round_trip(nak.reporter);
  const bool is_replier = arrival.is_from_upstream();
  if (nak.attempt > 1 || !feed.recent.covers(arrival.now, sequence, to, round_trip, is_replier)) return false;
  ++tally_.naks_crossed;
  return true;
}

/// Who lacks what the NAK names, as far as this daemon knows.
MemberSet NakRules::asking(const Arrival& arrival, const Feed& feed, const FeedNak& nak) {
  if (!nak.affected.empty()) return nak.affected;
  const MemberSet& behind = arrival.routes.behind(arrival.from);
  MemberSet members = arrival.is_installed ? feed.members & behind : MemberSet();
  return members.empty() ? behind : members;
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
  return true;
}

/// To all who are affected, and who has asked for them.
void NakRules::serve_gone(const Arrival& arrival, const Feed& feed, const FeedNak& nak, std::uint64_t sequence) {
  ++tally_.gone;
  FeedGone gone{nak.ref, asking(arrival, feed, nak), static_cast<std::uint32_t>(sequence),
                static_cast<std::uint32_t>(sequence)};
  gone.to.insert(nak.reporter);
  sender_.send(arrival.routes, std::move(gone), std::nullopt);
}

void NakRules::pass_served(const Arrival& arrival, Feed& feed, FeedNak nak) {
  if (feed.own) return output_.loss_reported(nak.ref.feed, feed.span_of(nak), nak);
  for (FeedNak& each : feed.served.add(arrival.now, std::move(nak))) send_up(arrival, std::move(each));
}

void NakRules::send_served(Time now, Feed& feed, const FeedRoutes& routes) {
  for (FeedNak& nak : feed.served.take(now)) {
    // Those of the view before are told too late to matter.
    if (nak.ref.view != routes.tag()) continue;
    send_up({now, routes, true, LinkId{}, routes.link_to(feed.origin)}, std::move(nak));
  }
}

// --- What is not ---

void NakRules::steer(const Arrival& arrival, Feed& feed, FeedNak nak, bool is_lost_below) {
  if (arrival.is_from_upstream()) {
    const std::vector<ReplierLink::Candidate> known = candidates(arrival, feed);
    const auto replier = feed.replier.choose(arrival.now, known, arrival.routes.round_trip(feed.origin));
    if (feed.keeps_packets() || !replier) {
      nak.flags = 0;
      return send_up(arrival, std::move(nak));
    }
    return send_down(*replier, std::move(nak));
  }
  if (is_lost_below) nak.affected = asking(arrival, feed, nak);
  const bool is_next_to_origin = arrival.upstream && arrival.routes.leads_right_to(*arrival.upstream, nak.ref.origin);
  const std::vector<ReplierLink::Candidate> known = candidates(arrival, feed);
  const auto replier = feed.replier.choose(arrival.now, known, arrival.routes.round_trip(feed.origin));
  if (!replier || replier == arrival.from || (is_lost_below && is_next_to_origin))
    return send_up(arrival, std::move(nak));
  turn(arrival, feed, std::move(nak), *replier);
}

void NakRules::turn(const Arrival& arrival, Feed& feed, FeedNak nak, LinkId replier) {
  nak.affected = asking(arrival, feed, nak);
  if (nak.attempt < kTryOfDoubt) {
    nak.flags |= FeedNak::kDown;
    return send_down(replier, std::move(nak));
  }
  std::vector<ReplierLink::Candidate> others = candidates(arrival, feed);
  std::erase_if(others, [&](const auto& each) { return each.link == replier || each.link == arrival.from; });
  if (const auto other = feed.replier.best_of(others, arrival.routes.round_trip(feed.origin))) {
    FeedNak copy = nak;
    copy.flags |= FeedNak::kDown;
    send_down(*other, std::move(copy));
  }
  send_up(arrival, std::move(nak));
}

void NakRules::send_up(const Arrival& arrival, FeedNak nak) {
  if (nak.hops == 0 || !arrival.upstream) {
    ++tally_.naks_ended;
    return;
  }
  --nak.hops;
  if (!nak.is_served()) ++tally_.naks_forwarded;
  output_.send(*arrival.upstream, nak);
}

void NakRules::send_down(LinkId link, FeedNak nak) {
  if (nak.hops == 0) {
    ++tally_.naks_ended;
    return;
  }
  --nak.hops;
  ++tally_.naks_forwarded;
  output_.send(link, nak);
}

/// The nearest that may have packets: the neighbour where all keep them, otherwise the nearest with listeners.
std::vector<ReplierLink::Candidate> NakRules::candidates(const Arrival& arrival, const Feed& feed) const {
  std::vector<ReplierLink::Candidate> found;
  if (!arrival.is_installed) return found;
  for (const FeedBranch& branch : feed.branches) {
    Duration nearest = arrival.routes.round_trip(branch.link);
    if (config_.cache == FeedCache::members) {
      nearest = Duration::max();
      branch.members.for_each(
          [&](MemberIndex member) { nearest = std::min(nearest, arrival.routes.round_trip(member)); });
    }
    found.push_back({branch.link, nearest});
  }
  return found;
}

}  // namespace spindled
