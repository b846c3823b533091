// Plans with feeds.
#pragma once

#include "tests/hunt/plan.h"

namespace spindled::hunt {

/// Has some of the plan's clients listen to groups and send feeds until `end`, over datagrams that may be lost, or that
/// do not get through. What else the plan has stays as it is.
void draw_feeds(Plan& plan, Duration end);

}  // namespace spindled::hunt
