#include "daemon/bulk/relay/channel_relay.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/bulk/relay/bounded_need.h"

namespace spindled {

using relay::Child;
using relay::GivenMark;
using relay::PassingMark;
using spindle::bulk::kLiveStream;
using spindle::bulk::Need;

// Who is there.

ChannelRelay::ChannelRelay(RelayOutput& output, std::uint32_t symbol_bytes, std::uint32_t symbols_of_block,
                           const spindle::bulk::Hasher& hasher)
    : output_(output),
      symbol_bytes_(symbol_bytes),
      symbols_of_block_(symbols_of_block),
      index_(output, hasher),
      ring_size_(symbol_bytes),
      ring_(ring_size_.first()),
      stream_window_(std::max<std::size_t>(kStreamBytes / symbol_bytes, 2)) {}

void ChannelRelay::add_upstream(Time now, ConnectionId id, bool is_source) {
  peers_.erase(id);
  const auto [at, is_new] = upstreams_.try_emplace(id);
  if (!is_new) return;
  at->second.is_source = is_source;
  at->second.heard_at = now;
  // Another one before it, or a former one, may have given some of what it gives.
  if (!is_source && (upstreams_.size() > 1 || ring_.end() != 0)) may_come_twice(now);
  is_source ? told_source_.clear() : static_cast<void>(untold_.insert(id));
  if (is_source && (blocks_seen_ != 0 || index_.count() != 0)) has_gap_ = true;
  index_.add_upstream(id);
  tell_needs(now);  // before it is granted anything
  grant_upstreams(now);
  wake_for_tick(now);
}

void ChannelRelay::add_child(Time now, ConnectionId id, std::string_view daemon) {
  const auto [at, is_new] = children_.try_emplace(id);
  if (!is_new) return;
  Child& child = at->second;
  child.daemon = daemon;
  index_.add_child(id);
  child.cursor = child.taken = ring_.begin();
  child.moved_at = now;
  child.has_sequence = child.given_sequence = last_sequence_;
  if (ring_.begin() != 0 || !is_whole_) miss(child);
  child.has_all_from = child.cursor;  // what the ring has it has not missed
  tell_soon(now);
  grant_upstreams(now);
  wake_for_tick(now);
}

void ChannelRelay::remove(Time now, ConnectionId id) {
  const bool takes_part = is_upstream(id) || is_peer_sender(id) || children_.contains(id) || holders_.contains(id);
  remove_upstream(id);
  remove_peer_sender(id);
  remove_child(now, id);
  remove_holder(id);
  if (takes_part) grant_upstreams(now);
}

void ChannelRelay::remove_child(Time now, ConnectionId id) {
  const auto child = children_.find(id);
  if (child == children_.end()) return;
  if (child->second.stream) end_stream(child->second);
  children_.erase(child);
  unserved_.erase(id);
  index_.remove_child(id);
  settle_marks(now);
  grant_upstreams(now);
}

void ChannelRelay::remove_upstream(ConnectionId id) {
  if (upstreams_.erase(id) != 0) wait_for_a_ring();
  index_.remove_upstream(id);
  untold_.erase(id);
  std::erase_if(marks_, [&](const PassingMark& mark) { return mark.upstream == id; });
}

void ChannelRelay::set_awaited(Time now, Awaited awaited) {
  awaited_ = std::move(awaited);
  tell_soon(now);
}

void ChannelRelay::set_plan(std::uint8_t generation, std::set<std::string, std::less<>> below) {
  std::erase_if(plans_, [&](const Plan& plan) { return plan.generation == generation; });
  plans_.push_back({generation, std::move(below)});
  if (plans_.size() > kGenerationsKept) plans_.pop_front();
}

// What comes in.

std::optional<bool> ChannelRelay::symbol_received(Time now, ConnectionId from, std::uint8_t stream,
                                                  RelayedSymbol symbol) {
  if (symbol.bytes.size() != symbol_bytes_) return std::nullopt;
  ++tally_.received;
  if (holders_.contains(from)) symbol.generation = latest_generation();
  if (stream != kLiveStream) {
    symbol_of_stream_received(from, stream, std::move(symbol));
    return std::nullopt;
  }
  const auto upstream = upstreams_.find(from);
  if (upstream == upstreams_.end()) {
    return is_peer_sender(from) ? symbol_of_peer_received(now, from, std::move(symbol)) : std::nullopt;
  }
  if (upstream->second.owed == 0) return std::nullopt;
  --upstream->second.owed;
  upstream->second.heard_at = now;
  upstream->second.has_sent = true;
  if (upstream->second.is_source) note_live(symbol.block);
  if (symbol.block > blocks_seen_) is_whole_ = false;
  blocks_seen_ = std::max(blocks_seen_, symbol.block + 1);
  const bool is_needless = told_ && told_->complete.contains(symbol.block);
  if (is_needless) ++tally_.needless;
  if (upstream->second.is_source) miss_gap();
  if (remembers()) {
    symbol.former = note_received(now, {symbol.block, symbol.esi});
    if (symbol.former) {
      note_overtaken(*symbol.former);
      may_come_twice(now);
    }
  }
  if (!is_needless && !symbol.former) ++tally_.news;
  push(now, std::move(symbol));
  if (has_enough_news_) tell_soon(now);
  return std::nullopt;
}

void ChannelRelay::push(Time now, RelayedSymbol symbol) {
  note_drained(now);
  size_ring(now);
  const bool is_of_peer = symbol.peer.has_value();
  ring_.push(std::move(symbol));
  owned_.forget_before(ring_.begin());
  if (is_of_peer) owned_.add(ring_.end() - 1);  // such are not for those who have peers
  for (const auto& [id, child] : children_) {
    if (child.takes_from_ring()) output_.may_send(id);
  }
  grant_upstreams(now);
}

void ChannelRelay::mark_received(Time now, ConnectionId from, const RelayedMark& mark) {
  if (!upstreams_.contains(from) || marks_.size() == kMarksMax) return;
  marks_.push_back({++last_sequence_, ring_.end(), from, mark, now});
  for (const auto& [id, child] : children_) output_.may_send(id);
  settle_marks(now);
}

void ChannelRelay::need_received(Time now, ConnectionId from, Need need) {
  const auto at = children_.find(from);
  if (at == children_.end()) return;
  Child& child = at->second;
  relay::bound(need, blocks_);
  const bool is_answer = !child.marks.empty() && need.seen >= child.marks.front().number;
  // That something was lost is told once.
  if (child.next_need && child.next_need->lost) need.lost = true;
  if (!is_answer && now - child.need_at < kNeedIntervalLeast) {
    child.next_need = std::move(need);
    wake_at(child.need_at + kNeedIntervalLeast);
    return;
  }
  take_need(now, from, child, std::move(need));
}

void ChannelRelay::take_need(Time now, ConnectionId from, Child& child, Need need) {
  const bool tells_progress = is_progress(child, need);
  child.has_asked = true;
  child.need_at = now;
  child.next_need.reset();
  // What it said it had was passed over: more have come below it.
  if (has_more(child.need.complete, need.complete, come_below())) miss(child);
  if (need.lost && !child.is_peer && !peers_.empty()) note_wrong_blocks(child, need);
  if (need.meshed || child.is_meshed()) child.has_all_from = ring_.end();
  if (need.meshed && !child.need.meshed) {
    child.drained = 0;
    child.drained_at = now;
  }
  child.need = std::move(need);
  // Of others what they have enough of becomes complete in a moment, and is lacking until then.
  child.settled = child.is_meshed() || child.is_peer ? settled(child.need) : child.need.complete;
  if (!child.is_peer) index_.set_knows(from, child.need.knows_index);
  if (child.need.lost) miss(child);
  // It lacks that itself, and nobody is below it.
  if (child.daemon.empty()) child.need.lost = child.need.awaits = false;
  if (child.daemon.empty()) note_holder(from, child.need);
  marks_seen(child);
  serve(from, child);
  if (child.known_below) unserved_.insert(from);
  settle_marks(now);
  tells_progress && !has_missed_some_ ? tell_later(now) : tell_soon(now);
  output_.may_send(from);  // a mark may be due
}

void ChannelRelay::grant_received(ConnectionId from, std::uint64_t symbols) {
  const auto child = children_.find(from);
  if (child == children_.end()) return;
  // It tries this daemon: what it has not got in any way lies at the end, and not where others were given the same.
  const bool is_trial = child->second.is_peer && child->second.credit == 0 && child->second.given < kGivenToTry;
  if (is_trial) child->second.cursor = ring_.end();
  child->second.credit = std::min<std::uint64_t>(child->second.credit + symbols, spindle::bulk::kGrantMax);
  output_.may_send(from);
}

void ChannelRelay::release_received(Time now, ConnectionId from, std::uint8_t stream) {
  if (const auto upstream = upstreams_.find(from); stream == kLiveStream && upstream != upstreams_.end()) {
    if (upstream->second.is_source) {
      is_live_over_ = true;
      note_live(blocks_.value_or(0));
      blocks_seen_ = std::max(blocks_seen_, blocks_.value_or(index_.count()));
      miss_gap();
    }
    for (const auto& [id, child] : children_) output_.may_send(id);  // a mark may be due
    return;
  }
  for (auto& [id, child] : children_) {
    if (!child.stream || child.stream->holder != from || child.stream->number != stream) continue;
    child.stream->is_over = true;
    if (child.own.empty()) end_stream(child);
    output_.may_send(id);
    return grant_upstreams(now);
  }
}

void ChannelRelay::note_live(std::uint32_t block) {
  if (block > live_seen_) {
    is_whole_ = false;
    for (auto& [id, child] : children_) {
      const bool lacks_some = child.need.complete.first_missing(live_seen_) < block;
      if (lacks_some) child.behind_below = std::max(child.behind_below, block);
    }
  }
  live_seen_ = std::max(live_seen_, is_live_over_ ? block : block + 1);
}

void ChannelRelay::miss_gap() {
  if (!std::exchange(has_gap_, false)) return;
  for (auto& [id, child] : children_) miss(child);
}

// What goes out.

std::optional<ChannelRelay::Item> ChannelRelay::next(Time now, ConnectionId id) {
  const auto at = children_.find(id);
  if (at == children_.end()) return std::nullopt;
  Child& child = at->second;
  const bool takes_from_ring = child.credit > 0 && child.takes_from_ring();
  bool has_in_ring = takes_from_ring && seek(now, child);
  std::uint64_t place = child.cursor;
  if (takes_from_ring && child.is_meshed()) {
    const bool has_own = seek_own(child);
    if (has_own) place = child.next_own;
    const bool may_have_all = !has_own && has_in_ring && is_drained(now, child);
    if (may_have_all && is_source_done()) {
      // What others own its peers may give it; the source gives it what nobody has.
      pass_over_ring(now, child);
      has_in_ring = false;
    } else {
      has_in_ring = has_own || may_have_all;
    }
  }
  if (const auto due = child.takes_from_ring() ? due_mark(now, id, child) : std::nullopt) {
    child.last_mark = due->number;
    child.given_sequence = std::max(child.given_sequence, due->sequence);
    child.marks.push_back(*due);
    if (due->sequence == 0) child.marked_at = now;
    return RelayedMark{due->number, due->bound};
  }
  if (child.stream && (child.is_meshed() || child.is_peer)) drop_needless(child);
  if (child.is_peer && !child.stream) give_asked_block(id, child);
  if (child.credit == 0 || (child.own.empty() && !has_in_ring)) {
    wake_for_mark(now, id, child);
    return std::nullopt;
  }
  --child.credit;
  ++child.given;
  child.meter.add(now.time_since_epoch(), symbol_bytes_);
  child.is_turn_of_ring = !child.is_turn_of_ring;
  if (!child.own.empty() && !(has_in_ring && child.is_turn_of_ring)) {
    RelayedSymbol symbol = std::move(child.own.front());
    child.own.pop_front();
    own_bytes_ -= symbol.bytes.size();
    refill(child);
    if (child.own.empty() && child.stream->is_over) end_stream(child);
    return symbol;
  }
  return take(now, child, place);
}

RelayedSymbol ChannelRelay::take(Time now, Child& child, std::uint64_t place) {
  RelayedSymbol symbol = ring_.at(place);
  if (child.is_meshed()) {
    note_drained(now);
    owned_.add(place);
  }
  if (place == child.cursor) {
    ++child.cursor;
  } else {
    child.ahead.insert(place);
  }
  child.taken = std::max(child.taken, place + 1);
  child.moved_at = now;
  grant_upstreams(now);
  return symbol;
}

bool ChannelRelay::may_have(const Child& child, const RelayedSymbol& symbol) const {
  if (child.need.complete.contains(symbol.block)) return false;
  // What it lacks there it gets in its stream, once it is known what that is.
  const bool is_asked = !child.marks.empty() && child.marks.back().sequence == 0;
  if (is_asked && symbol.block < std::min(child.marks.back().bound, child.behind_below)) return false;
  if (child.daemon.empty()) return true;
  if (symbol.peer && (child.is_peer || child.need.meshed)) return false;
  if (child.is_peer) return child.need.held_of(symbol.block) != spindle::bulk::kEnough;
  const auto plan = std::find_if(plans_.begin(), plans_.end(),
                                 [&](const Plan& each) { return each.generation == symbol.generation; });
  return plan != plans_.end() && plan->below.contains(child.daemon);
}

bool ChannelRelay::was_given_before(const Child& child, const RelayedSymbol& symbol) {
  return symbol.former && *symbol.former >= child.has_all_from && !child.is_peer && !child.is_meshed();
}

bool ChannelRelay::seek(Time now, Child& child) {
  if (child.cursor < ring_.begin()) note_overwritten(now, child);
  const std::uint64_t from = child.cursor;
  while (child.cursor < ring_.end()) {
    const bool has_it = child.ahead.erase(child.cursor) != 0;
    const RelayedSymbol& symbol = ring_.at(child.cursor);
    const bool was_given = has_it || was_given_before(child, symbol);
    if (!was_given && may_have(child, symbol)) break;
    ++child.cursor;
    // What it may not have by this plan it lacks all the same.
    if (!was_given && !child.need.complete.contains(symbol.block)) miss(child);
  }
  if (child.cursor != from || child.cursor == ring_.end()) child.moved_at = now;
  if (child.cursor != from) grant_upstreams(now);
  return child.cursor < ring_.end();
}

void ChannelRelay::note_overwritten(Time now, Child& child) {
  const auto had_end = child.ahead.lower_bound(ring_.begin());
  const auto had = static_cast<std::uint64_t>(std::distance(child.ahead.begin(), had_end));
  child.ahead.erase(child.ahead.begin(), had_end);
  const std::uint64_t missed = ring_.begin() - child.cursor - had;
  child.cursor = ring_.begin();
  if (missed == 0) return;
  child.missed += missed;
  miss(child);
  // What others own it is to get of them, and a peer of its parent.
  if (child.is_peer || child.is_meshed()) return;
  tally_.overwritten += missed;
  if (child.stream) child.stream->is_alone = true;
  tell_soon(now);
}

void ChannelRelay::miss(Child& child) {
  // Blocks come in order but for what some lacked: it can have been of any.
  child.behind_below = come_below();
  child.has_all_from = ring_.end();
  has_missed_some_ = true;
}

// As time goes by.

void ChannelRelay::handle_time(Time now) {
  if (now < tick_at_) {
    if (now >= looks_.next()) tell_needs(now);
    return;
  }
  // Whatever is done now may want to be gone on with sooner.
  tick_at_ = kNever;
  if (!upstreams_.empty() || !children_.empty()) wake_for_tick(now);
  for (auto& [id, child] : children_) {
    if (!child.next_need) continue;
    if (now - child.need_at >= kNeedIntervalLeast) {
      take_need(now, id, child, std::move(*child.next_need));
    } else {
      wake_at(child.need_at + kNeedIntervalLeast);
    }
  }
  index_.handle_time(now);
  look_after_streams(now);
  settle_marks(now);
  tell_needs(now);
  size_ring(now);
  count_needs();
  for (const auto& [id, child] : children_) {
    // A mark may be due, or what others own.
    if (child.is_behind() || child.is_meshed()) output_.may_send(id);
  }
  grant_upstreams(now);
}

void ChannelRelay::wake_for_tick(Time now) {
  const Duration since_epoch = (now + kNeedInterval).time_since_epoch();
  wake_at(Time((since_epoch + kTickGrid - Duration(1)) / kTickGrid * kTickGrid));
}

void ChannelRelay::count_needs() {
  needs_bytes_ = told_ ? relay::bytes_of(*told_) : 0;
  for (const auto& [id, child] : children_) {
    needs_bytes_ += relay::bytes_of(child.need) + relay::bytes_of(child.settled);
    if (child.next_need) needs_bytes_ += relay::bytes_of(*child.next_need);
  }
  for (const auto& [id, holder] : holders_) {
    needs_bytes_ += relay::bytes_of(holder.complete) + relay::bytes_of(holder.came_with);
  }
}

void ChannelRelay::set_round_trip(ConnectionId id, Duration round_trip) {
  if (const auto upstream = upstreams_.find(id); upstream != upstreams_.end()) upstream->second.round_trip = round_trip;
  if (const auto peer = peers_.find(id); peer != peers_.end()) peer->second.window.set_round_trip(round_trip);
}

void ChannelRelay::set_ring_bytes_max(std::size_t bytes) { ring_size_.set_bytes_max(bytes, ring_); }

void ChannelRelay::size_ring(Time now) {
  Duration longest{};
  for (const auto& [id, upstream] : upstreams_) longest = std::max(longest, upstream.round_trip);
  ring_size_.follow(now, longest, ring_);
}

std::vector<ChannelRelay::ChildInfo> ChannelRelay::children(Time now) const {
  std::vector<ChildInfo> infos;
  for (const auto& [id, child] : children_) {
    infos.push_back({id, child.daemon, child.need, child.given, child.missed, child.is_peer, child.is_meshed(),
                     child.is_behind(), child.stream.has_value(), child.credit > 0,
                     !child.own.empty() || (child.takes_from_ring() && child.cursor < ring_.end()),
                     child.meter.rate(now.time_since_epoch())});
  }
  return infos;
}

}  // namespace spindled
