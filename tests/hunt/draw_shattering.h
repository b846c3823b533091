// Meshes that break at once in many places: see draw_shattering.
#pragma once

#include "tests/hunt/plan.h"

namespace spindled::hunt {

/// Makes of a drawn plan, from its seed, one of a mesh with ways of very different length, in which daemons end and
/// sides part in the middle of volleys of messages, and clients answer what they get: what is lost then, others may
/// already depend on. Keeps the daemons, up to a dozen, their configuration and when they start. Messages are sent
/// until `end`. The steps need not be in order.
void draw_shattering(Plan& plan, Duration end);

}  // namespace spindled::hunt
