// The frames on an administration connection: a request, its reply, and so on, or an error that ends it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "daemon/base/time.h"
#include "libclient/common/framing.h"

namespace spindled {

enum class AdminFrame : std::uint8_t {
  request = 1,  // a spindle.admin.Request, to the daemon
  reply = 2,    // a spindle.admin.Reply, from it
  error = 3,    // from the daemon, its last frame: u16 code (an Errc), and text to the end of the frame
};

inline constexpr std::size_t kAdminRequestBytesMax = 64u << 10;
/// Longer lists are cut off, and say so. What is asked for next continues them.
inline constexpr std::size_t kAdminReplyBytesMax = 4u << 20;
static_assert(kAdminReplyBytesMax <= spindle::kFrameLengthMax);

/// Items of a list in one reply, where the request does not say, and at most.
inline constexpr std::size_t kAdminPageDefault = 1'000;
inline constexpr std::size_t kAdminPageMax = 10'000;

/// How long an imposed partition lasts where the request does not say.
inline constexpr std::uint64_t kPartitionMillisecondsDefault = 60'000;

inline constexpr std::size_t kAdminConnectionsMax = 64;
/// For the whole of a request to arrive, from the first byte or from the beginning of the connection; and for the
/// reply to be taken.
inline constexpr Duration kAdminPatience = 10s;
/// Between requests.
inline constexpr Duration kAdminIdle = 60s;

}  // namespace spindled
