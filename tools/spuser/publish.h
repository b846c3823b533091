// spuser publish
#pragma once

#include "tools/spuser/options.h"
#include "tools/spuser/output.h"
#include "tools/spuser/signals.h"

namespace spuser {

/// Returns once the daemon has taken everything; throws Exit otherwise.
void publish(Signals& signals, Output& output, const ConnectionOptions& connection, const PublishOptions& options);

}  // namespace spuser
