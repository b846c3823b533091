#include "daemon/overlay/feed_routes.h"

#include <algorithm>

namespace spindled {

FeedRoutes::FeedRoutes(const View& view, const std::map<DaemonId, LinkId>& neighbours)
    : FeedRoutes(view, neighbours, ShortestPaths(Adjacency(view.size(), view.edges), view.self)) {}

FeedRoutes::FeedRoutes(const View& view, const std::map<DaemonId, LinkId>& neighbours, const ShortestPaths& paths)
    : table_(view, neighbours, paths), members_(view.members), links_(view.size()), round_trips_(view.size()) {
  for (std::size_t i = 0; i < view.size(); ++i) {
    const auto member = static_cast<MemberIndex>(i);
    if (paths.reaches(member)) round_trips_[i] = std::chrono::microseconds(paths.round_trip_us(member));
  }
  for (const ForwardingTable::Hop& hop : table_.hops()) {
    hop.mask.for_each([&](MemberIndex member) { links_[member] = hop.link; });
  }
}

void FeedRoutes::remove(LinkId link) {
  const ForwardingTable::Hop* hop = hop_of(link);
  if (hop == nullptr) return;
  table_.remove(link, members_[hop->neighbour]);
  std::replace(links_.begin(), links_.end(), std::optional(link), std::optional<LinkId>());
}

const ForwardingTable::Hop* FeedRoutes::hop_of(LinkId link) const {
  const auto& hops = table_.hops();
  const auto found = std::find_if(hops.begin(), hops.end(), [&](const auto& hop) { return hop.link == link; });
  return found == hops.end() ? nullptr : &*found;
}

const MemberSet& FeedRoutes::behind(LinkId link) const {
  const ForwardingTable::Hop* hop = hop_of(link);
  return hop == nullptr ? nobody_ : hop->mask;
}

Duration FeedRoutes::round_trip(LinkId link) const {
  const ForwardingTable::Hop* hop = hop_of(link);
  return hop == nullptr ? Duration::zero() : round_trips_[hop->neighbour];
}

bool FeedRoutes::leads_right_to(LinkId link, MemberIndex member) const {
  const ForwardingTable::Hop* hop = hop_of(link);
  return hop != nullptr && hop->neighbour == member;
}

}  // namespace spindled
