// What the overlay bounds, and by how much.
#pragma once

#include <cstddef>

#include "daemon/base/member_set.h"
#include "daemon/base/time.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

/// Queued data bytes beyond which a link gets no unreliable messages.
inline constexpr std::size_t kUnreliableQueueBytes = 256u << 10;

/// Daemons that the link-state database knows of: those of one view, and as many that are gone and have not aged out.
inline constexpr std::size_t kLinkStatesMax = 2 * kMembersMax;

/// Lives of one name in the link-state database, this daemon's own aside.
inline constexpr std::size_t kLivesMax = 4;

/// A daemon that stays out because of another of its name says so in the log once it has done so for as many liveness
/// timeouts, for until then the other may be a life of its own that is not known to be gone; and again after so long.
inline constexpr int kNamesakeLivenessTimeouts = 2;
inline constexpr Duration kNamesakeReminder = 60s;

/// A daemon advertises its links at most this often; what changes meanwhile goes into one advertisement.
inline constexpr Duration kAdvertisementSpacing = 20ms;

/// How far the sequence number of a daemon can have come since it was last heard of. It grows by one an advertisement.
inline constexpr std::uint64_t kSequenceJumpMax = std::uint64_t{1} << 32;

/// An advertisement that was not repeated for so many refresh intervals is forgotten.
inline constexpr int kRefreshesMissedMax = 3;

}  // namespace spindled
