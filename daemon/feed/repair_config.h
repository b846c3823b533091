// What can be set of the repair of feeds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "daemon/base/node_config.h"
#include "daemon/base/time.h"

namespace spindled {

struct RepairConfig {
  FeedCache cache = FeedCache::all;
  std::size_t cache_bytes = 64u << 20;
  /// The longest that the cluster's daemons send.
  std::size_t datagram_bytes = 1400;
  /// Later packets after which a gap counts (Gaps). Paths that disorder nothing can do with one.
  unsigned later_packets = 3;
  /// Whether relays go by what they know of losses, to say who is affected and to choose repliers (NakRules). Without
  /// it they are those of the paper, with static repliers.
  bool steer_by_losses = true;
};

/// Feeds that a daemon knows of at a time.
inline constexpr std::size_t kFeedsMax = 4'096;
/// A feed of which nothing has come for so long is forgotten.
inline constexpr Duration kFeedSilence = 10s;
/// Frames of the view before are handled for so long.
inline constexpr Duration kFormerViewFor = 1s;

}  // namespace spindled
