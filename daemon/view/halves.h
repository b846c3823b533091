// What the two halves of view agreement, the coordinator and the member of one daemon, share.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "daemon/wire/control.h"

namespace spindled {

/// What the coordinator and the member of one daemon say to each other. Taken out in order, after whoever has put
/// something in has returned: both halves see the messages of their own daemon as they see those of others. At most one
/// message waits for each step of a proposal.
using Mailbox = std::deque<ControlMessage>;

// How the log words members, and counts of pushes.

/// "alpha beta gamma".
std::string names_of(const std::vector<DaemonId>& members);

/// "2 messages to alpha, 1 to gamma", or "nothing"; `counts` has one for each member.
std::string pushes_of(const std::vector<DaemonId>& members, const std::vector<std::uint64_t>& counts);

}  // namespace spindled
