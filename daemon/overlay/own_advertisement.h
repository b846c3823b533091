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

  /// `links` are sorted by neighbour. Changes of weight or neighbours are advertised, of round-trip time or capacity
  /// not.
  void set_links(Time now, std::vector<AdvertisedLink> links);
  void neighbour_lost(Time now, const std::string& neighbour);
  /// Others hold a state of this daemon with that sequence number: the next one goes above.
  void jump_above(Time now, std::uint64_t sequence);

  /// The advertisement to flood now, or nothing.
  const LinkState* take_due(Time now);
  Time next_deadline() const { return timers_.next(); }

  /// What was last taken; sequence 0 before the first.
  const LinkState& published() const { return published_; }
  /// What this daemon itself goes by: its links as they are, without those whose loss is yet to be told.
  LinkState current() const;
  /// Grows whenever the links of `current` change; at least 1.
  std::uint64_t version() const { return version_; }

 private:
  enum class Timer { advertise, refresh, count_ };

  void change(Time now);
  std::vector<AdvertisedLink> usable_links() const;

  Duration refresh_interval_;
  LinkState published_;
  std::vector<AdvertisedLink> links_;
  std::set<std::string> lost_;  // neighbours whose loss no advertisement has shown
  Time spaced_until_{};         // no advertisement before this
  std::uint64_t version_ = 1;
  Timers<Timer> timers_;
};

}  // namespace spindled
