// What a holder sends to one child that is behind.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "libclient/bulk/content_layout.h"
#include "libclient/bulk/need.h"
#include "libclient/bulk/need_schedule.h"

namespace spindle::bulk {

/// Blocks in ascending order. One of which the child has nothing gets its source symbols, in order; one that has begun
/// gets repair symbols: with those that it holds and those that are on their way, two more than it has source symbols.
///
/// A need is older than the symbols that are on their way while it comes. Symbols of a stream arrive in the order in
/// which they were sent, or not at all: what the child has got since its former need therefore says which have arrived,
/// and that the others before them are lost. Where nothing more was sent for a while, all is over that was on its way.
/// What is sent live goes ahead of streams: a block is for them when that has passed it.
class ChildStream {
 public:
  void handle_need(Nanoseconds now, const ContentLayout& layout, const Need& need);
  void handle_grant(std::uint64_t symbols);
  /// What can be sent has changed.
  void handle_available() { scan_ = 0; }

  /// Symbols that it may still be sent.
  std::uint64_t credit() const { return credit_; }

  struct Wish {
    std::uint32_t block = 0;
    std::optional<std::uint32_t> source;  // ESI; nothing: any repair symbol
  };
  /// What is to be sent next, of blocks that can be. Nothing without credit. `live`: to below which block all was sent
  /// live. `live_arrived`: to below which so long ago that it has arrived, or is lost.
  std::optional<Wish> next(const ContentLayout& layout, const BlockSet& available, std::uint32_t live,
                           std::uint32_t live_arrived);
  /// The wish of the last call of `next` was fulfilled. Says whether it is the first one of its block for a while.
  bool note_sent(Nanoseconds now, const ContentLayout& layout, const Wish& wish);
  /// What is to be sent some time after `wish`, as far as is known now.
  std::optional<Wish> next_after(const Wish& wish, const ContentLayout& layout, const BlockSet& available) const;

  /// Runs and begun blocks of its need.
  std::size_t need_entries() const { return need_.complete.runs().size() + need_.begun.size(); }

 private:
  struct Segment {  // symbols of one block that were sent one behind the other
    std::uint32_t block = 0;
    std::uint32_t on_way = 0;
  };

  std::optional<Wish> wish_of(std::uint32_t block, std::uint32_t source_symbols) const;
  /// Of blocks from `from` to below `end`; `from` becomes the block of the wish, or one below which nothing is wanted.
  std::optional<Wish> first_wish(std::uint32_t& from, std::uint32_t end, const ContentLayout& layout,
                                 const BlockSet& available) const;
  void note_arrived(const ContentLayout& layout, const Need& need);
  void settle(std::size_t segments);
  std::uint32_t on_way(std::uint32_t block) const;

  Need need_;
  std::uint64_t credit_ = 0;
  std::uint32_t scan_ = 0;                              // blocks below it want nothing until the next need
  std::uint32_t arrived_ = 0;                           // the last block of which the child has something
  std::uint32_t end_ = 0;                               // of blocks that the last call of `next` looked at
  std::map<std::uint32_t, std::uint32_t> next_source_;  // of blocks that get source symbols: up to where they were sent
  std::deque<Segment> segments_;
  std::map<std::uint32_t, std::uint32_t> on_way_;  // the sum of segments, by block
  std::set<std::uint32_t> satisfied_;              // with what is on its way, until the next need
  Nanoseconds sent_{};                             // the last symbol
};

}  // namespace spindle::bulk
