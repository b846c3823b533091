// What two daemons must agree on before a link between them is used.
#pragma once

#include "daemon/base/node_config.h"
#include "daemon/base/result.h"
#include "daemon/wire/control.h"

namespace spindled {

/// A digest of everything that two daemons of one cluster must have in common beside the protocol version: the limits
/// compiled into them, which one would exceed and the other enforce, and the number that counting starts at. FNV-1a
/// over the values as little-endian 64-bit words, in the order of the function body.
std::uint64_t settings_digest(const NodeConfig& config);

/// What this daemon says of itself.
LinkHello make_hello(const NodeConfig& config);

/// Nothing where the two fit together, else why not. Symmetric: both sides find the same code and the same text.
Result<void> check_hello(const LinkHello& own, const LinkHello& peer);

/// Whether who has proved to be `identity`, such as "daemon:beta", may call itself by the name `daemon`. On links that
/// nothing protects nobody has proved anything, and everybody may.
Result<void> check_identity(std::string_view identity, std::string_view daemon);

}  // namespace spindled
