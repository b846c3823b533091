// The blocks that a holder has in memory while it sends symbols of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "libclient/bulk/block_jobs.h"

namespace spindle::bulk {

/// Gets a block, for whoever runs it: a file, and the encoder.
struct LoadJob {
  std::uint64_t number = 0;
  BlockPlace place;
  std::shared_ptr<const std::uint8_t[]>
      content;  // all source symbols, the last one filled up; nothing: it is to be read
  bool wants_hash = false;
  bool wants_encoder = false;
  std::shared_ptr<BlockMemory> memory;  // for content that is to be read
  std::optional<BlockHash> right{};     // what is read has to have this hash; nothing: any
};

struct LoadedBlock {
  LoadJob job;                      // with the content
  bool good = false;                // otherwise it could not be read, or has the wrong hash
  BlockHash hash{};                 // where it is wanted
  std::vector<std::uint32_t> crcs;  // of its source symbols, where the content was read
  std::unique_ptr<codes::ErasureEncoder> encoder;
};

/// Does the job, on any thread.
LoadedBlock run(LoadJob job, const ReadContent& read, const codes::ErasureCode& code, const Hasher& hasher);

/// Blocks that were used longest ago make room for others; but a block that somebody could use now gives some symbols
/// first, so that many who want different ones take turns and do not have everything loaded for each symbol.
class BlockCache {
 public:
  /// `blocks`: so many are in memory at most, at least 1.
  BlockCache(std::size_t blocks, std::shared_ptr<BlockMemory> memory)
      : limit_(blocks == 0 ? 1 : blocks), memory_(std::move(memory)) {}

  struct Entry {
    std::shared_ptr<const std::uint8_t[]> content;
    std::vector<std::uint32_t> crcs;  // of its symbols
    std::unique_ptr<codes::ErasureEncoder> encoder;
    BlockPlace place;
    std::uint64_t job = 0;  // that gets what is missing; 0: none does
    bool is_job_taken = false;
    bool wants_encoder = false;
    std::uint32_t uses = 0;      // symbols that it has given
    std::uint64_t last_use = 0;  // of all uses of blocks
  };

  /// Whether somebody who may send wants it now.
  using IsWanted = std::function<bool(std::uint32_t block)>;

  /// The block, where what is asked for is there. Otherwise it is loaded, where room can be made for it.
  const Entry* get(const BlockPlace& place, bool encoder, const IsWanted& is_wanted);
  /// Loads the block where there is room, or one that nobody wants.
  void prefetch(const BlockPlace& place, bool encoder, const IsWanted& is_wanted);
  /// The block has given a symbol.
  void note_used(std::uint32_t block);

  std::optional<LoadJob> take_job();
  /// Nothing becomes of one that nobody waits for any more.
  void handle_loaded(LoadedBlock& block);

  std::size_t size() const { return entries_.size(); }
  /// For content that is to be read.
  const std::shared_ptr<BlockMemory>& memory() const { return memory_; }

 private:
  bool make_room(const IsWanted& is_wanted, std::uint32_t uses_min);
  const Entry* get(const BlockPlace& place, bool encoder, const IsWanted& is_wanted, std::uint32_t uses_min);

  std::size_t limit_;
  std::shared_ptr<BlockMemory> memory_;
  std::map<std::uint32_t, Entry> entries_;
  std::uint64_t uses_ = 0;
  std::uint64_t next_job_ = 1;
};

}  // namespace spindle::bulk
