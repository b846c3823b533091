// What a person needs to see of a run that has failed.
#pragma once

#include <string>
#include <vector>

#include "tests/hunt/outcome.h"
#include "tests/sim/simulator.h"

namespace spindled::hunt {

/// What the clients that the findings name saw around the messages that they name, then the daemons and the last log
/// lines.
std::string explain(const sim::Simulator& simulator, const std::vector<Finding>& findings);

/// One line.
std::string to_text(const checkers::Event& event);

}  // namespace spindled::hunt
