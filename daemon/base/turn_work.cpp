#include "daemon/base/turn_work.h"

#include "daemon/base/broken.h"

namespace spindled {

bool TurnWork::is_over() const { return done_ >= max_ && !broken(Broken::turn_without_end); }

}  // namespace spindled
