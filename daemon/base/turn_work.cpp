#include "daemon/base/turn_work.h"

namespace spindled {

bool TurnWork::is_over() const { return done_ + owed_ >= max_; }

}  // namespace spindled
