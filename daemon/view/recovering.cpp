#include "daemon/view/recovering.h"

namespace spindled {

bool Recovering::expect(const Counts& counts) {
  if (expected_ || counts.pushed_to.size() != view_.size()) return false;
  expected_ = counts.pushed_to[view_.self];
  return true;
}

bool Recovering::is_complete() const { return expected_ ? received_ >= *expected_ : received_ == 0; }

bool Recovering::take_completion() { return expected_ && is_complete() && !std::exchange(completed_, true); }

}  // namespace spindled
