// This daemon's own stream: numbers, retention until stable, and what the destinations have reported.
#pragma once

#include <vector>

#include "daemon/base/ring.h"
#include "daemon/order/incoming_stream.h"

namespace spindled {

/// Stability is found by segments, runs of messages with the same destinations, not message by message: its cost does
/// not grow with the rate.
class OwnStream {
 public:
  OwnStream() = default;
  /// The first message has the number behind `start`.
  OwnStream(std::size_t members, MemberIndex self, std::uint64_t start = 0)
      : self_(self), last_(start), stable_(start), announced_(start), acknowledged_(members, start) {}

  std::uint64_t next_number() { return ++last_; }
  std::uint64_t last_number() const { return last_; }

  /// Keeps message `number`, the newest, until all of `destinations` other than this daemon have reported it. What goes
  /// to this daemon only is not kept: nobody will ask for it, and much of it behind one message that is slowly reported
  /// would take the room of all.
  void retain(std::uint64_t number, const Slice& head, const Slice& tail, const MemberSet& destinations);

  /// `from` has everything up to `high` that was addressed to it; false for a number that was never sent.
  bool acknowledge(MemberIndex from, std::uint64_t high);

  /// Messages up to here are stable.
  std::uint64_t stable_line() const { return stable_; }
  std::size_t retained_bytes() const { return retained_bytes_; }
  const Ring<RetainedBody>& retained() const { return retained_; }

  // What the destinations have yet to be told.
  std::size_t released_since_announcement() const { return released_since_announcement_; }
  bool has_news() const { return stable_ != announced_ && !holders_.empty(); }
  /// The members that hold copies of what became stable since the last call; the news are thereby told.
  MemberSet take_holders();

 private:
  struct Segment {
    std::uint64_t last = 0;
    MemberSet destinations;
    bool is_own = false;  // addressed to this daemon only
  };

  void advance();

  MemberIndex self_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t stable_ = 0;
  std::uint64_t announced_ = 0;
  std::vector<std::uint64_t> acknowledged_;  // per member
  Ring<Segment> segments_;                   // of what is not stable, ascending
  Ring<RetainedBody> retained_;
  std::size_t retained_bytes_ = 0;
  std::size_t released_since_announcement_ = 0;
  MemberSet holders_;
};

}  // namespace spindled
