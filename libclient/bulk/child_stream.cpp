#include "libclient/bulk/child_stream.h"

#include <algorithm>

namespace spindle::bulk {

namespace {

/// When a need comes so long after the last symbol, nothing is on its way any more: with credit, as then there was room
/// on the way, and without.
constexpr Nanoseconds kOverWithCredit = NeedSchedule::kInterval;
constexpr Nanoseconds kOverWithoutCredit = std::chrono::seconds(2);
constexpr std::size_t kSegmentsMax = 4'096;
/// Grants are advice of our own daemon; what they add up to has a bound all the same.
constexpr std::uint64_t kCreditMax = std::uint64_t{1} << 40;

/// So many symbols beyond its source symbols give a block with a probability of 99.9999 % (RFC 6330, section 5.8).
constexpr std::uint32_t kMoreSymbols = 2;

std::uint32_t held_of(const Need& need, std::uint32_t block, std::uint32_t source_symbols) {
  return need.complete.contains(block) ? source_symbols : need.held_of(block);
}

}  // namespace

void ChildStream::handle_grant(std::uint64_t symbols) { credit_ = std::min(credit_ + symbols, kCreditMax); }

std::uint32_t ChildStream::on_way(std::uint32_t block) const {
  const auto found = on_way_.find(block);
  return found == on_way_.end() ? 0 : found->second;
}

/// Forgets the first ones.
void ChildStream::settle(std::size_t segments) {
  for (; segments > 0; --segments) {
    const Segment& first = segments_.front();
    const auto on_way = on_way_.find(first.block);
    if (on_way != on_way_.end() && (on_way->second -= first.on_way) == 0) on_way_.erase(on_way);
    segments_.pop_front();
  }
}

void ChildStream::note_arrived(const ContentLayout& layout, const Need& need) {
  std::map<std::uint32_t, std::uint32_t> arrived;
  for (const auto& [block, count] : on_way_) {
    const std::uint32_t symbols = layout.symbols_of(block);
    const std::uint32_t before = held_of(need_, block, symbols), now = held_of(need, block, symbols);
    if (now > before) arrived[block] = now - before;
  }
  std::size_t lost = 0;  // segments before the last one of which something has arrived
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const auto found = arrived.find(segments_[i].block);
    if (found == arrived.end() || found->second == 0) continue;
    const std::uint32_t count = std::min(found->second, segments_[i].on_way);
    found->second -= count;
    segments_[i].on_way -= count;
    on_way_[segments_[i].block] -= count;
    lost = i;
  }
  settle(lost);
  while (!segments_.empty() && segments_.front().on_way == 0) settle(1);
}

void ChildStream::handle_need(Nanoseconds now, const ContentLayout& layout, const Need& need) {
  note_arrived(layout, need);
  if (now - sent_ >= (credit_ > 0 ? kOverWithCredit : kOverWithoutCredit)) settle(segments_.size());
  need_ = need;
  scan_ = 0;
  arrived_ = 0;
  if (!need.complete.empty()) arrived_ = need.complete.runs().back().end - 1;
  if (!need.begun.empty()) arrived_ = std::max(arrived_, need.begun.back().block);
  std::erase_if(next_source_, [&](const auto& each) { return need_.complete.contains(each.first); });
  satisfied_.clear();
  for (const auto& [block, count] : on_way_) {
    const std::uint32_t symbols = layout.symbols_of(block);
    if (count == 0 || need_.held_of(block) + count < symbols) continue;
    satisfied_.insert(block);
    // Somebody else gives source symbols, too: what is left of them may be there.
    if (const auto source = next_source_.find(block); source != next_source_.end()) source->second = symbols;
  }
}

std::optional<ChildStream::Wish> ChildStream::wish_of(std::uint32_t block, std::uint32_t source_symbols) const {
  if (satisfied_.contains(block)) return std::nullopt;
  const std::uint32_t held = need_.held_of(block), coming = on_way(block);
  const auto source = next_source_.find(block);
  if (source != next_source_.end() && source->second < source_symbols) return Wish{block, source->second};
  if (held == 0 && coming == 0) return Wish{block, 0};
  // With more than enough it could not decode so far: it gets one at a time.
  const std::uint32_t enough = std::max(source_symbols + kMoreSymbols, held + 1);
  if (held + coming < enough) return Wish{block, std::nullopt};
  return std::nullopt;
}

std::optional<ChildStream::Wish> ChildStream::first_wish(std::uint32_t& from, std::uint32_t end,
                                                         const ContentLayout& layout, const BlockSet& available) const {
  while (true) {
    const std::uint32_t missing = need_.complete.first_missing(from);
    const std::uint32_t present = available.first_present(missing);
    if (present >= end) return std::nullopt;
    from = present;
    if (from != missing) continue;  // the child may have that one
    if (const auto wish = wish_of(from, layout.symbols_of(from))) return wish;
    ++from;
  }
}

std::optional<ChildStream::Wish> ChildStream::next(const ContentLayout& layout, const BlockSet& available,
                                                   std::uint32_t live, std::uint32_t live_arrived) {
  if (credit_ == 0) return std::nullopt;
  // Of a later block something has arrived: so has what was sent live of all before.
  end_ = std::min({layout.blocks(), live, std::max(live_arrived, arrived_)});
  return first_wish(scan_, end_, layout, available);
}

std::optional<ChildStream::Wish> ChildStream::next_after(const Wish& wish, const ContentLayout& layout,
                                                         const BlockSet& available) const {
  std::uint32_t from = wish.block + 1;
  return first_wish(from, end_, layout, available);
}

bool ChildStream::note_sent(Nanoseconds now, const ContentLayout& layout, const Wish& wish) {
  sent_ = now;
  --credit_;
  if (wish.source) {
    next_source_[wish.block] = *wish.source + 1;
    // All were sent. What becomes of them the next need says.
    if (*wish.source + 1 == layout.symbols_of(wish.block)) satisfied_.insert(wish.block);
  }
  const bool is_first = segments_.empty() || segments_.back().block != wish.block;
  if (is_first) {
    if (segments_.size() == kSegmentsMax) settle(1);
    segments_.push_back({wish.block, 0});
  }
  ++segments_.back().on_way;
  ++on_way_[wish.block];
  return is_first;
}

}  // namespace spindle::bulk
