// What the coordinator and the member of one daemon say to each other.
#pragma once

#include <deque>

#include "daemon/wire/control.h"

namespace spindled {

/// Taken out in order, after whoever has put something in has returned: both halves see the messages of their own
/// daemon as they see those of others. At most one message waits for each step of a proposal.
using Mailbox = std::deque<ControlMessage>;

}  // namespace spindled
