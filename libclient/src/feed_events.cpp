#include "libclient/src/feed_events.h"

#include <utility>

namespace spindle {

using protocol::FeedGapCause;
using protocol::SequenceRanges;

std::size_t FeedEvents::bytes_of(const Event& event) {
  const auto* packet = event.get_if<FeedPacket>();
  return sizeof(Event) + sizeof(FeedPacket) + (packet != nullptr ? packet->bytes.size() : 0);
}

void FeedEvents::push(std::vector<Event>& events) {
  for (Event& event : events) {
    if (const auto* flow = event.get_if<FeedFlow>()) {
      flows_[flow->feed] = *flow;
    } else if (const auto* writable = event.get_if<FeedWritable>()) {
      writable_.insert(writable->feed);
    } else {
      bytes_ += bytes_of(event);
      waiting_.push_back(std::move(event));
    }
  }
  events.clear();
  while (bytes_ > limit_bytes_) drop_oldest();
}

bool FeedEvents::is_next_of(const Event& event) const {
  const auto* before = event.get_if<FeedPacket>();
  const auto* next = waiting_.empty() ? nullptr : waiting_.front().get_if<FeedPacket>();
  return before != nullptr && next != nullptr && next->feed == before->feed && next->sequence == before->sequence;
}

Event FeedEvents::pop_front() {
  Event event = std::move(waiting_.front());
  waiting_.pop_front();
  bytes_ -= bytes_of(event);
  return event;
}

void FeedEvents::drop_oldest() {
  Event event = pop_front();
  if (const auto* packet = event.get_if<FeedPacket>()) {
    fronts_[packet->feed].gaps.add(packet->sequence, packet->sequence + packet->packets - 1, FeedGapCause::slow);
    while (is_next_of(event)) pop_front();
  } else if (const auto* gap = event.get_if<FeedGap>()) {
    fronts_[gap->feed].gaps.add(gap->first, gap->first + gap->count - 1, static_cast<FeedGapCause>(gap->cause));
  } else if (auto* opened = event.get_if<FeedOpened>()) {
    const FeedId feed = opened->feed;
    fronts_[feed].opened = std::move(*opened);
  } else if (const auto* closed = event.get_if<FeedClosed>()) {
    Front& front = fronts_[closed->feed];
    // Of one that the program has never heard of it need not hear.
    if (front.opened) {
      fronts_.erase(closed->feed);
    } else {
      front.closed = *closed;
    }
  }
}

void FeedEvents::take_fronts(std::vector<Event>& into) {
  for (auto& [feed, front] : std::exchange(fronts_, {})) {
    if (front.opened) into.emplace_back(*std::move(front.opened));
    front.gaps.for_each([&, feed = feed](const SequenceRanges::Range& range) {
      into.emplace_back(FeedGap{feed, range.first, range.count(), static_cast<FeedGap::Cause>(range.cause)});
    });
    if (front.closed) into.emplace_back(*std::move(front.closed));
  }
}

void FeedEvents::take(std::vector<Event>& into, std::size_t bytes) {
  for (const auto& [feed, flow] : std::exchange(flows_, {})) into.emplace_back(flow);
  for (const FeedId feed : std::exchange(writable_, {})) into.emplace_back(FeedWritable{feed});
  take_fronts(into);
  bool is_in_packet = false;
  for (std::size_t taken = 0; !waiting_.empty() && (taken < bytes || is_in_packet);) {
    taken += bytes_of(waiting_.front());
    into.push_back(pop_front());
    is_in_packet = is_next_of(into.back());
  }
}

}  // namespace spindle
