#include "daemon/admission/admission.h"

namespace spindled {

bool Admission::may_enter(DestinationSet& to) const {
  if (!groups_.is_ready() || retention_full_) return false;
  if (order_.unstable_bytes() >= config_.session.send_window_bytes) return false;
  groups_.resolve(to);
  return !to.daemons.intersects(order_.congested());
}

}  // namespace spindled
