#include "tests/sim/segment_flow.h"

#include <algorithm>
#include <utility>

namespace spindled::sim {

namespace {
constexpr std::uint64_t kReordered = 3;  // RFC 6675: DupThresh
constexpr Duration kTimeoutMin = 200ms, kTimeoutFirst = 1s, kTimeoutMax = 60s;
constexpr int kTimeoutRoundTrips = 2;
/// A FIN takes a place of its own in the stream.
std::uint64_t length_of(const Segment& segment) { return segment.bytes.size() + (segment.fin ? 1 : 0); }
}  // namespace

SegmentRef SegmentFlow::next_lost() {
  SegmentRef segment = std::move(lost_.front());
  lost_.pop_front();
  return segment;
}

SegmentRef SegmentFlow::cut(std::vector<std::uint8_t> bytes, bool fin) {
  auto segment = std::make_shared<Segment>(Segment{next_position_, std::move(bytes), fin});
  next_position_ += length_of(*segment);
  return segment;
}

std::uint64_t SegmentFlow::sent(Time now, SegmentRef segment) {
  if (outstanding_.empty()) progress_at_ = now;
  in_flight_ += segment->bytes.size();
  outstanding_.emplace(next_number_, Transmission{std::move(segment), now});
  return next_number_++;
}

void SegmentFlow::acknowledged(Time now, std::uint64_t number) {
  progress_at_ = now;
  timeouts_ = 0;
  const auto found = outstanding_.find(number);
  if (found == outstanding_.end()) return;  // it was thought to be lost
  const std::size_t bytes = found->second.segment->bytes.size();
  round_trip_ = std::min(round_trip_.value_or(Duration::max()), now - found->second.sent_at);
  // RFC 7661 and Linux: a window that is not used says nothing, and does not grow.
  const std::size_t used = window_.is_slow_start() ? 2 * in_flight_ : in_flight_ + 2 * kSegmentBytes;
  const bool is_used = used >= window_.bytes();
  in_flight_ -= bytes;
  outstanding_.erase(found);
  if (number >= recovered_at_ && is_used) window_.acked(now, bytes, *round_trip_);
  if (number >= kReordered) give_up_before(number - kReordered + 1);
}

/// What was sent before that transmission and has not arrived is lost.
void SegmentFlow::give_up_before(std::uint64_t number) {
  while (!outstanding_.empty() && outstanding_.begin()->first < number) {
    const auto first = outstanding_.begin();
    in_flight_ -= first->second.segment->bytes.size();
    if (first->first >= recovered_at_) {
      window_.lost();
      recovered_at_ = next_number_;
    }
    lost_.push_back(std::move(first->second.segment));
    outstanding_.erase(first);
  }
}

Time SegmentFlow::deadline() const {
  if (outstanding_.empty()) return kNever;
  const Duration usual = round_trip_ ? std::max(kTimeoutMin, kTimeoutRoundTrips * *round_trip_) : kTimeoutFirst;
  return progress_at_ + std::min(kTimeoutMax, usual * (1 << std::min(timeouts_, 8)));
}

void SegmentFlow::time_out(Time now) {
  progress_at_ = now;
  ++timeouts_;
  window_.timed_out();
  recovered_at_ = next_number_;  // what is given up has been answered
  give_up_before(next_number_);
}

std::vector<SegmentRef> SegmentFlow::arrived(SegmentRef segment) {
  std::vector<SegmentRef> next;
  if (segment->position < expected_) return next;  // sent again though it had arrived
  early_.emplace(segment->position, std::move(segment));
  for (auto first = early_.begin(); first != early_.end() && first->first == expected_; first = early_.begin()) {
    expected_ += length_of(*first->second);
    next.push_back(std::move(first->second));
    early_.erase(first);
  }
  return next;
}

}  // namespace spindled::sim
