// How the intermediate symbols of a block come out of the encoding symbols that are there (RFC 6330, section 5.4.2).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libclient/codes/raptorq_block.h"
#include "libclient/codes/row_schedule.h"

namespace spindle::codes {

/// The inputs of the schedule are the encoding symbols, in the order in which they were given.
struct Solution {
  RowSchedule schedule;
  std::vector<RowSchedule::Row> slots;  // of each intermediate symbol
  std::size_t inactive = 0;             // symbols that were solved for as dense equations
};

/// Nothing where these encoding symbols, by their ISIs, each once, do not determine the block: further ones may.
std::optional<Solution> solve(const BlockCode& code, std::span<const std::uint32_t> isis);

}  // namespace spindle::codes
