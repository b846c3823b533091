// spuser send-file and receive-file
#pragma once

#include "tools/spuser/options.h"
#include "tools/spuser/output.h"
#include "tools/spuser/signals.h"

namespace spuser {

/// Both return once they have done what was asked for; they throw Exit otherwise.
void send_file(Signals& signals, Output& output, const ConnectionOptions& connection, const SendFileOptions& options);
void receive_file(Signals& signals, Output& output, const ConnectionOptions& connection,
                  const ReceiveFileOptions& options);

}  // namespace spuser
