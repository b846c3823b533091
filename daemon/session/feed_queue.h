// What a client has yet to get of feeds, where it does not keep up.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "daemon/base/output_queue.h"
#include "daemon/base/ring.h"
#include "daemon/session/session_queue.h"
#include "libclient/protocol/sequence_ranges.h"

namespace spindled {

/// Holds frames of feeds until they are moved to the queue of all that the client has to read, in which little of feeds
/// stands at a time: so feeds never make a client count as slow. Where more waits than may, the oldest packets go, and
/// a gap takes their place. What says of a feed that it has begun, and ended, stays.
///
/// What went stands in front of all that waits, feed by feed: only within a feed is there an order to keep.
class FeedQueue {
 public:
  explicit FeedQueue(SlabPool& pool) : bytes_(pool, OutputQueue::kLongBytes) {}

  // As FeedClients has them, each with its frame, or what it takes to write it.

  void describe(spindle::protocol::FeedNumber feed, ByteView frame);
  void deliver(spindle::protocol::FeedNumber feed, std::uint64_t sequence, ByteView frame);
  void lose(const spindle::protocol::FeedGap& gap);
  void end(const spindle::protocol::FeedEnded& end);

  bool empty() const { return entries_.empty() && fronts_.empty(); }
  /// Of memory, about.
  std::size_t bytes() const;
  /// Drops the oldest packets until no more than `keep` bytes are left, or no packets. How many.
  std::size_t drop_oldest(std::size_t keep);
  /// Moves frames to the end of `to`, in order, until that has `limit` bytes or more.
  void move_to(SessionQueue& to, std::size_t limit);

 private:
  enum class Kind : std::uint8_t { described, packet, gap, end };
  struct Entry {
    Kind kind = Kind::packet;
    spindle::protocol::FeedEnd why = spindle::protocol::FeedEnd::closed;  // of an end
    spindle::protocol::FeedNumber feed = 0;
    std::uint32_t bytes = 0;  // of the frame
    std::uint64_t first = 0;  // sequence, of a packet and of a gap
    std::uint64_t last = 0;
  };
  /// What stands in front of all entries of a feed.
  struct Front {
    std::vector<std::uint8_t> description;  // a frame, or empty
    spindle::protocol::SequenceRanges gaps;
    std::optional<spindle::protocol::FeedEnd> end;
    bool is_heard = false;  // the client was told of it before, and has yet to hear that this is over
  };
  using Fronts = std::map<spindle::protocol::FeedNumber, Front>;
  static constexpr std::size_t kFrontBytes = sizeof(Fronts::value_type) + 64;

  void add(const Entry& entry, ByteView frame);
  /// The oldest entry goes to the front. Whether it was a packet.
  bool move_to_front();
  Front& front_of(spindle::protocol::FeedNumber feed);
  void count_gaps(Front& front, std::uint64_t first, std::uint64_t last, spindle::protocol::FeedGapCause cause);
  void erase_front(Fronts::iterator front);
  void write_front(SessionQueue& to);

  OutputQueue bytes_;  // of all entries
  Ring<Entry, 512> entries_;
  Fronts fronts_;
  std::size_t front_bytes_ = 0;
  std::vector<std::uint8_t> frames_;  // kept for its memory
};

}  // namespace spindled
