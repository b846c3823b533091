// What a holder sends to one child that is behind.
#pragma once

#include <cstdint>
#include <optional>

#include "libclient/bulk/content_layout.h"
#include "libclient/bulk/need.h"

namespace spindle::bulk {

/// What a need lacks, once, and blocks in ascending order: of one of which the child has nothing its source symbols, in
/// order; of one that has begun as many repair symbols as it lacks. Who has as many as there are source symbols and
/// could not decode, as happens to one block in a hundred, gets two more; who has enough of a block (kEnough) gets
/// none.
///
/// The daemon sees to it that a need is exact: it asks for the next one when all that was sent has arrived, or is lost
/// (`mark`, bulk_frames.h).
class ChildStream {
 public:
  explicit ChildStream(Need need) : need_(std::move(need)) {}

  void handle_grant(std::uint64_t symbols);
  bool lacks(std::uint32_t block) const { return !need_.complete.contains(block); }
  /// Symbols that it may still be sent.
  std::uint64_t credit() const { return credit_; }

  struct Wish {
    std::uint32_t block = 0;
    std::optional<std::uint32_t> source;  // ESI; nothing: any repair symbol
  };
  /// What is to be sent next, with or without credit, of blocks below `end` that can be sent. Nothing: that was all.
  std::optional<Wish> next(const ContentLayout& layout, const BlockSet& available, std::uint32_t end) const;
  /// The wish of the last call of `next` was fulfilled. Says whether it was the first one of its block.
  bool note_sent(const Wish& wish);
  /// What is to be sent behind the block of `wish`.
  std::optional<Wish> next_after(const Wish& wish, const ContentLayout& layout, const BlockSet& available,
                                 std::uint32_t end) const;

  /// Runs and begun blocks of its need.
  std::size_t need_entries() const { return need_.complete.runs().size() + need_.begun.size(); }

 private:
  std::optional<Wish> wish_from(std::uint32_t block, std::uint32_t sent, const ContentLayout& layout,
                                const BlockSet& available, std::uint32_t end) const;

  Need need_;
  std::uint64_t credit_ = 0;
  std::uint32_t block_ = 0;  // that it is at: those before were sent,
  std::uint32_t sent_ = 0;   // and so many symbols of this one
};

}  // namespace spindle::bulk
