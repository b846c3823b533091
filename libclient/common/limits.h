// Limits that hold for every message, whoever sends it and by whatever way.
#pragma once

#include <cstddef>

namespace spindle {

inline constexpr std::size_t kMessageBytesMax = 16u << 20;
inline constexpr std::size_t kGroupsPerMessageMax = 1000;
/// Payload bytes in one piece of a message, as clients send and receive it and as daemons pass it on.
inline constexpr std::size_t kChunkBytesMax = 32u << 10;

}  // namespace spindle
