// When this daemon tells the others of its links.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "daemon/base/timers.h"
#include "daemon/overlay/limits.h"
#include "daemon/wire/control.h"

namespace spindled {

/// Whether links are the same but for round-trip times and capacities.
bool same_topology(const std::vector<AdvertisedLink>& a, const std::vector<AdvertisedLink>& b);

/// This daemon's own link state: what its links are now, and what it last told the others. Call `set_links` and
/// `neighbour_lost` as things change, and `take_due` after them and whenever `next_deadline` has come.
///
/// A link that goes down and comes back before anybody was told of it would leave the others believing in routes over
/// it that this daemon has given up (frames were lost, see ForwardingTable). So the loss of a neighbour is always told:
/// the advertisement that follows it is without that neighbour, and the one after has it again.
class OwnAdvertisement {
 public:
  OwnAdvertisement(DaemonId self, Duration refresh_interval);

  /// `links` are sorted. Changes of weight or neighbours are advertised, of round-trip time or capacity not.
  void set_links(Time now, std::vector<AdvertisedLink> links);
  void neighbour_lost(Time now, const DaemonId& neighbour);
  /// While the daemon stays out, as it does to begin with, it advertises that, and no link.
  void set_stays_out(Time now, bool stays_out);
  bool stays_out() const { return stays_out_; }
  /// What the daemon goes by.
  void set_settings(Time now, const DaemonSettings& settings);
  const DaemonSettings& settings() const { return settings_; }
  /// Others hold a state of this daemon with that sequence number: the next one goes above. One so far above what this
  /// one has told that others would not believe the next one is left alone: it was made up, and is forgotten when it is
  /// not repeated.
  void jump_above(Time now, std::uint64_t sequence);
  /// Others hold only other lives of this daemon, and states of it from above that number on.
  void jump_above_lives(Time now, std::uint64_t sequence);
  /// Repeats the advertisement before its time.
  void repeat(Time now) { change(now); }

  /// The advertisement to flood now, or nothing.
  const LinkState* take_due(Time now);
  Time next_deadline() const { return timers_.next(); }

  /// What was last taken; sequence 0 before the first.
  const LinkState& published() const { return published_; }
  /// What this daemon itself goes by: the links that it has and has advertised, but for those whose loss is yet to be
  /// told. To count one that the others do not yet know of would have it propose a view that is a loss to them.
  LinkState current() const;
  /// Grows whenever the links of `current` change; at least 1.
  std::uint64_t version() const { return version_; }

 private:
  enum class Timer { advertise, refresh, count_ };

  void change(Time now);
  std::vector<AdvertisedLink> usable_links() const;

  Duration refresh_interval_;
  LinkState published_;
  std::uint64_t told_ = 0;  // the sequence number that was last taken
  std::vector<AdvertisedLink> links_;
  bool stays_out_ = true;
  DaemonSettings settings_;
  std::set<DaemonId> lost_;  // neighbours whose loss no advertisement has shown
  Time spaced_until_{};      // no advertisement before this
  std::uint64_t version_ = 1;
  Timers<Timer> timers_;
};

}  // namespace spindled
