// What to say to who opened a connection at the wrong one of a daemon's addresses, in the protocol that the other side
// speaks: otherwise it gets bytes that it cannot read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/driver.h"

namespace spindled {

/// The port that `bytes`, the first of a connection, were meant for; nothing where they begin with no whole first frame
/// of any protocol.
std::optional<Port> find_meant_port(ByteView bytes);

/// "daemon alpha takes clients here (...), and ..."
std::string explain_wrong_port(std::string_view daemon, Port here, Port meant);

/// The frame by which a connection of the protocol of `port` ends.
std::vector<std::uint8_t> encode_refusal(Port port, std::string_view text);

}  // namespace spindled
