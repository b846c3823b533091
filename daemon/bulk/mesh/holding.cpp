#include "daemon/bulk/mesh/holding.h"

#include <algorithm>

namespace spindled::mesh {

bool Holding::is_complete(std::uint32_t block) const {
  return std::any_of(complete.begin(), complete.end(),
                     [&](const BlockRun& run) { return block >= run.first && block < run.end; });
}

spindle::bulk::BlockSet Holding::complete_blocks() const {
  spindle::bulk::BlockSet blocks;
  for (const BlockRun& run : complete) blocks.add_run(run.first, run.end);
  return blocks;
}

std::uint32_t Holding::held(std::uint32_t block) const {
  const auto found =
      std::find_if(begun.begin(), begun.end(), [&](const BegunBlock& each) { return each.block == block; });
  return found == begun.end() ? 0 : found->held;
}

std::uint32_t Holding::end() const {
  std::uint32_t end = 0;
  for (const BlockRun& run : complete) end = std::max(end, run.end);
  for (const BegunBlock& each : begun) end = std::max(end, each.block + 1);
  return end;
}

}  // namespace spindled::mesh
