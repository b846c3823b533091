#include "daemon/bulk/relay/bounded_need.h"

#include <span>
#include <vector>

namespace spindled::relay {

using spindle::bulk::BlockSet;
using spindle::bulk::kBlocksMax;
using spindle::bulk::Need;

void bound(Need& need, std::optional<std::uint32_t> blocks) {
  const std::uint32_t end = blocks.value_or(kBlocksMax);
  need.complete.cut(end);
  const std::span<const BlockSet::Run> runs = need.complete.runs();
  if (runs.size() > kRunsMax) need.complete.add_run(runs[kRunsMax].first, end);
  std::erase_if(need.begun,
                [&](const Need::Begun& each) { return each.block >= end || need.complete.contains(each.block); });
}

BlockSet surely_complete(const Need& need) {
  BlockSet complete = need.complete;
  if (complete.runs().size() > kRunsMax) complete.cut(complete.runs().back().first);
  return complete;
}

std::size_t bytes_of(const BlockSet& blocks) { return blocks.runs().size() * sizeof(BlockSet::Run); }

std::size_t bytes_of(const Need& need) { return bytes_of(need.complete) + need.begun.size() * sizeof(Need::Begun); }

}  // namespace spindled::relay
