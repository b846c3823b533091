// The receiving side of a channel at a client.
//
// A block goes through these states:
//
//   empty       nothing of it is there
//   collecting  some symbols are (begun_blocks.h)
//   decodable   as many as it has source symbols
//   decoding    a job puts it together and hashes it
//   verified    its hash is that of the index; it is told to be complete
//   written     it is at its place in the content
//
// A wrong hash leads to empty again. The content is done when it is sealed, all blocks are written, and the root of
// their hashes is the one of the seal.
//
// What comes in is given to `handle_...`, each time with the time; after that `take_job` and `take_need` are asked
// until they give nothing. One thread at a time uses it. Whatever comes in, it costs no more than the bounds say and is
// counted (`counters`).
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "libclient/bulk/begun_blocks.h"
#include "libclient/bulk/need_schedule.h"
#include "libclient/bulk/rate_meter.h"
#include "libclient/bulk/resume_state.h"

namespace spindle::bulk {

struct ReceiverLimits {
  SymbolLimits symbols;
  /// Blocks that are decoded or written at a time. Each takes the memory of its symbols and of its content.
  std::uint32_t blocks_in_jobs = 2;
};

/// What became of a symbol.
enum class SymbolUse : std::uint8_t {
  useful,
  duplicate,  // the symbol is held, or its block complete
  no_room,    // memory is used up by blocks that have begun before
  corrupt,    // not what its maker has sent, by its CRC
  foreign,    // not of this content, by its block or size
};

struct ReceiverCounters {
  std::uint64_t useful = 0, duplicate = 0, no_room = 0, corrupt = 0, foreign = 0;  // symbols
  std::uint64_t given_up = 0;        // symbols that were useful, and then dropped for others
  std::uint64_t failed_decodes = 0;  // blocks that took more symbols
  std::uint64_t wrong_blocks = 0;    // by their hashes
  std::uint64_t failed_stores = 0;   // jobs that could not read or write
  std::uint64_t changed_hashes = 0;  // of an index that says something else than before
  std::uint64_t wrong_indexes = 0;   // by the root; another one was asked for each time
  std::uint64_t taken_back = 0;      // blocks that were written, and then were missing again
};

/// A block that was wrong, though the CRC of each symbol was right.
struct WrongBlock {
  std::uint32_t block = 0;
  std::vector<std::uint32_t> senders;  // whose symbols it had: some of them at least
};

struct ReceiverProgress {
  std::uint32_t blocks_written = 0;
  std::uint64_t bytes_verified = 0;
  std::uint64_t size = kSizeUnknown;
  std::uint64_t bytes_per_second = 0;  // of symbols that were useful
};

class BulkReceiver {
 public:
  /// `layout`: a valid one. `hasher` must outlive it. `resumed`: what a former receiver of the same content had
  /// written; one that does not fit the layout is left aside. Without a size the content may be another one, whose
  /// source keeps nothing that all say to have: such a block is complete once the hash that is told of it says so.
  BulkReceiver(const ContentLayout& layout, const Hasher& hasher, const ReceiverLimits& limits = {},
               const ResumeState* resumed = nullptr,
               std::shared_ptr<BlockMemory> memory = std::make_shared<HeapMemory>());

  /// `from`: the neighbour, or stream, that the symbol came from, by any number that the caller gives it.
  SymbolUse handle_symbol(Nanoseconds now, const Symbol& symbol, std::uint32_t from);
  void handle_index(Nanoseconds now, const IndexPart& index);
  /// Its daemon lacks the index: what is known here, proved by the root, is told from the first block on.
  void handle_index_asked();
  /// All that was sent before it has been handled, and the next need, which is due at once, says so.
  void handle_mark(std::uint64_t mark);
  /// The connection is a new one, on which marks count from 1 again.
  void handle_attached();
  /// The content is complete at its source. False where that cannot be: so much does not fit the layout, or it was
  /// sealed otherwise.
  [[nodiscard]] bool handle_seal(Nanoseconds now, std::uint64_t size, const BlockHash& root);

  /// Jobs may run at the same time, in any order; each is reported once.
  std::optional<ReceiverJob> take_job();
  void handle_stored(Nanoseconds now, StoreJob job, bool good);
  void handle_decoded(Nanoseconds now, DecodedBlock block);
  /// Not `good`: the block is fetched again.
  void handle_written(Nanoseconds now, std::uint64_t job, std::uint32_t block, bool good);
  /// A block that was written is not what it was: it is fetched again, and the content is not done any more.
  void handle_bad(std::uint32_t block);
  /// Nothing is there any more of what was written: all is fetched again.
  void handle_all_lost();

