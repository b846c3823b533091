#include "daemon/bulk/relay/peer_window.h"

namespace spindled {

bool PeerWindow::take(Time now) {
  if (owed_ == 0) return false;
  --owed_;
  lately_ = lately(now) + 1;
  came_at_ = now;
  return true;
}

std::uint64_t PeerWindow::room(Time now, std::uint64_t most) const {
  if (worth_ <= 0) return 0;
  std::uint64_t window = kLeast + static_cast<std::uint64_t>(lately(now));
  if (worth_ < kProved) window = std::min(window, static_cast<std::uint64_t>(worth_));
  window = std::min(window, most);
  return owed_ > window / 2 ? 0 : window - owed_;
}

double PeerWindow::lately(Time now) const {
  const double part = came_at_ ? std::min(to_seconds(now - *came_at_) / to_seconds(reach_), 1.0) : 1.0;
  return (1 - part) * lately_;
}

bool PeerWindow::may_be_tried(Time now) const {
  const bool is_over = !tried_at_ || now - std::max(*tried_at_, came_at_.value_or(*tried_at_)) >= trial();
  return worth_ <= 0 && owed_ < kLeast && is_over;
}

void PeerWindow::grant_trial(Time now) {
  tried_at_ = now;
  owed_ = kLeast;
}

std::uint64_t PeerWindow::on_trial(Time now) const {
  return worth_ <= 0 && tried_at_ && now - *tried_at_ < trial() ? owed_ : 0;
}

}  // namespace spindled
