// The symbols of a block that is not complete yet.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "libclient/bulk/block_jobs.h"

namespace spindle::bulk {

/// Source symbols that come while it has room for all of itself go to their places there. Symbols are in memory, or,
/// source symbols only, stored at their places, or on their way there, or with a job that decodes. All of them count as
/// held: none is taken a second time.
class ReceivingBlock {
 public:
  /// `order`: how many blocks have begun before it.
  ReceivingBlock(const BlockPlace& place, std::uint64_t order) : place_(place), order_(order) {}

  const BlockPlace& place() const { return place_; }
  std::uint64_t order() const { return order_; }
  bool is_decoding() const { return is_decoding_; }

  bool holds(std::uint32_t esi) const {
    return placed_.contains(esi) || symbols_.contains(esi) || stored_.contains(esi);
  }
  /// All different.
  std::uint32_t held() const { return static_cast<std::uint32_t>(symbols_.size()) + placed_.count() + stored_.count(); }
  bool is_source(std::uint32_t esi) const { return esi < place_.shape.source_symbols; }
  /// Symbols in memory: source symbols, and repair symbols.
  std::size_t source_in_memory() const { return source_in_memory_; }
  std::size_t repair_in_memory() const { return repair_in_memory_; }
  /// Whether it is worth to decode: it has enough symbols, and more than at the last failure.
  bool is_decodable() const;

  /// Room for all of the block. It has none yet, or a job has taken it, and no job decodes.
  void give_room(BlockBytes room) { room_ = std::move(room); }
  bool has_room() const { return room_ != nullptr; }
  /// Takes a copy of one that it does not hold, from that neighbour.
  void add(std::uint32_t esi, ByteView bytes, std::uint32_t from);
  /// Forgets a repair symbol that is in memory, or, where it has none, a source symbol; it must have one.
  void drop_one();

  /// Hands out the source symbols that are in memory.
  StoreJob store();
  /// They are lost.
  void handle_not_stored(const StoreJob& job);

  /// The job is to be given content where it has none.
  DecodeJob decode(std::uint64_t job);
  /// The job that decodes it, where one does.
  std::uint64_t decode_job() const { return decode_job_; }
  /// It was not decoded: the symbols come back.
  void handle_not_decoded(DecodedBlock block);

  /// Whether the block can be a shorter one from now on, as is seen when the end of the content is known. Then it is,
  /// and its symbols are what they are by their ids. Not while a job decodes them.
  [[nodiscard]] bool shorten(const BlockPlace& place);

  /// Who has sent symbols of it: no more than some of them.
  const std::vector<std::uint32_t>& senders() const { return senders_; }

 private:
  void note_sender(std::uint32_t from);
  void count(std::uint32_t esi, bool comes);

  BlockPlace place_;
  std::uint64_t order_;
  bool is_decoding_ = false;
  std::map<std::uint32_t, OwnedBytes> symbols_;  // by ESI; without bytes: a job has them
  BlockBytes room_;
  BlockSet placed_;  // ESIs of source symbols that are in `room_`, or with a job that decodes
  std::size_t source_in_memory_ = 0, repair_in_memory_ = 0;
  BlockSet stored_;               // ESIs of source symbols that are stored or on their way
  std::uint32_t last_tried_ = 0;  // held then
  std::uint64_t decode_job_ = 0;
  std::vector<std::uint32_t> senders_;
};

}  // namespace spindle::bulk
