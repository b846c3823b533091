// The sending side of a channel at a client that has content: the source, or a receiver with complete blocks.
//
// It sends streams, each one paid by grants of its daemon. The source has a live stream: every source symbol of every
// block once, in order, as content gets there, but for blocks that all who are there have had from the beginning. Each
// child that is behind has a stream of its own (child_stream.h).
//
// What comes in is given to `handle_...`; after that `take_job`, `take_index` and `next_symbol` are asked until they
// give nothing. One thread at a time uses it; jobs run anywhere. Content is in memory for as many blocks as it may
// keep.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "libclient/bulk/block_cache.h"
#include "libclient/bulk/bulk_frames.h"
#include "libclient/bulk/child_stream.h"
#include "libclient/bulk/repair_ids.h"

namespace spindle::bulk {

struct HolderLimits {
  /// Blocks that are in memory, each with its content and, once repair symbols are wanted, an encoder of a like size.
  std::size_t blocks_in_memory = 4;
};

struct HolderCounters {
  std::uint64_t source = 0, repair = 0;  // symbols sent
  std::uint64_t bad = 0;                 // blocks that could not be read, or were not what they had been
  std::uint64_t refused = 0;             // needs that would take too much memory
};

class BulkHolder {
 public:
  enum class Kind : std::uint8_t {
    source,    // has a live stream, and makes the index
    receiver,  // serves others
  };

  BulkHolder(Kind kind, const ContentLayout& layout, const RepairIds& repair_ids, const HolderLimits& limits = {},
             std::shared_ptr<BlockMemory> memory = std::make_shared<HeapMemory>());

  /// Blocks that can be sent: of a source, those whose content is there for good; of a receiver, those that are
  /// written. A stream without a size has whole blocks only.
  void handle_available(const BlockSet& blocks);
  /// Of a receiver: blocks that are loaded have to have these hashes, which outlive the holder. What went bad on the
  /// disk is not given.
  void set_hashes(const BlockIndex& right) { right_ = &right; }
  /// Of a source, before anything else: hashes from a former time. What is loaded has to have them, as those that it
  /// was found to have before.
  void handle_known(BlockIndex known);
  /// The size is known. False where so much does not fit the layout.
  [[nodiscard]] bool handle_seal(std::uint64_t size);

  /// The connection is a new one: what was told and granted on a former one counts no more. What was sent live there
  /// and may be lost comes in streams.
  void handle_attached();
  void handle_grant(std::uint8_t stream, std::uint64_t symbols);
  /// The stream is for that need, and begins anew; grants come behind it. Of the live stream, which goes on where it
  /// is: it passes over what is complete.
  void handle_need(std::uint8_t stream, const Need& need);
  void handle_release(std::uint8_t stream);
  /// The daemon lacks the index: a source tells all of it again.
  void handle_index_asked() { told_.clear(); }

  /// What is to be loaded. Jobs may run at the same time, in any order; each is reported once.
  std::optional<LoadJob> take_job();
  /// Of a source, what is to be loaded for its hash alone: a block that was passed over, or with `is_idle` the first
  /// one that is not hashed. So many of these jobs are under way at a time.
  std::optional<LoadJob> take_hash_job(bool is_idle);
  std::size_t hash_jobs() const { return hashing_.size(); }
  static constexpr std::size_t kHashJobsMax = 2;
  /// A block that could not be read, or has the wrong hash, is not available any more.
  void handle_loaded(LoadedBlock block);
  /// Such blocks, each once: their owner is to get them again.
  std::optional<std::uint32_t> take_bad();

  /// Hashes that the source has not told yet, in order. Told before symbols are taken, those of a block come before it.
  /// They refer to the holder, until it is called again.
  std::optional<IndexPart> take_index();
  /// What is to be sent next, if anything can be. The number and the generation are for the caller to fill in; the
  /// bytes stay where they are until the holder is called again.
  std::optional<Symbol> next_symbol();
  /// A stream whose need is fulfilled as far as it can be; the live stream, where it has come to the end of content.
  /// Each once: the daemon is told, and the stream is forgotten.
  std::optional<std::uint8_t> take_finished();

  /// Whether every block has been sent live, to the end of content that is sealed. A receiver sends none.
  bool is_live_over() const {
    return kind_ == Kind::receiver || (layout_.has_size() && live_.block >= layout_.blocks());
  }
  const ContentLayout& layout() const { return layout_; }
  /// Symbols that were sent live, or passed over, in bytes: the last one may be filled up.
  std::uint64_t live_bytes() const {
    return live_.block * std::uint64_t{layout_.block_bytes} + live_.esi * std::uint64_t{layout_.symbol_bytes};
  }
  /// What of that was passed over.
  std::uint64_t passed_over_bytes() const { return live_.passed_over * std::uint64_t{layout_.block_bytes}; }
  /// Whether a child that is behind lacks the block.
  bool is_lacking(std::uint32_t block) const;
  /// Of a source: the hashes of blocks that have been loaded so far.
  const BlockIndex& index() const { return index_; }
  const HolderCounters& counters() const { return counters_; }
  std::size_t streams() const { return children_.size(); }

 private:
  struct Live {
    std::uint32_t block = 0, esi = 0;
    std::uint32_t passed_over = 0;  // blocks
    std::uint64_t credit = 0;
    bool is_told_over = false;
  };

  using Wish = ChildStream::Wish;
  std::optional<Wish> wish_of(std::uint8_t stream);
  std::optional<Symbol> try_stream(std::uint8_t stream);
  /// Streams of children have blocks below it: what is still to be sent live comes to them anyhow.
  std::uint32_t end_of_streams() const { return kind_ == Kind::source ? live_.block : kBlocksMax; }
  bool is_wanted(std::uint32_t block);
  void note_sent_live(const Wish& wish);
  void pass_over();
  void note_sent(std::uint8_t stream, const Wish& wish);
  void prefetch(const std::optional<Wish>& wish);

  Kind kind_;
  ContentLayout layout_;
  RepairIds repair_ids_;
  BlockSet available_;
  BlockCache cache_;
  Live live_;
  BlockSet unwanted_;  // of the live stream
  std::map<std::uint8_t, ChildStream> children_;
  std::uint8_t last_ = 0;  // the stream that was served last
  BlockIndex index_;
  BlockSet told_;                    // of the index
  std::set<std::uint32_t> hashing_;  // that are loaded for their hashes alone
  const BlockIndex* right_ = nullptr;
  BlockSet bad_;  // not taken yet
  // What the last symbol refers to.
  std::shared_ptr<const std::uint8_t[]> content_;
  std::vector<std::uint8_t> repair_symbol_;
  HolderCounters counters_;
};

}  // namespace spindle::bulk
