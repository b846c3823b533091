// How much a member has of a content, as it tells others.
#pragma once

#include <cstdint>
#include <vector>

#include "libclient/bulk/block_set.h"

namespace spindled::mesh {

/// Blocks from `first` to before `end`.
struct BlockRun {
  std::uint32_t first = 0;
  std::uint32_t end = 0;

  bool operator==(const BlockRun&) const = default;
};

struct BegunBlock {
  std::uint32_t block = 0;
  std::uint32_t held = 0;  // symbols

  bool operator==(const BegunBlock&) const = default;
};

/// What is left out where there is more than fits is not had, as far as others know.
struct Holding {
  static constexpr std::size_t kRunsMax = 8;
  static constexpr std::size_t kBegunMax = 12;

  std::vector<BlockRun> complete;  // in order, apart from each other
  std::vector<BegunBlock> begun;   // in order

  bool operator==(const Holding&) const = default;
  bool is_complete(std::uint32_t block) const;
  /// All that are complete, as a set.
  spindle::bulk::BlockSet complete_blocks() const;
  /// Symbols of a block that is not complete.
  std::uint32_t held(std::uint32_t block) const;
  /// All blocks of which it has anything are below.
  std::uint32_t end() const;
};

}  // namespace spindled::mesh
