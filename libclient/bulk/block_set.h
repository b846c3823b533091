// A set of blocks of a channel, kept as runs of neighbours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libclient/bulk/content_layout.h"
#include "libclient/common/bytes.h"

namespace spindle::bulk {

/// Block numbers below kBlocksMax. What is received in order takes one run however much it is; the most there can be
/// are 32,768 runs. Searching takes the logarithm of the runs, adding moves the runs behind.
class BlockSet {
 public:
  /// The blocks from `first` to below `end`; never empty.
  struct Run {
    std::uint32_t first = 0, end = 0;
    bool operator==(const Run&) const = default;
  };

  BlockSet() = default;
  /// All blocks from 0 to below `count`.
  static BlockSet of_first(std::uint32_t count);

  /// Blocks from kBlocksMax on are left out, here and in `add_run`. False where it was there.
  bool add(std::uint32_t block);
  void add_run(std::uint32_t first, std::uint32_t end);
  void remove(std::uint32_t block);
  /// Removes all blocks from this one on.
  void cut(std::uint32_t end);
  void clear();

  bool contains(std::uint32_t block) const;
  bool empty() const { return runs_.empty(); }
  std::uint32_t count() const { return count_; }
  /// The first block from `from` on that is not in the set: `from` itself, or the end of its run.
  std::uint32_t first_missing(std::uint32_t from = 0) const;
  /// The first block from `from` on that is in the set; kBlocksMax where there is none.
  std::uint32_t first_present(std::uint32_t from = 0) const;
  /// In ascending order; between two there is a block that is missing.
  std::span<const Run> runs() const { return runs_; }

  bool operator==(const BlockSet&) const = default;

 private:
  std::vector<Run> runs_;
  std::uint32_t count_ = 0;
};

BlockSet intersection(const BlockSet& a, const BlockSet& b);
BlockSet united(const BlockSet& a, const BlockSet& b);
/// What is in `a` and not in `b`.
BlockSet difference(const BlockSet& a, const BlockSet& b);
/// Whether there is a block below this one, and not below `from`, that is in `a` and not in `b`.
bool has_more(const BlockSet& a, const BlockSet& b, std::uint32_t below, std::uint32_t from = 0);

/// As in `need`: a varint with how many runs there are; of each a varint with how many blocks are missing before it,
/// and one with its length.
std::size_t block_set_size(const BlockSet& set);
void write_block_set(Writer& writer, const BlockSet& set);
/// The reader fails where a run is empty, begins where the former ends, or goes beyond kBlocksMax.
BlockSet read_block_set(Reader& reader);

}  // namespace spindle::bulk
