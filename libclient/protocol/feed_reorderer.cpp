#include "libclient/protocol/feed_reorderer.h"

#include <algorithm>
#include <utility>

namespace spindle::protocol {

// --- What comes ---

bool FeedReorderer::begin(std::uint64_t sequence, bool begins_message) {
  if (has_begun_) return true;
  // Nothing would be told of packets behind it that have come, and were passed over.
  if (!begins_message || sequence < end_) {
    end_ = std::max(end_, sequence + 1);
    return false;
  }
  next_ = hole_ = scanned_ = end_ = sequence;
  has_begun_ = true;
  return true;
}

void FeedReorderer::packet(Instant now, std::uint64_t sequence, std::uint8_t flags, ByteView payload) {
  Packet packet{flags, {payload.begin(), payload.end()}};
  if (!begin(sequence, packet.begins()) || is_settled(sequence) || packets_.contains(sequence)) return;
  end_ = std::max(end_, sequence + 1);
  keep(sequence, std::move(packet));
  if (is_ordered_) {
    arrivals_.push_back({now, sequence});
    advance();
    while (bytes_ > kBytesMax && !arrivals_.empty()) give_up_before(arrivals_.front().sequence);
  } else {
    give_if_whole(sequence);
    hold_to_limits();
  }
}

void FeedReorderer::gap(std::uint64_t first, std::uint64_t count, FeedGapCause cause) {
  const std::uint64_t last = first + count - 1;
  if (!begin(first, true) || last < next_) return;
  first = std::max(first, next_);
  end_ = std::max(end_, last + 1);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> holes;
  for_each_hole(first, last, [&](std::uint64_t from, std::uint64_t to) { holes.emplace_back(from, to); });
  for (const auto& [from, to] : holes) {
    if (is_ordered_) {
      settled_.add(from, to, cause);
    } else {
      lose(from, to, cause);
    }
  }
  is_ordered_ ? advance() : hold_to_limits();
}

void FeedReorderer::handle_time(Instant now) {
  while (next_deadline() <= now) give_up_before(arrivals_.front().sequence);
}

void FeedReorderer::end() {
  if (!has_begun_) return;
  if (is_ordered_) {
    give_up_before(end_);
    // What is left has no end.
    if (!packets_.empty()) drop(next_, end_ - 1, FeedGapCause::lost);
    next_ = hole_ = scanned_ = end_;
    arrivals_.clear();
    return;
  }
  while (!packets_.empty()) break_message(packets_.begin()->first, FeedGapCause::lost);
  if (next_ < end_) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> holes;
    for_each_hole(next_, end_ - 1, [&](std::uint64_t from, std::uint64_t to) { holes.emplace_back(from, to); });
    for (const auto& [from, to] : holes) lose(from, to, FeedGapCause::lost);
  }
}

// --- What waits ---

void FeedReorderer::keep(std::uint64_t sequence, Packet packet) {
  bytes_ += packet.payload.size() + kPacketBytes;
  packets_.emplace(sequence, std::move(packet));
}

FeedReorderer::Packets::iterator FeedReorderer::forget(Packets::iterator packet) {
  bytes_ -= packet->second.payload.size() + kPacketBytes;
  return packets_.erase(packet);
}

template <typename Visit>
void FeedReorderer::for_each_hole(std::uint64_t first, std::uint64_t last, Visit&& visit) const {
  settled_.for_each_missing(first, last, [&](std::uint64_t from, std::uint64_t to) {
    for (auto next = packets_.lower_bound(from); from <= to; ++next) {
      const std::uint64_t end = next == packets_.end() ? to + 1 : std::min(next->first, to + 1);
      if (from < end) visit(from, end - 1);
      if (next == packets_.end()) return;
      from = end + 1;
    }
  });
}

void FeedReorderer::give_message(Packets::iterator first, std::uint64_t last) {
  Output output;
  output.first = first->first;
  output.count = last - first->first + 1;
  output.is_bundle = first->second.is_bundle();
  output.payload = std::move(first->second.payload);
  bytes_ -= output.payload.size() + kPacketBytes;
  for (auto packet = packets_.erase(first); packet != packets_.end() && packet->first <= last;) {
    const std::vector<std::uint8_t>& more = packet->second.payload;
    output.payload.insert(output.payload.end(), more.begin(), more.end());
    packet = forget(packet);
  }
  output_.push_back(std::move(output));
}

void FeedReorderer::give_gap(std::uint64_t first, std::uint64_t last, FeedGapCause cause) {
  if (last >= gap_end_) {
    gap_end_ = last + 1;
    gap_cause_ = cause;
  }
  if (!output_.empty() && output_.back().gap == cause && output_.back().first + output_.back().count == first) {
    output_.back().count += last - first + 1;
  } else {
    output_.push_back({first, last - first + 1, {}, cause});
  }
}

void FeedReorderer::drop(std::uint64_t first, std::uint64_t last, FeedGapCause cause) {
  for (auto packet = packets_.lower_bound(first); packet != packets_.end() && packet->first <= last;) {
    packet = forget(packet);
  }
  give_gap(first, last, cause);
}

FeedGapCause FeedReorderer::cause_before(std::uint64_t sequence) const {
  if (gap_end_ == sequence) return gap_cause_;
  const auto settled = settled_.find(sequence - 1);
  return settled ? settled->cause : FeedGapCause::lost;
}

// --- Ordered ---

void FeedReorderer::advance() {
  note_hole();
  while (give_next()) {
  }
  settled_.forget_before(next_);
  // Who has nothing missing before it does not wait.
  while (!arrivals_.empty() && arrivals_.front().sequence < hole_) arrivals_.pop_front();
}

