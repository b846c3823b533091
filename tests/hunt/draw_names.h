// What a seed decides about names: clients that want one that is in use, or was.
#pragma once

#include "tests/hunt/plan.h"

namespace spindled::hunt {

/// Adds such clients to a plan that has others; to most plans none. `end`: when the others' doings end.
void draw_names(Plan& plan, Duration end);

}  // namespace spindled::hunt
