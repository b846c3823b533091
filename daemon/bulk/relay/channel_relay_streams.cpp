// The holders' side of ChannelRelay: what those that are behind have lost, and who gives it to them.
#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/bulk/relay/bounded_need.h"
#include "daemon/bulk/relay/channel_relay.h"

namespace spindled {

using relay::Child;
using relay::GivenMark;
using relay::Holder;
using relay::PassingMark;
using relay::Stream;
using spindle::bulk::BlockSet;
using spindle::bulk::Need;

namespace {

/// A child that lacks more than so many rings hold is far behind.
constexpr std::uint64_t kFarBehind = 4;
/// What a stream brings at most to one that has peers, so many seconds long or so many bytes.
constexpr std::uint64_t kMeshedSeconds = 1;
constexpr std::uint64_t kMeshedBytesLeast = 4u << 20;

}  // namespace

// Who holds content.

void ChannelRelay::add_holder(ConnectionId id, bool is_source) {
  holders_.try_emplace(id).first->second.is_source = is_source;
  serve_all();
}

void ChannelRelay::remove_holder(ConnectionId id) {
  if (holders_.erase(id) == 0) return;
  has_missed_some_ = true;  // what it would have given
  for (auto& [other, child] : children_) {
    if (!child.stream || child.stream->holder != id) continue;
    end_stream(child);
    if (child.is_peer) output_.may_send(other);
  }
}

void ChannelRelay::note_holder(ConnectionId id, const Need& need) {
  if (!need.serves) {
    if (const auto holder = holders_.find(id); holder != holders_.end() && !holder->second.is_source) remove_holder(id);
    return;
  }
  const auto [holder, is_new] = holders_.try_emplace(id);
  holder->second.complete = relay::surely_complete(need);
  if (is_new) {
    BlockSet begun;
    for (const Need::Begun& each : need.begun) begun.add(each.block);
    holder->second.came_with = united(holder->second.complete, begun);
  }
  note_brought(id, holder->second.complete);
  note_came_with(id, holder->second);
  serve_all();
}

void ChannelRelay::note_brought(ConnectionId holder, const BlockSet& blocks) {
  const std::uint32_t end = blocks.runs().empty() ? 0 : blocks.runs().back().end;
  if (end <= blocks_seen_) return;
  blocks_seen_ = end;
  is_whole_ = false;
  for (auto& [id, child] : children_) {
    if (id != holder) miss(child);
  }
}

void ChannelRelay::note_came_with(ConnectionId id, Holder& holder) {
  const BlockSet whole = intersection(holder.came_with, holder.complete);
  if (whole.empty()) return;
  for (auto& [other, child] : children_) {
    if (other != id && has_more(whole, child.need.complete, come_below())) miss(child);
  }
  holder.came_with = difference(holder.came_with, holder.complete);
}

bool ChannelRelay::is_source_here() const {
  return std::any_of(holders_.begin(), holders_.end(), [](const auto& each) { return each.second.is_source; });
}

BlockSet ChannelRelay::held() const {
  BlockSet held;
  for (const auto& [id, holder] : holders_) {
    held = united(held, holder.is_source ? BlockSet::of_first(blocks_.value_or(0)) : holder.complete);
  }
  return held;
}

// Marks: what of that has been lost.

std::optional<GivenMark> ChannelRelay::due_mark(Time now, ConnectionId id, const Child& child) const {
  if (child.is_peer) return std::nullopt;
  if (const PassingMark* mark = passing_mark(child))
    return GivenMark{child.last_mark + 1, mark->mark.bound, mark->sequence};
  if (now - child.marked_at < kMarkInterval || !is_to_be_asked(id, child)) return std::nullopt;
  return GivenMark{child.last_mark + 1, bound_of(child), 0};
}

const PassingMark* ChannelRelay::passing_mark(const Child& child) const {
  const PassingMark* latest = nullptr;
  for (const PassingMark& mark : marks_) {
    if (mark.sequence > child.given_sequence && mark.place <= child.cursor) latest = &mark;
  }
  return latest;
}

bool ChannelRelay::is_to_be_asked(ConnectionId id, const Child& child) const {
  if (child.stream || child.known_below || child.is_peer) return false;
  const bool is_asked =
      std::any_of(child.marks.begin(), child.marks.end(), [](const GivenMark& mark) { return mark.sequence == 0; });
  return !is_asked && has_holder_for(id, child);
}

std::uint32_t ChannelRelay::bound_of(const Child& child) const {
  const std::uint64_t next = std::max(child.cursor, ring_.begin());
  if (next < ring_.end()) return ring_.at(next).block;
  // The rest of the last block comes to it anyhow.
  const bool is_flowing = !is_live_over_ && source();
  return is_flowing && blocks_seen_ > 0 ? blocks_seen_ - 1 : blocks_seen_;
}

void ChannelRelay::wake_for_mark(Time now, ConnectionId id, const Child& child) {
  const Time at = child.marked_at + kMarkInterval;
  if (at <= now || at >= tick_at_ || !child.is_behind() || !is_to_be_asked(id, child)) return;
  wake_at(at);
}

void ChannelRelay::marks_seen(Child& child) {
  while (!child.marks.empty() && child.marks.front().number <= child.need.seen) {
    const GivenMark& mark = child.marks.front();
    if (mark.sequence == 0) {
      child.known_below = mark.bound;
    } else {
      child.has_sequence = std::max(child.has_sequence, mark.sequence);
    }
    child.marks.pop_front();
  }
}

void ChannelRelay::settle_marks(Time now) {
  bool is_news = false;
  while (!marks_.empty()) {
    const PassingMark& mark = marks_.front();
    const bool is_old = now - mark.come_at >= kMarkPatience;
    const bool all_have = std::all_of(children_.begin(), children_.end(), [&](const auto& each) {
      return each.second.has_sequence >= mark.sequence || !each.second.takes_from_ring() || each.second.is_peer;
    });
    if (!all_have && !is_old) break;
    if (const auto upstream = upstreams_.find(mark.upstream); upstream != upstreams_.end()) {
      upstream->second.seen = mark.mark.mark;
      untold_.insert(mark.upstream);
      is_news = true;
    }
    marks_.pop_front();
  }
  if (is_news) tell_soon(now);
}

// Streams: who gives it.

void ChannelRelay::serve_all() {
  for (auto each = unserved_.begin(); each != unserved_.end();) {
    Child& child = children_.at(*each);
    serve(*each, child);
    each = child.known_below ? std::next(each) : unserved_.erase(each);
  }
}

void ChannelRelay::serve(ConnectionId id, Child& child) {
  if (child.stream || !child.known_below || child.is_peer) return;
  if (child.settled.first_missing() >= *child.known_below) child.known_below.reset();
  if (!child.known_below) return;
  const auto holder = find_holder_for(id, child);
  if (holder == holders_.end()) return;
  const bool is_alone = is_far_behind(child) && !child.is_meshed() && !holder->second.silent_at;
  const std::uint32_t below = end_of_stream_for(child);
  Need lacking = child.need;
  lacking.complete.add_run(below, spindle::bulk::kBlocksMax);
  std::erase_if(lacking.begun, [&](const Need::Begun& each) { return lacking.complete.contains(each.block); });
  child.known_below.reset();
  begin_stream(child, holder, lacking, {0, below}, is_alone);
}

std::uint32_t ChannelRelay::end_of_stream_for(const Child& child) const {
  if (!child.is_meshed()) return *child.known_below;
  const std::uint64_t bytes = kMeshedSeconds * child.meter.rate(child.need_at.time_since_epoch());
  const std::uint64_t block_bytes = std::uint64_t{symbols_of_block_} * symbol_bytes_;
  std::uint64_t blocks = std::max(bytes, kMeshedBytesLeast) / block_bytes + 1;
  std::uint32_t end = 0;
  while (end < *child.known_below) {
    const std::uint32_t missing = child.settled.first_missing(end);
    const std::uint64_t run = child.settled.first_present(missing) - missing;
    if (blocks <= run) return std::min(missing + static_cast<std::uint32_t>(blocks), *child.known_below);
    blocks -= run;
    end = missing + static_cast<std::uint32_t>(run);
  }
  return *child.known_below;
}

void ChannelRelay::begin_stream(Child& child, std::map<ConnectionId, Holder>::iterator from, const Need& need,
                                BlockSet::Run blocks, bool is_alone) {
  auto& [holder_id, holder] = *from;
  const std::uint8_t number = holder.free_stream().value();
  holder.streams[number] = true;
  child.stream = Stream{holder_id, number, 0, false, is_alone, child.need_at, blocks};
  output_.send_need(holder_id, number, need);
  refill(child);
}

bool ChannelRelay::is_far_behind(const Child& child) const {
  const std::uint64_t blocks = *child.known_below - child.need.complete.first_missing();
  return blocks * symbols_of_block_ > kFarBehind * ring_.capacity();
}

std::map<ConnectionId, Holder>::iterator ChannelRelay::find_holder_for(ConnectionId id, const Child& child) {
  auto silent = holders_.end();
  for (auto each = holders_.begin(); each != holders_.end(); ++each) {
    const Holder& holder = each->second;
    if (each->first == id || !may_serve(holder) || !has_for(holder, child, *child.known_below)) continue;
    if (!holder.free_stream()) continue;
    if (!holder.silent_at) return each;
    if (silent == holders_.end() || holder.silent_at < silent->second.silent_at) silent = each;
  }
  return silent;
}

bool ChannelRelay::has_holder_for(ConnectionId id, const Child& child) const {
  const std::uint32_t below = std::min(bound_of(child), child.behind_below);
  return std::any_of(holders_.begin(), holders_.end(), [&](const auto& each) {
    return each.first != id && may_serve(each.second) && has_for(each.second, child, below);
  });
}

bool ChannelRelay::may_serve(const Holder& holder) const {
  if (!holder.silent_at || !has_parent()) return true;
  const bool is_asked = std::find(holder.streams.begin() + 1, holder.streams.end(), true) != holder.streams.end();
  return !is_asked && !is_given_from_above_;
}

bool ChannelRelay::has_for(const Holder& holder, const Child& child, std::uint32_t below) {
  if (holder.is_source) return child.settled.first_missing() < below;
  return has_more(holder.complete, child.settled, below);
}

void ChannelRelay::symbol_of_stream_received(ConnectionId from, std::uint8_t stream, RelayedSymbol symbol) {
  for (auto& [id, child] : children_) {
    if (!child.stream || child.stream->holder != from || child.stream->number != stream) continue;
    if (child.stream->owed == 0) return;
    --child.stream->owed;
    if (!std::exchange(child.stream->has_come, true)) {
      if (const auto holder = holders_.find(from); holder != holders_.end() && holder->second.silent_at) {
        // What is given from above meanwhile is not to come twice.
        if (is_given_from_above_) return end_stream(child);
        holder->second.silent_at.reset();
      }
    }
    ++tally_.news;
    own_bytes_ += symbol.bytes.size();
    child.own.push_back(std::move(symbol));
    return output_.may_send(id);
  }
}

void ChannelRelay::refill(Child& child) {
  Stream& stream = *child.stream;
  const std::uint64_t under_way = stream.owed + child.own.size();
  if (stream.is_over || under_way > stream_window_ / 2) return;
  const std::uint64_t symbols = stream_window_ - under_way;
  stream.owed += symbols;
  output_.send_grant(stream.holder, stream.number, symbols);
}

void ChannelRelay::drop_needless(Child& child) {
  const BlockSet::Run& blocks = child.stream->blocks;
  if (child.settled.first_missing(blocks.first) >= blocks.end) return end_stream(child);
  while (!child.own.empty() && child.settled.contains(child.own.front().block)) {
    own_bytes_ -= child.own.front().bytes.size();
    child.own.pop_front();
    refill(child);
  }
  if (child.own.empty() && child.stream->is_over) end_stream(child);
}

void ChannelRelay::look_after_streams(Time now) {
  is_given_from_above_ = std::any_of(upstreams_.begin(), upstreams_.end(), [&](const auto& each) {
    return !each.second.is_source && each.second.has_sent && now - each.second.heard_at < kSilence;
  });
  for (auto& [id, child] : children_) {
    if (!child.stream) continue;
    Stream& stream = *child.stream;
    const bool has_come = std::exchange(stream.has_come, false);
    if (has_come || stream.is_over || stream.owed == 0 || !child.own.empty()) {
      stream.silent_since.reset();
      continue;
    }
    if (!stream.silent_since) stream.silent_since = now;
    if (now - *stream.silent_since < kHolderSilence) continue;
    holders_.at(stream.holder).silent_at = now;
    if (child.is_peer) {
      end_stream(child);
      output_.may_send(id);
      continue;
    }
    const bool is_elsewhere =
        std::any_of(holders_.begin(), holders_.end(), [&, self = id, &to = child](const auto& each) {
          const bool may_be_asked = !each.second.silent_at || !is_given_from_above_;
          return each.first != self && each.first != stream.holder && may_be_asked &&
                 has_for(each.second, to, stream.blocks.end);
        });
    // It is asked once more what it lacks, and served by another one then, those that are silent in turn; or what it
    // lacks is given from above, and the stream is left to tell when the holder is back.
    if (is_elsewhere) {
      end_stream(child);
    } else if (has_parent()) {
      stream.is_alone = false;
    }
  }
}

void ChannelRelay::end_stream(Child& child) {
  if (const auto holder = holders_.find(child.stream->holder); holder != holders_.end()) {
    holder->second.streams[child.stream->number] = false;
    if (!child.stream->is_over) output_.send_release(child.stream->holder, child.stream->number);
  }
  for (const RelayedSymbol& symbol : child.own) own_bytes_ -= symbol.bytes.size();
  child.own.clear();
  child.stream.reset();
  // A peer knows best what it lacks of that block, and asks again.
  if (child.is_peer && !child.asked.empty()) child.asked.pop_front();
}

}  // namespace spindled
