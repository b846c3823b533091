// spuser at a prompt.
#pragma once

#include "tools/spuser/options.h"
#include "tools/spuser/output.h"
#include "tools/spuser/signals.h"

namespace spuser {

/// Obeys the commands on standard input to its end; throws Exit where it cannot.
void interact(Signals& signals, Output& output, const ConnectionOptions& connection);

}  // namespace spuser
