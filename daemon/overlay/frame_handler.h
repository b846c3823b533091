// Whom frames go up to.
#pragma once

#include <functional>

#include "daemon/base/slab.h"
#include "daemon/base/time.h"
#include "daemon/link/link_id.h"

namespace spindled {

/// Takes the content of a frame that came over the link; of one that reaches a view, without the members in front of
/// it. False where it is malformed: the link is closed then.
using FrameHandler = std::function<bool(Time now, LinkId from, Slice content)>;

}  // namespace spindled
