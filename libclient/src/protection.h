// The stream of a client that connects by "tls:".
#pragma once

#include <memory>
#include <string>

#include "libclient/io/byte_stream.h"
#include "spindle/connection.h"

namespace spindle {

/// On `socket`, which is connected. Null, with the reason in `text`, where the files that `options` name are of no use.
std::unique_ptr<ByteStream> make_protected_stream(int socket, const ConnectOptions& options, std::string& text);

}  // namespace spindle
