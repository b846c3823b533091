// spuser subscribe
#pragma once

#include "tools/spuser/options.h"
#include "tools/spuser/output.h"
#include "tools/spuser/signals.h"

namespace spuser {

/// Returns once it has printed what was asked for; throws Exit otherwise.
void subscribe(Signals& signals, Output& output, const ConnectionOptions& connection, const SubscribeOptions& options);

}  // namespace spuser
