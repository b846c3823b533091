// What this daemon knows of all daemons and their links.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/overlay/limits.h"
#include "daemon/overlay/mutual_links.h"
#include "daemon/overlay/own_advertisement.h"
#include "daemon/overlay/topology.h"

namespace spindled {

/// One advertisement for each daemon's name: that of its latest life (the largest incarnation, see DaemonId), and of
/// that the latest sequence number. Pure knowledge: flooding and timers belong to Overlay.
class LinkStateDatabase {
 public:
  enum class Outcome {
    old,            // known already, or outdated: to be forgotten
    refreshed,      // the origin's links are as they were, round-trip times and capacities aside: flood on
    changed,        // flood on; `reachable` may have changed
    own,            // an echo of this daemon, which `own()` now outnumbers where it must
    name_conflict,  // a later daemon goes by this one's name
    full,           // no room for another daemon: to be forgotten
  };

  struct Entry {
    LinkState state;
    Time received{};
  };

  LinkStateDatabase(DaemonId self, Duration refresh_interval);

  Outcome accept(Time now, LinkState state);
  /// A link to `peer` is up: what is held of its other lives is forgotten, for the handshake knows best.
  void peer_connected(const DaemonId& peer);
  /// Forgets what was not refreshed for kRefreshesMissedMax intervals; whether there was any.
  bool expire(Time now);

  LinkStateSummary summary() const;
  /// The advertisements that are newer here than where `theirs` comes from, or unknown there.
  std::vector<LinkState> lacking(const LinkStateSummary& theirs) const;

  const DaemonId& self() const { return self_; }
  OwnAdvertisement& own() { return own_; }
  const OwnAdvertisement& own() const { return own_; }
  /// Of the other daemons, by name.
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

  /// The daemons that this one reaches, itself included, over links that both ends advertise, and those links
  /// (MutualLinks). Its own links count as they are now, advertised or not.
  Topology reachable() const;

 private:
  DaemonId self_;
  Duration lifetime_;
  OwnAdvertisement own_;
  std::map<std::string, Entry, std::less<>> entries_;
  // Of the entries, at all times, and of this daemon's own links as of `own_version_`: brought up to date when it is
  // asked for.
  mutable MutualLinks mutual_;
  mutable std::uint64_t own_version_ = 0;
};

}  // namespace spindled
