// What feeds have for local clients, on its way into their queues.
#pragma once

#include <vector>

#include "daemon/feed/feed_clients.h"
#include "daemon/session/session_table.h"

namespace spindled {

/// Each frame is encoded once, however many clients get it.
class FeedDelivery final : public FeedClients {
 public:
  explicit FeedDelivery(SessionTable& sessions) : sessions_(sessions) {}

  void give_room(SessionId source, FeedHandle feed, std::size_t bytes) override;
  void tell_flow(SessionId source, FeedHandle feed, const FeedFlow& flow) override;
  void describe(std::span<const SessionId> to, const FeedDescription& feed) override;
  void deliver(std::span<const SessionId> to, FeedHandle feed, std::uint64_t sequence, std::uint8_t flags,
               ByteView payload) override;
  void lose(std::span<const SessionId> to, FeedHandle feed, std::uint64_t first, std::uint64_t count) override;
  void end(std::span<const SessionId> to, FeedHandle feed, FeedEnd why) override;

  /// Packets that were dropped as clients have not kept up.
  std::uint64_t dropped() const { return dropped_; }
  void count_dropped(std::size_t packets) { dropped_ += packets; }

 private:
  /// Null where it is gone, or gets nothing any more.
  Session* find_open(SessionId id) const;
  /// Puts `frame_` into the queue of all feeds where the client does not keep up, by `wait(FeedQueue&)`, and otherwise
  /// into that of all that it gets.
  template <typename Wait>
  void queue(std::span<const SessionId> to, Wait&& wait);

  SessionTable& sessions_;
  std::uint64_t dropped_ = 0;
  std::vector<std::uint8_t> frame_;  // kept for its memory
};

}  // namespace spindled
