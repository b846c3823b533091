#include "daemon/overlay/shortest_paths.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>

#include "daemon/base/check.h"

namespace spindled {

namespace {

/// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// The same in both directions. 52 bits: the sum over a path of kMembersMax edges stays below 2^63.
std::uint64_t second_cost(MemberIndex a, MemberIndex b) {
  const auto [low, high] = std::minmax(a, b);
  return mix(std::uint64_t{low} << 16 | high) >> 12;
}
static_assert(kMembersMax <= 1u << 11);

}  // namespace

Adjacency::Adjacency(std::size_t members, std::span<const Edge> edges) : first_(members + 1, 0) {
  for (const Edge& edge : edges) {
    SPINDLE_CHECK(edge.a < members && edge.b < members);
    ++first_[edge.a + std::size_t{1}];
    ++first_[edge.b + std::size_t{1}];
  }
  for (std::size_t i = 1; i <= members; ++i) first_[i] += first_[i - 1];
  neighbours_.resize(2 * edges.size());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (const Edge& edge : edges) {
    neighbours_[next[edge.a]++] = {edge.b, edge.weight, edge.round_trip_us};
    neighbours_[next[edge.b]++] = {edge.a, edge.weight, edge.round_trip_us};
  }
}

ShortestPaths::ShortestPaths(const Adjacency& adjacency, MemberIndex root) : root_(root), paths_(adjacency.size()) {
  SPINDLE_CHECK(root < adjacency.size());
  using Candidate = std::tuple<std::uint64_t, std::uint64_t, MemberIndex>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  paths_[root].weight = 0;
  paths_[root].second = 0;
  queue.emplace(0, 0, root);
  while (!queue.empty()) {
    const MemberIndex member = std::get<MemberIndex>(queue.top());
    queue.pop();
    Path& path = paths_[member];
    if (path.settled) continue;
    path.settled = true;
    if (member != root) path.next_hop = path.predecessor == root ? member : paths_[path.predecessor].next_hop;
    for (const Adjacency::Neighbour& edge : adjacency.of(member)) {
      if (paths_[edge.member].settled) continue;
      const std::uint64_t before_weight = paths_[edge.member].weight;
      const std::uint64_t before_second = paths_[edge.member].second;
      relax(member, edge);
      const Path& next = paths_[edge.member];
      if (next.weight != before_weight || next.second != before_second) {
        queue.emplace(next.weight, next.second, edge.member);
      }
    }
  }
}

void ShortestPaths::relax(MemberIndex from, const Adjacency::Neighbour& edge) {
  Path& to = paths_[edge.member];
  const std::uint64_t weight = paths_[from].weight + edge.weight;
  const std::uint64_t second = paths_[from].second + second_cost(from, edge.member);
  if (std::tie(weight, second, from) >= std::tie(to.weight, to.second, to.predecessor)) return;
  to.weight = weight;
  to.second = second;
  to.predecessor = from;
  to.round_trip_us = paths_[from].round_trip_us + edge.round_trip_us;
}

std::uint64_t ShortestPaths::eccentricity() const {
  std::uint64_t largest = 0;
  for (const Path& path : paths_) largest = std::max(largest, path.weight);
  return largest;
}

std::uint64_t ShortestPaths::longest_round_trip_us() const {
  std::uint64_t longest = 0;
  for (const Path& path : paths_) longest = std::max(longest, path.round_trip_us);
  return longest;
}

MemberIndex ShortestPaths::farthest() const {
  const auto farthest =
      std::max_element(paths_.begin(), paths_.end(), [](const Path& a, const Path& b) { return a.weight < b.weight; });
  return static_cast<MemberIndex>(farthest - paths_.begin());
}

namespace {

/// The ends of a longest path, roughly: the member farthest from some member, and the one farthest from that. Returns
/// the members between them.
std::vector<MemberIndex> double_sweep(const Adjacency& adjacency) {
  const MemberIndex end = ShortestPaths(adjacency, 0).farthest();
  const ShortestPaths paths(adjacency, end);
  std::vector<MemberIndex> members;
  MemberIndex member = paths.farthest();
  if (!paths.reaches(member)) return {0};
  const std::uint64_t length = paths.distance(member);
  for (; member != ShortestPaths::kNone; member = paths.predecessor(member)) members.push_back(member);
  // The middle first: whose distances to both ends differ least.
  const auto imbalance = [&](MemberIndex each) {
    const std::uint64_t to_end = paths.distance(each);
    return to_end > length - to_end ? 2 * to_end - length : length - 2 * to_end;
  };
  std::sort(members.begin(), members.end(), [&](MemberIndex a, MemberIndex b) {
    return std::make_tuple(imbalance(a), a) < std::make_tuple(imbalance(b), b);
  });
  constexpr std::size_t kCandidatesMax = 16;
  if (members.size() > kCandidatesMax) members.resize(kCandidatesMax);
  return members;
}

}  // namespace

MemberIndex choose_sequencer(const Topology& topology) {
  const Adjacency adjacency(topology.members.size(), topology.edges);
  std::vector<MemberIndex> candidates;
  if (adjacency.size() <= kExactSequencerMembersMax) {
    for (std::size_t i = 0; i < adjacency.size(); ++i) candidates.push_back(static_cast<MemberIndex>(i));
  } else {
    candidates = double_sweep(adjacency);
  }
  MemberIndex best = ShortestPaths::kNone;
  std::uint64_t best_distance = 0;
  for (const MemberIndex member : candidates) {
    const std::uint64_t distance = ShortestPaths(adjacency, member).eccentricity();
    if (best == ShortestPaths::kNone || std::tie(distance, member) < std::tie(best_distance, best)) {
      best = member;
      best_distance = distance;
    }
  }
  SPINDLE_CHECK(best != ShortestPaths::kNone);
  return best;
}

}  // namespace spindled
