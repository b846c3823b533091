// spuser feed and spuser listen
#pragma once

#include "tools/spuser/options.h"
#include "tools/spuser/output.h"
#include "tools/spuser/signals.h"

namespace spuser {

/// Both return once they have done what was asked for; throw Exit otherwise.
void feed(Signals& signals, Output& output, const ConnectionOptions& connection, const FeedCommandOptions& options);
void listen(Signals& signals, Output& output, const ConnectionOptions& connection, const ListenCommandOptions& options);

}  // namespace spuser
