// Where the frames of a view go: one mask per neighbour.
#pragma once

#include <map>
#include <vector>

#include "daemon/link/link_id.h"
#include "daemon/overlay/shortest_paths.h"
#include "daemon/overlay/view.h"

namespace spindled {

/// For each link that shortest paths of the view use, the set of members whose path starts with it.
///
/// A link that goes down is out of the table for good, even where it comes back: frames were lost on it, and what a
/// member has of a stream must be a prefix of what was sent to it. Frames for the members behind it are dropped until
/// the next view, which the loss of the link brings about: a neighbour given up is not advertised while the table is in
/// use, so that nobody who looks late takes a link that came back for one that never went.
class ForwardingTable {
 public:
  struct Hop {
    LinkId link{};
    MemberIndex neighbour = 0;
    MemberSet mask;
  };

  /// Of no view: nothing is a member.
  ForwardingTable() = default;
  /// `neighbours` has a link for each neighbour that is up now; those of other incarnations than the view's are not
  /// used.
  ForwardingTable(const View& view, const std::map<DaemonId, LinkId>& neighbours);
  /// `paths`: of this view, from this daemon.
  ForwardingTable(const View& view, const std::map<DaemonId, LinkId>& neighbours, const ShortestPaths& paths);

  /// The link to `neighbour` is down.
  void remove(LinkId link, const DaemonId& neighbour);
  /// Whether paths of the view start with this neighbour and the table has no link to it.
  bool has_given_up(const DaemonId& neighbour) const;

  const ViewId& view() const { return view_; }
  MemberIndex self() const { return self_; }
  const MemberSet& members() const { return members_; }
  const std::vector<Hop>& hops() const { return hops_; }

  /// Whether all of `members` exist in the view, and there are any.
  bool is_valid(const MemberSet& members) const { return !members.empty() && members.is_subset_of(members_); }

  /// Calls `visit(link, members)` for each link that some of `destinations` are reached over, with those that are.
  /// Members that no link leads to, this one among them, are passed over.
  template <typename Visit>
  void split(const MemberSet& destinations, Visit&& visit) const {
    for (const Hop& hop : hops_) {
      if (hop.mask.intersects(destinations)) visit(hop.link, destinations & hop.mask);
    }
  }

 private:
  ViewId view_;
  MemberIndex self_ = 0;
  MemberSet members_;
  std::vector<Hop> hops_;           // in the order of the neighbours' indices
  std::vector<DaemonId> given_up_;  // neighbours on the view's paths that no hop is left to
};

}  // namespace spindled
