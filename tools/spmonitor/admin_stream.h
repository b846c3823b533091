// The ways to a daemon's administration: its socket on this host, and TLS.
#pragma once

#include <memory>
#include <string>

#include "libclient/io/byte_stream.h"
#include "libclient/src/socket.h"
#include "tools/spmonitor/result.h"

namespace spmonitor {

/// Which daemon, and by which way.
struct Target {
  std::string socket_path;  // empty: where a daemon of this host has it; then it has to be root's, or of the own user
  std::string address;      // "tls:host:port", where it listens for administration; empty: the socket
  std::string bundle;       // of an operator, for an address
  std::string revocation_lists;  // likewise, a file of certificates that are revoked; empty: none
};

struct AdminStream {
  std::string where;  // for people to read
  spindle::Descriptor socket;
  std::unique_ptr<spindle::ByteStream> stream;  // on it; by TLS not yet established
};

/// What is wrong with Target::address; empty where nothing is.
std::string wrong_admin_address(const std::string& address);

/// Connects, at an address until `deadline`.
Result<AdminStream> open_admin_stream(const Target& target, spindle::Deadline deadline);

}  // namespace spmonitor