  /// What is to be told now, if anything.
  std::optional<Need> take_need(Nanoseconds now);
  /// When `take_need` has something next; nothing: not before something happens.
  std::optional<Nanoseconds> need_due() const { return schedule_.due(); }
  /// Hashes that its daemon has asked for, and has not been told. They refer to the receiver, until it is called again.
  std::optional<IndexPart> take_index();
  /// Whether the daemon is to be asked for the index now: the one that it has told was wrong.
  bool take_index_wish(Nanoseconds now);
  /// Whether it says that it can give complete blocks, and the index.
  void set_serves(bool serves);

  bool is_done() const { return is_done_; }
  /// Whether something is missing that the source has told of.
  bool lacks_something() const;
  const ContentLayout& layout() const { return layout_; }
  /// Blocks that are right, and those of them that are at their places.
  const BlockSet& complete() const { return complete_; }
  const BlockSet& written() const { return written_; }
  /// The hashes of complete blocks.
  const BlockIndex& hashes() const { return computed_; }
  /// What a later receiver of this content goes on with.
  ResumeState resume_state() const;
  ReceiverProgress progress(Nanoseconds now);
  ReceiverCounters counters() const;
  /// Blocks that were wrong since the last call; the last ones, where they are many.
  std::vector<WrongBlock> take_wrong_blocks() { return std::exchange(wrong_blocks_, {}); }
  /// How many symbols it is to be sent at most, in all that are on their way: what takes long to be stored is not to be
  /// dropped for want of memory.
  std::uint64_t room() const { return begun_.room(); }
  std::size_t symbol_memory_bytes() const { return begun_.memory_bytes(); }

 private:
  void resume(const ResumeState& state);
  /// The block is right.
  void note_proved(std::uint32_t block);
  void note_all_proved();
  SymbolUse use(const Symbol& symbol, std::uint32_t from);
  bool is_part_of_content(const Symbol& symbol) const;
  /// Whether the block can be decoded: its symbols wait neither for each other nor for its hash.
  bool is_ready(std::uint32_t block) const;
  void look_at(std::uint32_t block);
  void handle_decoded_right(DecodedBlock block);
  void handle_wrong(const ReceivingBlock& block);
  void begin_anew(std::uint32_t block);
  /// What its daemon takes to be here is not.
  void note_lost();
  void cut_to(const ContentLayout& sealed);
  void compare_with_root();
  void finish();

  ContentLayout layout_;
  const Hasher& hasher_;
  ReceiverLimits limits_;
  std::optional<BlockHash> root_;

  BegunBlocks begun_;
  std::set<std::uint32_t> decodable_;  // that were ready; what has happened since may have changed that
  BlockSet complete_, written_;
  BlockSet unproved_;                           // written by a former receiver, and not known to be of this content
  BlockIndex told_;                             // by neighbours
  BlockIndex computed_;                         // of blocks that are complete
  bool is_index_right_ = false;                 // `told_`, by the root
  std::optional<std::uint32_t> index_from_;     // the daemon is to be told the index from this block on
  bool lacks_index_ = false;                    // the one that was told was wrong
  std::optional<Nanoseconds> index_wished_at_;  // the daemon was asked for another then
  bool is_done_ = false;

  std::uint64_t next_job_ = 1;
  std::uint32_t decoding_ = 0;  // jobs
  std::deque<WriteJob> to_write_;
  std::map<std::uint32_t, std::uint64_t> writing_;  // blocks, and their jobs; 0: the block has begun anew meanwhile
  std::uint32_t writes_ = 0;                        // jobs, taken or not

  NeedSchedule schedule_;
  std::uint64_t seen_ = 0;      // the latest mark
  bool has_lost_some_ = false;  // of what has come, since the last need
  bool serves_ = false;
  std::uint32_t missing_when_told_ = UINT32_MAX;  // blocks; without a size: any number
  RateMeter rate_;
  std::uint64_t bytes_verified_ = 0;
  ReceiverCounters counters_;
  std::vector<WrongBlock> wrong_blocks_;
};

}  // namespace spindle::bulk
