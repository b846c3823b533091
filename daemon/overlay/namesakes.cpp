#include "daemon/overlay/namesakes.h"

#include "daemon/overlay/limits.h"

namespace spindled {

void Namesakes::look(Time now, const std::vector<DaemonId>& neighbours) {
  OwnAdvertisement& own = database_.own();
  std::optional<DaemonId> namesake;
  if (database_.knows_namesakes()) {
    namesake = database_.namesake(neighbours);
    if (namesake && !own.stays_out() && *namesake < database_.self()) namesake.reset();
  }
  own.set_stays_out(now, namesake.has_value() || neighbours.empty());
  if (namesake == namesake_) return;
  namesake_ = std::move(namesake);
  due_ = namesake_ ? now + kNamesakeLivenessTimeouts * context_.config.link.liveness_timeout : kNever;
  if (!namesake_) log_.debug("no other daemon named {} is about", database_.self().name);
}

void Namesakes::remind(Time now) {
  due_ = now + kNamesakeReminder;
  context_.counters.add(Counter::name_conflicts);
  log_.error(
      "another daemon is named {} (incarnation {:016x}), and part of the cluster: this one (incarnation {:016x}) stays "
      "alone until that one is gone; give one of them another daemon.name",
      namesake_->name, namesake_->incarnation, database_.self().incarnation);
  database_.own().repeat(now);  // so that the other one hears that this one lives
}

void Namesakes::heard(Time now, const DaemonId& namesake) {
  if (database_.own().stays_out() || now < quiet_until_) return;
  quiet_until_ = now + kNamesakeReminder;
  context_.counters.add(Counter::name_conflicts);
  log_.warning(
      "another daemon is named {} (incarnation {:016x}); it stays alone because of this one (incarnation {:016x}): "
      "give one of them another daemon.name",
      namesake.name, namesake.incarnation, database_.self().incarnation);
}

}  // namespace spindled
