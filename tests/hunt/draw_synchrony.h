// Synchronous groups, and clients that flush them at once, late or never.
#pragma once

#include "tests/hunt/plan.h"

namespace spindled::hunt {

/// Has some of the groups be synchronous, in some of the plans.
void draw_synchrony(Plan& plan);

}  // namespace spindled::hunt
