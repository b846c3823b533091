// The blocks of a receiver that have begun, within a bound of memory.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "libclient/bulk/bulk_frames.h"
#include "libclient/bulk/receiving_block.h"

namespace spindle::bulk {

struct SymbolLimits {
  /// Repair symbols in memory, in bytes; at least those of one block, and four.
  std::size_t repair_bytes = 64u << 20;
  /// Source symbols in memory, one at least. What is more goes to its place in the content, that of the oldest blocks
  /// first.
  std::size_t source_bytes = 16u << 20;
  /// Whether symbols can be stored. Otherwise source symbols beyond the bound are dropped as repair symbols are, and
  /// the bound is one block at least.
  bool has_store = true;
};

/// Blocks that begin have room for all of themselves, where the bound for source symbols is that of a block at least:
/// one block more than the bound has. So what comes in order is copied once. Others keep symbols one by one.
///
/// Where memory is used up the symbols of the block that has begun last are given up: so the oldest ones get complete,
/// whatever is sent.
class BegunBlocks {
 public:
  enum class Taken : std::uint8_t { useful, duplicate, no_room };

  BegunBlocks(const SymbolLimits& limits, const ContentLayout& layout, std::shared_ptr<BlockMemory> memory);

  using Blocks = std::map<std::uint32_t, ReceivingBlock>;
  const Blocks& blocks() const { return blocks_; }
  /// Nothing where it has not begun.
  const ReceivingBlock* find(std::uint32_t block) const;

  /// Takes a copy of the symbol, which has as many bytes as the layout says; the block begins with it.
  Taken add(const BlockPlace& place, const Symbol& symbol, std::uint32_t from);
  /// Calls `change` with the block, which has begun. Without symbols it has not begun any more.
  template <typename Change>
  auto change(std::uint32_t block, Change&& change) {
    ReceivingBlock& changed = blocks_.at(block);
    uncount(changed);
    auto result = change(changed);
    count(changed);
    if (changed.held() == 0) erase(block);
    return result;
  }
  void erase(std::uint32_t block);

  /// Symbols that are to be stored, if any.
  std::optional<StoreJob> take_store();
  void handle_stored(const StoreJob& job, bool good);
  /// Whether symbols of the block are on their way to their places, or were before it began anew. It is not decoded,
  /// and nothing else is written there, until they have arrived.
  bool is_storing(std::uint32_t block) const { return storing_.contains(block); }

  /// The job of a block that can be decoded.
  DecodeJob decode(std::uint32_t block, std::uint64_t job);

  /// Symbols in memory, those of jobs that store them included and those of jobs that decode them not.
  std::size_t memory_bytes() const { return (source_.symbols + repair_.symbols) * symbol_bytes_ + storing_bytes_; }
  /// How many source symbols can be taken before any job that stores some is over, and none is dropped. Without a store
  /// there is no bound: nothing is gained by waiting.
  std::uint64_t room() const;
  /// That were taken, and then given up for others.
  std::uint64_t given_up() const { return given_up_; }

 private:
  struct Memory {
    std::size_t limit_bytes = 0;
    std::size_t symbols = 0;
    std::map<std::uint64_t, std::uint32_t> blocks;  // that have some, by their order
  };

  void count(const ReceivingBlock& block);
  void uncount(const ReceivingBlock& block);
  /// Whether there is room for a symbol of the block with that order; room is made where it can be.
  bool make_room(Memory& memory, std::uint64_t order);
  bool store_oldest(std::uint64_t but);
  bool give_up_newest(Memory& memory, std::uint64_t order);

  bool has_store_;
  std::size_t symbol_bytes_;
  std::size_t block_bytes_;
  std::shared_ptr<BlockMemory> memory_of_blocks_;
  std::size_t rooms_ = 0, rooms_max_;  // of blocks that have room for all of themselves
  Blocks blocks_;
  std::uint64_t next_order_ = 0;
  Memory source_, repair_;
  std::deque<StoreJob> to_store_;
  std::map<std::uint32_t, std::size_t> storing_;  // jobs of blocks, taken or not
  std::size_t storing_bytes_ = 0;                 // of these, and of jobs that were taken
  std::uint64_t given_up_ = 0;
};

}  // namespace spindle::bulk