void FeedReorderer::note_hole() {
  hole_ = std::max(hole_, next_);
  for (;;) {
    if (packets_.contains(hole_)) {
      ++hole_;
    } else if (const auto missing = settled_.find(hole_)) {
      hole_ = missing->last + 1;
    } else {
      return;
    }
  }
}

bool FeedReorderer::give_next() {
  if (scanned_ < next_ || scanned_ == next_) scanned_ = next_, scanned_bytes_ = 0;
  if (const auto missing = settled_.find(next_)) {
    give_gap(next_, missing->last, missing->cause);
    next_ = missing->last + 1;
    return true;
  }
  const auto first = packets_.find(next_);
  if (first == packets_.end()) return false;
  if (!first->second.begins()) {
    drop(next_, next_, cause_before(next_));  // with the gap that it goes with
    ++next_;
    return true;
  }
  for (auto packet = packets_.find(scanned_); packet != packets_.end() && packet->first == scanned_; ++packet) {
    const bool is_other = scanned_ != next_ && packet->second.begins();
    scanned_bytes_ += packet->second.payload.size();
    if (is_other || scanned_bytes_ > kFeedMessageBytesMax) {
      // A message without an end, or one that is too long: the daemon is wrong.
      const std::uint64_t last = is_other ? scanned_ - 1 : scanned_;
      drop(next_, last, FeedGapCause::lost);
      next_ = last + 1;
      return true;
    }
    if (packet->second.ends()) {
      const std::uint64_t last = scanned_;
      give_message(first, last);
      next_ = last + 1;
      return true;
    }
    ++scanned_;
  }
  const auto missing = settled_.find(scanned_);
  if (!missing) return false;
  drop(next_, scanned_ - 1, missing->cause);
  next_ = scanned_;
  return true;
}

void FeedReorderer::give_up_before(std::uint64_t sequence) {
  if (sequence > hole_) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> holes;
    for_each_hole(hole_, sequence - 1, [&](std::uint64_t from, std::uint64_t to) { holes.emplace_back(from, to); });
    for (const auto& [from, to] : holes) settled_.add(from, to);
  }
  advance();
}

// --- As they come ---

void FeedReorderer::settle(std::uint64_t first, std::uint64_t last, FeedGapCause cause) {
  settled_.add(first, last, cause);
  if (settled_.front().first > next_) return;
  next_ = gap_end_ = settled_.front().last + 1;
  gap_cause_ = settled_.front().cause;
  settled_.forget_before(next_);
}

void FeedReorderer::give_if_whole(std::uint64_t sequence) {
  auto first = packets_.find(sequence);
  auto last = first;
  while (!first->second.begins()) {
    if (first->first == 0) return break_message(sequence, FeedGapCause::lost);
    if (is_settled(first->first - 1)) return break_message(sequence, cause_before(first->first));
    if (first == packets_.begin() || std::prev(first)->first != first->first - 1) return;
    --first;
    if (first->second.ends()) return break_message(sequence, FeedGapCause::lost);
  }
  std::size_t bytes = 0;
  while (!last->second.ends()) {
    if (is_settled(last->first + 1)) return break_message(sequence, FeedGapCause::lost);
    const auto next = std::next(last);
    if (next == packets_.end() || next->first != last->first + 1) return;
    last = next;
    if (last->second.begins()) return break_message(sequence, FeedGapCause::lost);
  }
  for (auto packet = first; packet != std::next(last); ++packet) bytes += packet->second.payload.size();
  if (bytes > kFeedMessageBytesMax) return break_message(sequence, FeedGapCause::lost);
  const std::uint64_t from = first->first, to = last->first;
  give_message(first, to);
  settle(from, to);
}

void FeedReorderer::break_message(std::uint64_t sequence, FeedGapCause cause) {
  auto first = packets_.find(sequence);
  auto last = first;
  while (!first->second.begins() && first != packets_.begin()) {
    const auto before = std::prev(first);
    if (before->first != first->first - 1 || before->second.ends()) break;
    first = before;
  }
  while (!last->second.ends()) {
    const auto next = std::next(last);
    if (next == packets_.end() || next->first != last->first + 1 || next->second.begins()) break;
    last = next;
  }
  const std::uint64_t from = first->first, to = last->first;
  drop(from, to, cause);
  settle(from, to, cause);
}

void FeedReorderer::lose(std::uint64_t first, std::uint64_t last, FeedGapCause cause) {
  give_gap(first, last, cause);
  settle(first, last, cause);
  // What goes with what is missing.
  if (first != 0) {
    const auto before = packets_.find(first - 1);
    if (before != packets_.end() && !before->second.ends()) break_message(first - 1, cause);
  }
  const auto behind = packets_.find(last + 1);
  if (behind != packets_.end() && !behind->second.begins()) break_message(last + 1, cause);
}

void FeedReorderer::hold_to_limits() {
  while (bytes_ > kBytesMax) break_message(packets_.begin()->first, FeedGapCause::lost);
  while (settled_.size() > kHolesMax) {
    const std::uint64_t first = next_, last = settled_.front().first - 1;
    while (!packets_.empty() && packets_.begin()->first <= last) {
      break_message(packets_.begin()->first, FeedGapCause::lost);
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> holes;
    for_each_hole(first, last, [&](std::uint64_t from, std::uint64_t to) { holes.emplace_back(from, to); });
    for (const auto& [from, to] : holes) lose(from, to, FeedGapCause::lost);
  }
}

}  // namespace spindle::protocol
