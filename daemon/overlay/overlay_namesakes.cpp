// Other daemons that go by this one's name: at most one of them takes part.
//
// A daemon that starts, or has lost all its links, stays out until a neighbour has told it all that it knows. If a
// daemon of its name is reached then, be it a life of its own that others do not yet know to be gone or another daemon,
// it goes on staying out. So a daemon that is configured with a name that is taken never shows itself, and nobody's
// view changes for it. Two that have each taken part, on the two sides of a gap, meet when that closes: the one with
// the larger incarnation stays.
#include <algorithm>

#include "daemon/overlay/overlay.h"

namespace spindled {

void Overlay::look_for_namesakes(Time now) {
  OwnAdvertisement& own = database_.own();
  const auto in_step = [](const Neighbour& neighbour) { return neighbour.up && neighbour.in_step; };
  std::optional<DaemonId> namesake;
  if (database_.knows_namesakes()) {
    std::vector<DaemonId> neighbours;
    for (const Neighbour& neighbour : neighbours_) {
      if (in_step(neighbour)) neighbours.push_back(neighbour.peer);
    }
    namesake = database_.namesake(neighbours);
    if (namesake && !own.stays_out() && *namesake < database_.self()) namesake.reset();
  }
  own.set_stays_out(now, namesake.has_value() || std::none_of(neighbours_.begin(), neighbours_.end(), in_step));
  if (namesake == namesake_) return;
  namesake_ = std::move(namesake);
  namesake_due_ = namesake_ ? now + kNamesakeLivenessTimeouts * context_.config.link.liveness_timeout : kNever;
  if (!namesake_) log_.debug("no other daemon named {} is about", database_.self().name);
}

void Overlay::remind_of_namesake(Time now) {
  namesake_due_ = now + kNamesakeReminder;
  context_.counters.add(Counter::name_conflicts);
  log_.error(
      "another daemon is named {} (incarnation {:016x}), and part of the cluster: this one (incarnation {:016x}) stays "
      "alone until that one is gone; give one of them another daemon.name",
      namesake_->name, namesake_->incarnation, database_.self().incarnation);
  database_.own().repeat(now);  // so that the other one hears that this one lives
  advertise(now);
}

void Overlay::namesake_heard(Time now, const DaemonId& namesake) {
  if (database_.own().stays_out() || now < other_namesake_quiet_until_) return;
  other_namesake_quiet_until_ = now + kNamesakeReminder;
  context_.counters.add(Counter::name_conflicts);
  log_.warning(
      "another daemon is named {} (incarnation {:016x}); it stays alone because of this one (incarnation {:016x}): "
      "give "
      "one of them another daemon.name",
      namesake.name, namesake.incarnation, database_.self().incarnation);
}

}  // namespace spindled
