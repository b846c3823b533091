#include "daemon/base/turn_work.h"

#include "daemon/base/broken.h"

namespace spindled {

bool TurnWork::ends() { return !broken(Broken::turn_without_end); }

}  // namespace spindled
