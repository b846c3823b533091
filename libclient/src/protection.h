// What a client has that protects it: the stream by "tls:", and its token.
#pragma once

#include <memory>
#include <string>

#include "libclient/io/byte_stream.h"
#include "libclient/src/socket.h"
#include "spindle/connection.h"

namespace spindle {

/// On `socket`, which is connected. Null, with the reason in `text`, where the files that `options` name are of no use.
std::unique_ptr<ByteStream> make_protected_stream(int socket, const ConnectOptions& options, std::string& text);

/// The token that a connection to `address` begins with; empty: none. On failure `error` and `text` are set: what was
/// given is no token, or others could read it on its way.
std::string find_token(const ConnectOptions& options, const Address& address, std::error_code& error,
                       std::string& text);

}  // namespace spindle
