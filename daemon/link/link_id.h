// Names a link within this node.
#pragma once

#include <cstdint>

namespace spindled {

/// A slot in the table of links. It stays the same while the link is up and may be used again afterwards.
enum class LinkId : std::uint16_t {};

}  // namespace spindled
