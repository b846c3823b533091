// Events of feeds that nobody has asked for yet.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "libclient/protocol/sequence_ranges.h"
#include "spindle/event.h"

namespace spindle {

/// Holds no more than a limit: the oldest packets go, and a gap takes their place. What goes stands in front of all
/// that waits, feed by feed: only within a feed is there an order to keep. The messages of one packet stay together: a
/// program gets all of them or the gap. Of FeedFlow and FeedWritable the last of each feed is there.
class FeedEvents {
 public:
  explicit FeedEvents(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Leaves an empty vector.
  void push(std::vector<Event>& events);
  bool empty() const { return waiting_.empty() && fronts_.empty() && flows_.empty() && writable_.empty(); }
  /// Moves events of some `bytes` to the end of `into`, in order; one at least where there is any.
  void take(std::vector<Event>& into, std::size_t bytes);
  /// Of memory, about.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Front {
    std::optional<FeedOpened> opened;
    protocol::SequenceRanges gaps;
    std::optional<FeedClosed> closed;
  };

  static std::size_t bytes_of(const Event& event);
  /// Whether what waits first was in the same packet.
  bool is_next_of(const Event& event) const;
  Event pop_front();
  void drop_oldest();
  void take_fronts(std::vector<Event>& into);

  const std::size_t limit_bytes_;
  std::deque<Event> waiting_;
  std::size_t bytes_ = 0;  // of `waiting_`
  std::map<FeedId, Front> fronts_;
  std::map<FeedId, FeedFlow> flows_;
  std::set<FeedId> writable_;
};

}  // namespace spindle
