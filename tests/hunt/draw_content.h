// What bulk channels carry, in some of the plans: contents of all sizes, and clients that get and lose them.
#pragma once

#include "tests/hunt/plan.h"

namespace spindled::hunt {

/// Has clients of the plan offer contents and receive them. `end`: of the plan.
void draw_content(Plan& plan, Duration end);

}  // namespace spindled::hunt
