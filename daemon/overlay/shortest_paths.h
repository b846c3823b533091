// Shortest paths over the snapshot of a view's topology.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/overlay/topology.h"

namespace spindled {

/// The edges of a topology, by member.
class Adjacency {
 public:
  struct Neighbour {
    MemberIndex member = 0;
    std::uint32_t weight = 1;
    std::uint32_t round_trip_us = 0;
  };

  /// Both ends of every edge are below `members`.
  Adjacency(std::size_t members, std::span<const Edge> edges);

  std::size_t size() const { return first_.size() - 1; }
  std::span<const Neighbour> of(MemberIndex member) const {
    return {neighbours_.data() + first_[member], neighbours_.data() + first_[member + std::size_t{1}]};
  }

 private:
  std::vector<std::size_t> first_;  // where each member's neighbours begin, and the end
  std::vector<Neighbour> neighbours_;
};

/// The shortest paths from one member, the root, to all others (Dijkstra), for forwarding hop by hop: every member runs
/// this with itself as the root and looks only at next_hop.
///
/// A path costs the sum of its weights, then the sum of a second cost that each edge has besides: 52 bits hashed from
/// the indices of its ends. What follows from that:
///
/// - No loops, whatever the ties: next_hop(v, d) lies on a cheapest path from v to d, so its own distance to d is
/// smaller
///   than v's by the cost of the edge between, which is positive. Every hop comes nearer to d, and no frame goes back
///   where it came from. As next_hop is a function of (v, d), each origin's frames to each destination take one path.
/// - One tree an origin: paths of equal weight practically never have equal second costs too, so the cheapest path
///   between two members is unique, each part of it is itself the cheapest between its ends, and it is the same in both
///   directions. The paths from one origin therefore form a tree, no link carries a message twice, and every relay on
///   the way, with a root of its own, agrees with the origin. Should two sums ever be equal, the predecessor with the
///   smaller index is taken; the first property holds regardless.
/// - Where there are many paths of equal weight, different pairs use different ones.
class ShortestPaths {
 public:
  static constexpr MemberIndex kNone = 0xffff;

  ShortestPaths(const Adjacency& adjacency, MemberIndex root);

  MemberIndex root() const { return root_; }
  std::size_t size() const { return paths_.size(); }
  bool reaches(MemberIndex member) const { return paths_[member].settled; }
  /// The neighbour of the root that leads to `member`; kNone for the root itself and for what is not reached.
  MemberIndex next_hop(MemberIndex member) const { return paths_[member].next_hop; }
  /// The member before `member` on its path; kNone as above.
  MemberIndex predecessor(MemberIndex member) const { return paths_[member].predecessor; }
  /// The sum of the weights; only for what is reached, as below.
  std::uint64_t distance(MemberIndex member) const { return paths_[member].weight; }
  /// The sum of the round-trip times along the path.
  std::uint64_t round_trip_us(MemberIndex member) const { return paths_[member].round_trip_us; }

  /// The largest distance; the largest number there is where some member is not reached.
  std::uint64_t eccentricity() const;
  /// The largest round-trip time to any member that is reached.
  std::uint64_t longest_round_trip_us() const;
  /// The member at the largest distance, the one with the smallest index where there are several.
  MemberIndex farthest() const;

 private:
  struct Path {
    std::uint64_t weight = UINT64_MAX;
    std::uint64_t second = UINT64_MAX;
    std::uint64_t round_trip_us = 0;
    MemberIndex predecessor = kNone;
    MemberIndex next_hop = kNone;
    bool settled = false;
  };

  void relax(MemberIndex from, const Adjacency::Neighbour& edge);

  MemberIndex root_;
  std::vector<Path> paths_;
};

/// The member whose greatest distance to the others is smallest, the one with the smallest index where there are
/// several. Exact up to kExactSequencerMembersMax members; beyond, the best among the members in the middle of a
/// longest path, as two sweeps find it, which is exact on trees. Only the coordinator of a view asks, so all of the
/// view agree on it.
MemberIndex choose_sequencer(const Topology& topology);

inline constexpr std::size_t kExactSequencerMembersMax = 300;

}  // namespace spindled
