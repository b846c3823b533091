// What few runs have: see draw_rare.
#pragma once

#include "tests/hunt/plan.h"

namespace spindled::hunt {

/// Adds to a drawn plan, from its seed, what is too dear for every run or would hide the rest: other options of clients
/// and daemons, requests that few programs make, storms, crowds, huge messages, long pauses, imposed partitions, and
/// crashes at a step of a view change. Messages are sent until `end`. The steps need not be in order.
void draw_rare(Plan& plan, Duration end);

}  // namespace spindled::hunt
