// Where the datagrams of a view go, and how long the ways are.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/overlay/forwarding_table.h"
#include "daemon/overlay/shortest_paths.h"

namespace spindled {

/// The routes of one view, for feeds. The paths from one origin to all members are a tree (`ShortestPaths`), so each
/// daemon has one upstream link for each origin: the one to the next hop towards it.
class FeedRoutes {
 public:
  /// Of no view: nothing is a member.
  FeedRoutes() = default;
  /// As `ForwardingTable`.
  FeedRoutes(const View& view, const std::map<DaemonId, LinkId>& neighbours);

  /// The link is down, for as long as these routes are in use.
  void remove(LinkId link);

  /// How frames name the view: the lowest bits of its number.
  std::uint16_t tag() const { return static_cast<std::uint16_t>(table_.view().number); }
  MemberIndex self() const { return table_.self(); }
  std::size_t size() const { return members_.size(); }
  const DaemonId& member(MemberIndex index) const { return members_[index]; }
  bool is_valid(const MemberSet& members) const { return table_.is_valid(members); }

  /// Towards the member; nothing for this daemon, and where there is no way.
  std::optional<LinkId> link_to(MemberIndex member) const { return links_[member]; }
  /// Members whose paths start with that link.
  const MemberSet& behind(LinkId link) const;
  /// There and back, as the snapshot of the view has it; zero: not known.
  Duration round_trip(MemberIndex member) const { return round_trips_[member]; }
  /// To the neighbour there.
  Duration round_trip(LinkId link) const;
  /// Whether that member is the neighbour there.
  bool leads_right_to(LinkId link, MemberIndex member) const;

  /// As `ForwardingTable::split`.
  template <typename Visit>
  void split(const MemberSet& destinations, Visit&& visit) const {
    table_.split(destinations, visit);
  }

 private:
  FeedRoutes(const View& view, const std::map<DaemonId, LinkId>& neighbours, const ShortestPaths& paths);
  const ForwardingTable::Hop* hop_of(LinkId link) const;

  ForwardingTable table_;
  std::vector<DaemonId> members_;
  std::vector<std::optional<LinkId>> links_;  // by member
  std::vector<Duration> round_trips_;         // likewise
  MemberSet nobody_;
};

}  // namespace spindled
