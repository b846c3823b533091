// Makes a failing plan small, so that a person can follow it.
#pragma once

#include <functional>

#include "tests/hunt/plan.h"

namespace spindled::hunt {

struct Shrunk {
  Plan plan;
  std::size_t tries = 0;
};

/// The smallest plan that was found, in at most `tries` tries, to satisfy `still_fails`, which holds for `plan`: steps
/// are left out by halves, quarters, ... (delta debugging), then daemons and clients, then sizes and pauses are
/// reduced, as long as any of it helps.
Shrunk shrink(const Plan& plan, const std::function<bool(const Plan&)>& still_fails, std::size_t tries);

/// `plan` without daemon `host` and the steps that name it; its neighbours are linked instead, so that what was
/// connected stays so. The daemons behind it move up.
Plan without_daemon(const Plan& plan, HostIndex host);

}  // namespace spindled::hunt
