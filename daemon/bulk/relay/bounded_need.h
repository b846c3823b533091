// How much a relay keeps of what somebody says that he has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "libclient/bulk/need.h"

namespace spindled::relay {

/// A need may say 32,768 runs of complete blocks, whatever the content has. Many such would be dear to keep, and dearer
/// to merge with those of others each time. So of more runs than these nobody looks at those behind: from the first of
/// them on all counts as complete. What is lacking before that comes first in any case, and makes several runs one; a
/// need that shows then what was lacking further on is that of one who has missed it.
inline constexpr std::size_t kRunsMax = 1'024;

/// `blocks`: those of the content, where that is known.
void bound(spindle::bulk::Need& need, std::optional<std::uint32_t> blocks);

/// What it says to have complete, of one that is bounded: not what only counts as that.
spindle::bulk::BlockSet surely_complete(const spindle::bulk::Need& need);

/// What it takes, about.
std::size_t bytes_of(const spindle::bulk::BlockSet& blocks);
std::size_t bytes_of(const spindle::bulk::Need& need);

}  // namespace spindled::relay
