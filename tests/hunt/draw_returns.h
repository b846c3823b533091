// What a seed decides about connections of clients that break: who comes back, and where to.
#pragma once

#include "tests/hunt/plan.h"

namespace spindled::hunt {

/// Has clients of some plans come back, and breaks their connections. Plans with rules have none: what rules say of one
/// who is away is checked elsewhere (tests/unit/session_resumption_test.cpp). `end`: when the others' doings end.
void draw_returns(Plan& plan, Duration end);

}  // namespace spindled::hunt
