#include "daemon/view/recovering.h"

namespace spindled {

bool Recovering::expect(const Counts& counts) {
  if (expected_ || counts.pushed_to.size() != view_.size()) return false;
  expected_ = counts.pushed_to[view_.self];
  return true;
}

}  // namespace spindled
