#include "daemon/overlay/forwarding_table.h"

#include <algorithm>
#include <optional>

namespace spindled {

ForwardingTable::ForwardingTable(const View& view, const std::map<DaemonId, LinkId>& neighbours)
    : ForwardingTable(view, neighbours, ShortestPaths(Adjacency(view.size(), view.edges), view.self)) {}

ForwardingTable::ForwardingTable(const View& view, const std::map<DaemonId, LinkId>& neighbours,
                                 const ShortestPaths& paths)
    : view_(view.id), self_(view.self), members_(MemberSet::first(view.size())) {
  std::vector<MemberSet> masks(view.size());
  for (std::size_t i = 0; i < view.size(); ++i) {
    const MemberIndex hop = paths.next_hop(static_cast<MemberIndex>(i));
    if (hop != ShortestPaths::kNone) masks[hop].insert(static_cast<MemberIndex>(i));
  }
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (masks[i].empty()) continue;
    const auto link = neighbours.find(view.members[i]);
    if (link == neighbours.end()) {
      given_up_.push_back(view.members[i]);
      continue;
    }
    hops_.push_back({link->second, static_cast<MemberIndex>(i), std::move(masks[i])});
  }
}

void ForwardingTable::remove(LinkId link, const DaemonId& neighbour) {
  if (std::erase_if(hops_, [&](const Hop& hop) { return hop.link == link; }) > 0) given_up_.push_back(neighbour);
}

bool ForwardingTable::has_given_up(const DaemonId& neighbour) const {
  return std::find(given_up_.begin(), given_up_.end(), neighbour) != given_up_.end();
}

}  // namespace spindled
