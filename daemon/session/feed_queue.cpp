#include "daemon/session/feed_queue.h"

namespace spindled {

namespace protocol = spindle::protocol;
using protocol::FeedGapCause;
using protocol::SequenceRanges;

// --- In ---

void FeedQueue::add(const Entry& entry, ByteView frame) {
  entries_.push_back(entry).bytes = static_cast<std::uint32_t>(frame.size());
  bytes_.append_copy(frame);
}

void FeedQueue::describe(protocol::FeedNumber feed, ByteView frame) {
  add({.kind = Kind::described, .feed = feed}, frame);
}

void FeedQueue::deliver(protocol::FeedNumber feed, std::uint64_t sequence, ByteView frame) {
  add({.kind = Kind::packet, .feed = feed, .first = sequence, .last = sequence}, frame);
}

void FeedQueue::lose(const protocol::FeedGap& gap) {
  frames_.clear();
  protocol::write_feed_news(frames_, gap);
  add({.kind = Kind::gap, .feed = gap.feed, .first = gap.first, .last = gap.first + gap.count - 1}, frames_);
}

void FeedQueue::end(const protocol::FeedEnded& end) {
  frames_.clear();
  protocol::write_feed_news(frames_, end);
  add({.kind = Kind::end, .why = end.why, .feed = end.feed}, frames_);
}

std::size_t FeedQueue::bytes() const { return bytes_.bytes() + entries_.size() * sizeof(Entry) + front_bytes_; }

// --- What goes ---

std::size_t FeedQueue::drop_oldest(std::size_t keep) {
  std::size_t packets = 0;
  while (bytes() > keep && !entries_.empty()) packets += move_to_front() ? 1 : 0;
  return packets;
}

bool FeedQueue::move_to_front() {
  const Entry entry = entries_.pop_front();
  const auto known = fronts_.find(entry.feed);
  switch (entry.kind) {
    case Kind::described: {
      // What was before it, of the same number, the description ends for who has heard of it.
      const bool is_heard = known != fronts_.end() && (known->second.description.empty() || known->second.is_heard);
      if (known != fronts_.end()) erase_front(known);
      Front& front = front_of(entry.feed);
      front.is_heard = is_heard;
      front.description.resize(entry.bytes);
      bytes_.copy_front(front.description);
      front_bytes_ += entry.bytes;
      break;
    }
    case Kind::packet:
      count_gaps(front_of(entry.feed), entry.first, entry.last, FeedGapCause::slow);
      break;
    case Kind::gap:
      count_gaps(front_of(entry.feed), entry.first, entry.last, FeedGapCause::lost);
      break;
    case Kind::end: {
      // Of one that the client has never heard of it need not hear.
      const bool is_described = known != fronts_.end() && !known->second.description.empty();
      const bool is_heard = !is_described || known->second.is_heard;
      if (is_described) erase_front(known);
      if (is_heard) front_of(entry.feed).end = entry.why;
      break;
    }
  }
  bytes_.consume(entry.bytes);
  return entry.kind == Kind::packet;
}

FeedQueue::Front& FeedQueue::front_of(protocol::FeedNumber feed) {
  const auto [at, is_new] = fronts_.try_emplace(feed);
  if (is_new) front_bytes_ += kFrontBytes;
  return at->second;
}

void FeedQueue::count_gaps(Front& front, std::uint64_t first, std::uint64_t last, FeedGapCause cause) {
  front_bytes_ -= front.gaps.size() * SequenceRanges::kRangeBytes;
  front.gaps.add(first, last, cause);
  front_bytes_ += front.gaps.size() * SequenceRanges::kRangeBytes;
}

void FeedQueue::erase_front(Fronts::iterator front) {
  front_bytes_ -= kFrontBytes + front->second.description.size();
  front_bytes_ -= front->second.gaps.size() * SequenceRanges::kRangeBytes;
  fronts_.erase(front);
}

// --- Out ---

void FeedQueue::move_to(SessionQueue& to, std::size_t limit) {
  while (to.bytes() < limit && !fronts_.empty()) write_front(to);
  while (to.bytes() < limit && !entries_.empty()) to.append_feed_frame(bytes_, entries_.pop_front().bytes);
}

void FeedQueue::write_front(SessionQueue& to) {
  const auto first = fronts_.begin();
  const auto& [feed, front] = *first;
  if (!front.description.empty()) to.append_feed_frame(front.description);
  front.gaps.for_each([&, feed = feed](const SequenceRanges::Range& range) {
    frames_.clear();
    protocol::write_feed_news(frames_, protocol::FeedGap{feed, range.first, range.count(), range.cause});
    to.append_feed_frame(frames_);
  });
  if (front.end) {
    frames_.clear();
    protocol::write_feed_news(frames_, protocol::FeedEnded{feed, *front.end});
    to.append_feed_frame(frames_);
  }
  erase_front(first);
}

}  // namespace spindled
