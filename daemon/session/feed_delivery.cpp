#include "daemon/session/feed_delivery.h"

namespace spindled {

namespace protocol = spindle::protocol;

static_assert(static_cast<int>(protocol::FeedEnd::closed) == static_cast<int>(FeedEnd::closed));
static_assert(static_cast<int>(protocol::FeedEnd::lost) == static_cast<int>(FeedEnd::lost));
static_assert(static_cast<int>(protocol::FeedEnd::denied) == static_cast<int>(FeedEnd::denied));
static_assert(static_cast<int>(protocol::FeedEnd::left) == static_cast<int>(FeedEnd::left));
static_assert(static_cast<int>(protocol::FeedLimit::start) == static_cast<int>(FeedLimit::start));
static_assert(static_cast<int>(protocol::FeedLimit::maximum) == static_cast<int>(FeedLimit::maximum));

Session* FeedDelivery::find_open(SessionId id) const {
  Session* session = sessions_.find(id);
  return session != nullptr && session->state() == Session::State::open ? session : nullptr;
}

void FeedDelivery::give_room(SessionId source, FeedHandle feed, std::size_t bytes) {
  Session* session = find_open(source);
  if (session == nullptr) return;
  session->feeds().give_room(feed, bytes);
  if (session->feeds().has_news()) sessions_.mark_dirty(*session);
}

void FeedDelivery::tell_flow(SessionId source, FeedHandle feed, const FeedFlow& flow) {
  Session* session = find_open(source);
  if (session == nullptr) return;
  session->feeds().tell_flow(feed, flow);
  if (session->feeds().has_news()) sessions_.mark_dirty(*session);
}

template <typename Wait>
void FeedDelivery::queue(std::span<const SessionId> to, Wait&& wait) {
  for (const SessionId id : to) {
    Session* session = find_open(id);
    if (session == nullptr) continue;
    if (session->takes_feeds()) {
      session->queue().append_feed_frame(frame_);
    } else {
      wait(session->waiting_feeds());
      dropped_ += session->hold_feeds_to_limit();
    }
    sessions_.mark_dirty(*session);
  }
}

void FeedDelivery::describe(std::span<const SessionId> to, const FeedDescription& feed) {
  frame_.clear();
  const auto repair_for = static_cast<std::uint64_t>(feed.repair_for / 1us);
  protocol::write_feed_news(frame_, protocol::FeedOpened{feed.feed, repair_for, feed.group, feed.source, feed.is_new});
  queue(to, [&](FeedQueue& waiting) { waiting.describe(feed.feed, frame_); });
}

void FeedDelivery::deliver(std::span<const SessionId> to, FeedHandle feed, std::uint64_t sequence, std::uint8_t flags,
                           ByteView payload) {
  frame_.clear();
  protocol::write_feed_news(frame_, protocol::FeedPacket{feed, sequence, flags, payload});
  queue(to, [&](FeedQueue& waiting) { waiting.deliver(feed, sequence, frame_); });
}

void FeedDelivery::lose(std::span<const SessionId> to, FeedHandle feed, std::uint64_t first, std::uint64_t count) {
  const protocol::FeedGap gap{feed, first, count, protocol::FeedGapCause::lost};
  frame_.clear();
  protocol::write_feed_news(frame_, gap);
  queue(to, [&](FeedQueue& waiting) { waiting.lose(gap); });
}

void FeedDelivery::end(std::span<const SessionId> to, FeedHandle feed, FeedEnd why) {
  for (const SessionId id : to) {
    if (why == FeedEnd::left) break;  // to who is its source, too, it goes on
    if (Session* session = find_open(id)) session->feeds().note_end(feed);
  }
  const protocol::FeedEnded ended{feed, static_cast<protocol::FeedEnd>(why)};
  frame_.clear();
  protocol::write_feed_news(frame_, ended);
  queue(to, [&](FeedQueue& waiting) { waiting.end(ended); });
}

}  // namespace spindled
