// Plans as text, one line a step: docs/simulator.md has the format.
#pragma once

#include <string>
#include <string_view>

#include "tests/hunt/plan.h"
#include "tl/expected.hpp"

namespace spindled::hunt {

std::string to_text(const Plan& plan);
std::string to_text(const Step& step);

/// The plan, or what is wrong with the text and in which line. What `to_text` writes gives the same plan again.
tl::expected<Plan, std::string> parse_plan(std::string_view text);

}  // namespace spindled::hunt
