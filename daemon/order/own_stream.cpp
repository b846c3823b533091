#include "daemon/order/own_stream.h"

namespace spindled {

void OwnStream::retain(std::uint64_t number, const Slice& head, const Slice& tail, const MemberSet& destinations) {
  const bool is_own = destinations == MemberSet::of(self_);
  if (!is_own) {
    RetainedBody& body = retained_.push_back();
    body.number = number;
    body.head = head;
    body.tail = tail;
    retained_bytes_ += body.size();
  }
  if (!segments_.empty() && segments_.back().destinations == destinations) {
    segments_.back().last = number;
  } else {
    segments_.push_back({number, destinations, is_own});
  }
  if (segments_.front().is_own) advance();  // stable at once
}

bool OwnStream::acknowledge(MemberIndex from, std::uint64_t high) {
  if (high > last_ || from >= acknowledged_.size()) return false;
  if (high > acknowledged_[from]) {
    acknowledged_[from] = high;
    advance();
  }
  return true;
}

void OwnStream::advance() {
  while (!segments_.empty()) {
    const Segment& segment = segments_.front();
    std::uint64_t line = segment.last;
    segment.destinations.for_each([&](MemberIndex member) {
      if (member != self_) line = std::min(line, acknowledged_[member]);
    });
    // A destination that has not reported anything of this segment may have reported older messages.
    if (line > stable_) {
      stable_ = line;
      holders_ |= segment.destinations;
      holders_.erase(self_);
    }
    if (line < segment.last) break;
    segments_.pop_front();
  }
  while (!retained_.empty() && retained_.front().number <= stable_) {
    const std::size_t size = retained_.pop_front().size();
    retained_bytes_ -= size;
    released_since_announcement_ += size;
  }
}

MemberSet OwnStream::take_holders() {
  announced_ = stable_;
  released_since_announcement_ = 0;
  return std::exchange(holders_, MemberSet());
}

}  // namespace spindled
