// How the log of a view change words members, transitions and counts of pushes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/wire/control.h"

namespace spindled {

/// "alpha beta gamma".
std::string names_of(const std::vector<DaemonId>& members);

/// Which members come from which old view: "alpha beta from 3@alpha, gamma from 2@gamma".
std::string origins_of(const Commit& commit);

/// "2 messages to alpha, 1 to gamma", or "nothing"; `counts` has one for each member.
std::string pushes_of(const std::vector<DaemonId>& members, const std::vector<std::uint64_t>& counts);

}  // namespace spindled
