// What this daemon knows of all daemons and their links.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/overlay/limits.h"
#include "daemon/overlay/mutual_links.h"
#include "daemon/overlay/own_advertisement.h"
#include "daemon/overlay/topology.h"

namespace spindled {

/// The latest advertisement, by sequence number, of each life of each daemon. Lives of one name are kept side by side,
/// and none is taken for later than another: the neighbours of one that is gone advertise no links to it any more, and
/// the one that they do advertise links to is the one that lives. So it does not matter what a daemon draws its
/// incarnation from. Of one name at most kLivesMax lives are kept, those with the highest sequence numbers, and a
/// daemon sees to it that it is among them.
///
/// Pure knowledge: flooding and timers belong to Overlay.
class LinkStateDatabase {
 public:
  enum class Outcome {
    old,        // known already, or outdated: to be forgotten
    refreshed,  // the origin's links are as they were, round-trip times and capacities aside: flood on
    changed,    // flood on; `reachable` may have changed
    own,        // an echo of this daemon, which `own()` now outnumbers where it must
    full,       // no room for another daemon: to be forgotten
  };

  struct Entry {
    LinkState state;
    Time received{};
  };

  LinkStateDatabase(DaemonId self, Duration refresh_interval);

  Outcome accept(Time now, LinkState state);
  /// Forgets what was not refreshed for kRefreshesMissedMax intervals; whether there was any.
  bool expire(Time now);

  LinkStateSummary summary() const;
  /// The advertisements that are newer here than where `theirs` comes from, or unknown there.
  std::vector<LinkState> lacking(const LinkStateSummary& theirs) const;

  const DaemonId& self() const { return self_; }
  OwnAdvertisement& own() { return own_; }
  const OwnAdvertisement& own() const { return own_; }
  /// Of the other daemons, and of other lives of this one.
  const std::map<DaemonId, Entry>& entries() const { return entries_; }

  /// The daemons that this one reaches, itself included, over links that both ends advertise, and those links
  /// (MutualLinks). Of its own links those count that it has advertised and still has. While it stays out, it alone.
  Topology reachable() const;
  bool knows_namesakes() const {
    const auto at = entries_.lower_bound({self_.name, 0});
    return at != entries_.end() && at->first.name == self_.name;
  }
  /// Another daemon of this one's name that is reached from `neighbours`, or another life of it that is not known to be
  /// gone; the one with the largest incarnation.
  std::optional<DaemonId> namesake(const std::vector<DaemonId>& neighbours) const {
    return mutual_.namesake_of(self_, neighbours);
  }

 private:
  using Entries = std::map<DaemonId, Entry>;

  /// Makes room for one more life of that name; false where those held are all more recent.
  bool make_room(const LinkState& state);
  void stay_among_lives(Time now);

  DaemonId self_;
  Duration lifetime_;
  OwnAdvertisement own_;
  Entries entries_;
  Time jumped_at_ = Time::min();  // above other lives
  // Of the entries, at all times, and of this daemon's own links as of `own_version_`: brought up to date when it is
  // asked for.
  mutable MutualLinks mutual_;
  mutable std::uint64_t own_version_ = 0;
};

}  // namespace spindled
