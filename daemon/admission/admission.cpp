#include "daemon/admission/admission.h"

namespace spindled {

bool Admission::has_room() const {
  return groups_.is_ready() && !retention_full_ && order_.unstable_bytes() < config_.session.send_window_bytes;
}

bool Admission::may_enter(DestinationSet& to) const {
  if (!has_room()) return false;
  groups_.resolve(to);
  return !to.daemons.intersects(order_.congested());
}

}  // namespace spindled
