// What a seed decides about clients that send much and get much at one time.
#pragma once

#include "tests/hunt/plan.h"

namespace spindled::hunt {

/// Adds to some plans clients that come back and send each other more than their daemons write to one that has not said
/// what it has got. Not where there are rules, as no clients come back there. `end`: when the others' doings end.
void draw_exchanges(Plan& plan, Duration end);

}  // namespace spindled::hunt
