// Every bound of the datagram channels of links.
#pragma once

#include <cstddef>

#include "daemon/base/datagram.h"
#include "daemon/base/time.h"
#include "daemon/wire/datagram_envelope.h"

namespace spindled {

/// How often a question is asked while there is something to send, or while the way is tried.
inline constexpr Duration kProbeInterval = 250ms;
/// So long after the last frame questions are asked.
inline constexpr Duration kProbeActiveTime = 10s;
/// So many questions in a row without an answer, and the connection of the link is used instead.
inline constexpr int kProbesLostMax = 3;
/// So many questions are asked until the way counts as closed, and how long it takes until it is tried again.
inline constexpr int kProbeTries = 8;
inline constexpr Duration kProbeRetry = 60s;
/// So long the last answer says that the way is open.
inline constexpr Duration kAnswerValid = 60s;
/// How long an answer may take before the round trip is known; after that twice the round trip, and kProbeInterval at
/// least.
inline constexpr Duration kProbePatience = 1s;

/// Frames that wait for the end of the turn on one link, in bytes.
inline constexpr std::size_t kDatagramTurnBytesMax = 1u << 20;
/// Ordered frames that wait on the connection of a link, in bytes, beyond which it takes no frames of feeds.
inline constexpr std::size_t kFallbackQueueBytesMax = 256u << 10;

/// What one datagram has for frames, with their heads.
constexpr std::size_t datagram_room(std::size_t datagram_bytes) {
  return datagram_bytes - kDatagramHeadBytes - DatagramCipher::kTagBytes;
}

}  // namespace spindled
