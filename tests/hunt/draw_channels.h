// Plans with bulk channels.
#pragma once

#include "tests/hunt/plan.h"

namespace spindled::hunt {

/// Has some of the plan's clients hear of bulk channels, offer contents until `end`, and say what comes of them. What
/// else the plan has stays as it is.
void draw_channels(Plan& plan, Duration end);

}  // namespace spindled::hunt
