// What a seed decides about access: who clients are, what they may do, and when that changes.
#pragma once

#include "tests/hunt/plan.h"

namespace spindled::hunt {

/// Adds identities, rules, reserved names and quotas to some plans, and has daemons read other ones while they run: all
/// of them within a while, or some of them later or never. `end`: when the clients' doings end.
void draw_rules(Plan& plan, Duration end);

}  // namespace spindled::hunt
