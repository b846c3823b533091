#include "daemon/view/recovering.h"

namespace spindled {

bool Recovering::expect(const Install& install) {
  if (expected_ || install.pushed_to.size() != view_.size()) return false;
  expected_ = install.pushed_to[view_.self];
  return true;
}

}  // namespace spindled
