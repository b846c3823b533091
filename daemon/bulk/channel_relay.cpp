#include "daemon/bulk/channel_relay.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace spindled {

using spindle::bulk::BlockSet;
using spindle::bulk::kLiveStream;
using spindle::bulk::Need;

namespace {

/// What the ring holds of the rate at which symbols arrive.
constexpr Duration kRingTime = 100ms;
/// A child that lacks more than so many rings hold is far behind.
constexpr std::uint64_t kFarBehind = 4;
/// So much later a parent counts as silent from which nothing but hashes is lacking.
constexpr Duration kHashPatience = 2s;
/// One part of so many of the time is spent waiting for children that are held up.
constexpr int kPatienceShare = 200;

/// Whether there is a block below this one that `have` has and `other` has not.
bool has_more(const BlockSet& have, const BlockSet& other, std::uint32_t below) {
  return std::any_of(have.runs().begin(), have.runs().end(), [&](const BlockSet::Run& run) {
    return other.first_missing(run.first) < std::min(run.end, below);
  });
}

/// Of each block that is begun in one of them what the one that has more of it holds.
std::vector<Need::Begun> furthest(const std::vector<Need::Begun>& a, const std::vector<Need::Begun>& b) {
  std::vector<Need::Begun> all;
  all.reserve(a.size() + b.size());
  auto other = b.begin();
  for (const Need::Begun& each : a) {
    while (other != b.end() && other->block < each.block) all.push_back(*other++);
    const bool is_in_both = other != b.end() && other->block == each.block;
    all.push_back({each.block, is_in_both ? std::max(each.held, other->held) : each.held});
    if (is_in_both) ++other;
  }
  all.insert(all.end(), other, b.end());
  return all;
}

}  // namespace

ChannelRelay::ChannelRelay(RelayOutput& output, std::uint32_t symbol_bytes, std::uint32_t symbols_of_block,
                           const spindle::bulk::Hasher& hasher)
    : output_(output),
      symbol_bytes_(symbol_bytes),
      symbols_of_block_(symbols_of_block),
      ring_(std::max<std::size_t>(kRingBytesMin / symbol_bytes, 1)),
      stream_window_(std::max<std::size_t>(kStreamBytes / symbol_bytes, 2)),
      index_(output, hasher) {}

// Who is there.

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
  tell_needs(now, Telling::news);
  grant_upstreams(now);
  tick_at_ = std::min(tick_at_, now + kNeedInterval);
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
  tell_needs(now, Telling::news);
  grant_upstreams(now);
  tick_at_ = std::min(tick_at_, now + kNeedInterval);
}

void ChannelRelay::add_holder(ConnectionId id, bool is_source) {
  holders_.try_emplace(id).first->second.is_source = is_source;
  serve_all();
}

void ChannelRelay::remove(Time now, ConnectionId id) {
  remove_upstream(id);
  remove_peer_sender(id);
  remove_child(now, id);
  remove_holder(id);
  grant_upstreams(now);
}

void ChannelRelay::remove_holder(ConnectionId id) {
  if (holders_.erase(id) == 0) return;
  for (auto& [other, child] : children_) {
    if (child.stream && child.stream->holder == id) end_stream(child);
  }
}

void ChannelRelay::remove_child(Time now, ConnectionId id) {
  const auto child = children_.find(id);
  if (child == children_.end()) return;
  if (child->second.stream) end_stream(child->second);
  children_.erase(child);
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
  tell_needs(now, Telling::regularly);
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
  if (told_ && told_->complete.contains(symbol.block)) ++tally_.needless;
  if (upstream->second.is_source) miss_gap();
  if (remembers()) {
    symbol.former = note_received(now, {symbol.block, symbol.esi});
    if (symbol.former) {
      note_overtaken(*symbol.former);
      may_come_twice(now);
    }
  }
  push(now, std::move(symbol));
  if (has_enough_news_) tell_needs(now, Telling::news);
  return std::nullopt;
}

void ChannelRelay::may_come_twice(Time now) {
  const bool remembered = is_remembering_;
  is_remembering_ = true;
  wait_for_a_ring();
  if (!remembered) remember_ring(now);
}

void ChannelRelay::remember_ring(Time now) {
  for (std::uint64_t place = ring_.begin(); place < ring_.end(); ++place) {
    const RelayedSymbol& symbol = ring_.at(place);
    if (!told_ || !told_->complete.contains(symbol.block)) received_.add(now, {symbol.block, symbol.esi}, place);
  }
}

void ChannelRelay::note_asked_again(Time now, bool is_more_wanted) {
  // A source sends nothing twice live, and what is lost behind a ring that has gone on is not in it any more.
  if (source() || ring_.end() == 0 || (!is_more_wanted && ring_.begin() != 0)) return;
  // What was complete was forgotten. What peers give may be wanted again, as where a block went bad.
  if (is_remembering_ && is_more_wanted && peers_.empty()) remember_ring(now);
  may_come_twice(now);
}

bool ChannelRelay::remembers() {
  if (is_remembering_ && peers_.empty() && upstreams_.size() <= 1 && ring_.end() >= once_from_) {
    is_remembering_ = false;
    received_ = {};
  }
  return is_remembering_;
}

void ChannelRelay::push(Time now, RelayedSymbol symbol) {
  note_drained(now);
  size_ring(now);
  const bool is_of_peer = symbol.peer.has_value();
  ring_.push(std::move(symbol));
  if (is_of_peer) own(ring_.end() - 1);  // such are not for those who have peers
  for (const auto& [id, child] : children_) {
    if (child.takes_from_ring()) output_.may_send(id);
  }
  grant_upstreams(now);
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
    own_bytes_ += symbol.bytes.size();
    child.own.push_back(std::move(symbol));
    return output_.may_send(id);
  }
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
  const bool is_answer = !child.marks.empty() && need.seen >= child.marks.front().number;
  // That something was lost is told once.
  if (child.next_need && child.next_need->lost) need.lost = true;
  if (!is_answer && now - child.need_at < kNeedIntervalLeast) {
    child.next_need = std::move(need);
    tick_at_ = std::min(tick_at_, child.need_at + kNeedIntervalLeast);
    return;
  }
  take_need(now, from, child, std::move(need));
}

void ChannelRelay::take_need(Time now, ConnectionId from, Child& child, Need need) {
  child.has_asked = true;
  child.need_at = now;
  child.next_need.reset();
  // What it said it had was passed over: more have come below it.
  if (has_more(child.need.complete, need.complete, blocks_seen_)) miss(child);
  if (need.lost && !child.is_peer && !peers_.empty()) note_wrong_blocks(child, need);
  if (need.meshed || child.is_meshed()) child.has_all_from = ring_.end();
  if (need.meshed && !child.need.meshed) {
    child.drained = 0;
    child.drained_at = now;
  }
  child.need = std::move(need);
  if (!child.is_peer) index_.set_knows(from, child.need.knows_index);
  if (child.need.lost) miss(child);
  // It lacks that itself, and nobody is below it.
  if (child.daemon.empty()) child.need.lost = child.need.awaits = false;
  if (child.daemon.empty()) note_holder(from, child.need);
  marks_seen(child);
  serve(from, child);
  settle_marks(now);
  tell_needs(now, Telling::regularly);
  output_.may_send(from);  // a mark may be due
}

void ChannelRelay::note_holder(ConnectionId id, const Need& need) {
  if (!need.serves) {
    if (const auto holder = holders_.find(id); holder != holders_.end() && !holder->second.is_source) remove_holder(id);
    return;
  }
  const auto [holder, is_new] = holders_.try_emplace(id);
  holder->second.complete = need.complete;
  if (is_new) {
    BlockSet begun;
    for (const Need::Begun& each : need.begun) begun.add(each.block);
    holder->second.came_with = united(need.complete, begun);
  }
  note_brought(id, need.complete);
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
    if (other != id && has_more(whole, child.need.complete, blocks_seen_)) miss(child);
  }
  holder.came_with = difference(holder.came_with, holder.complete);
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
  if (child.stream && child.is_meshed()) drop_needless(child);
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
    own(place);
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
  tell_needs(now, Telling::news);
}

void ChannelRelay::miss(Child& child) {
  // Blocks come in order but for what some lacked: it can have been of any.
  child.behind_below = blocks_seen_;
  child.has_all_from = ring_.end();
}

void ChannelRelay::miss_gap() {
  if (!std::exchange(has_gap_, false)) return;
  for (auto& [id, child] : children_) miss(child);
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

// Marks.

std::uint32_t ChannelRelay::bound_of(const Child& child) const {
  const std::uint64_t next = std::max(child.cursor, ring_.begin());
  if (next < ring_.end()) return ring_.at(next).block;
  // The rest of the last block comes to it anyhow.
  const bool is_flowing = !is_live_over_ && std::any_of(upstreams_.begin(), upstreams_.end(),
                                                        [](const auto& each) { return each.second.is_source; });
  return is_flowing && blocks_seen_ > 0 ? blocks_seen_ - 1 : blocks_seen_;
}

const ChannelRelay::PassingMark* ChannelRelay::passing_mark(const Child& child) const {
  const PassingMark* latest = nullptr;
  for (const PassingMark& mark : marks_) {
    if (mark.sequence > child.given_sequence && mark.place <= child.cursor) latest = &mark;
  }
  return latest;
}

std::optional<ChannelRelay::GivenMark> ChannelRelay::due_mark(Time now, ConnectionId id, const Child& child) const {
  if (child.is_peer) return std::nullopt;
  if (const PassingMark* mark = passing_mark(child))
    return GivenMark{child.last_mark + 1, mark->mark.bound, mark->sequence};
  if (now - child.marked_at < kMarkInterval || !is_to_be_asked(id, child)) return std::nullopt;
  return GivenMark{child.last_mark + 1, bound_of(child), 0};
}

bool ChannelRelay::is_to_be_asked(ConnectionId id, const Child& child) const {
  if (child.stream || child.known_below || child.is_peer) return false;
  const bool is_asked =
      std::any_of(child.marks.begin(), child.marks.end(), [](const GivenMark& mark) { return mark.sequence == 0; });
  return !is_asked && has_holder_for(id, child);
}

void ChannelRelay::wake_for_mark(Time now, ConnectionId id, const Child& child) {
  const Time at = child.marked_at + kMarkInterval;
  if (at <= now || at >= tick_at_ || !child.is_behind() || !is_to_be_asked(id, child)) return;
  output_.wake_at(tick_at_ = at);
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
  if (is_news) tell_needs(now, Telling::news);
}

// Streams.

bool ChannelRelay::has_for(const Holder& holder, const Child& child, std::uint32_t below) {
  if (holder.is_source) return child.need.complete.first_missing() < below;
  return has_more(holder.complete, child.need.complete, below);
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

bool ChannelRelay::has_parent() const {
  return std::any_of(upstreams_.begin(), upstreams_.end(), [](const auto& each) { return !each.second.is_source; });
}

void ChannelRelay::serve_all() {
  for (auto& [id, child] : children_) serve(id, child);
}

bool ChannelRelay::is_far_behind(const Child& child) const {
  const std::uint64_t blocks = *child.known_below - child.need.complete.first_missing();
  return blocks * symbols_of_block_ > kFarBehind * ring_.capacity();
}

void ChannelRelay::serve(ConnectionId id, Child& child) {
  if (child.stream || !child.known_below || child.is_peer) return;
  if (child.need.complete.first_missing() >= *child.known_below) child.known_below.reset();
  if (!child.known_below) return;
  const auto found = find_holder_for(id, child);
  if (found == holders_.end()) return;
  auto& [holder_id, holder] = *found;
  const auto free = std::find(holder.streams.begin() + 1, holder.streams.end(), false);
  *free = true;
  child.stream = Stream{holder_id,
                        static_cast<std::uint8_t>(free - holder.streams.begin()),
                        0,
                        false,
                        is_far_behind(child) && !child.is_meshed() && !holder.silent_at,
                        child.need_at,
                        *child.known_below};
  Need lacking = child.need;
  lacking.complete.add_run(*child.known_below, spindle::bulk::kBlocksMax);
  std::erase_if(lacking.begun, [&](const Need::Begun& each) { return lacking.complete.contains(each.block); });
  child.known_below.reset();
  output_.send_need(holder_id, child.stream->number, lacking);
  refill(child);
}

std::map<ConnectionId, ChannelRelay::Holder>::iterator ChannelRelay::find_holder_for(ConnectionId id,
                                                                                     const Child& child) {
  auto silent = holders_.end();
  for (auto each = holders_.begin(); each != holders_.end(); ++each) {
    const Holder& holder = each->second;
    if (each->first == id || !may_serve(holder) || !has_for(holder, child, *child.known_below)) continue;
    if (std::find(holder.streams.begin() + 1, holder.streams.end(), false) == holder.streams.end()) continue;
    if (!holder.silent_at) return each;
    if (silent == holders_.end() || holder.silent_at < silent->second.silent_at) silent = each;
  }
  return silent;
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
    const bool is_elsewhere =
        std::any_of(holders_.begin(), holders_.end(), [&, self = id, &to = child](const auto& each) {
          const bool may_be_asked = !each.second.silent_at || !is_given_from_above_;
          return each.first != self && each.first != stream.holder && may_be_asked &&
                 has_for(each.second, to, stream.below);
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
}

void ChannelRelay::refill(Child& child) {
  Stream& stream = *child.stream;
  const std::uint64_t under_way = stream.owed + child.own.size();
  if (stream.is_over || under_way > stream_window_ / 2) return;
  const std::uint64_t symbols = stream_window_ - under_way;
  stream.owed += symbols;
  output_.send_grant(stream.holder, stream.number, symbols);
}

// Upwards.

std::uint64_t ChannelRelay::consumed(Time now) const {
  std::uint64_t furthest = 0;
  std::uint64_t last = ring_.end();
  bool is_taken = false;
  for (const auto& [id, child] : children_) {
    if (!child.takes_from_ring() || child.is_peer) continue;
    furthest = std::max(furthest, child.taken);
    if (child.front() != ring_.end() && now - child.moved_at >= kStalled) continue;
    last = std::min(last, std::max(child.front(), ring_.begin()));
    is_taken = true;
  }
  // What all have passed over is nobody's any more.
  return is_taken ? std::max(furthest, last) : furthest;
}

std::uint64_t ChannelRelay::ahead_max() const { return std::max<std::uint64_t>(ring_.capacity() / 2, 1); }

std::uint64_t ChannelRelay::passed_by_all(Time now) const {
  std::uint64_t passed = ring_.end();
  for (const auto& [id, child] : children_) {
    if (child.is_peer || child.front() == ring_.end() || now - child.moved_at >= kStalled) continue;
    passed = std::min(passed, std::max(child.front(), ring_.begin()));
  }
  return passed;
}

bool ChannelRelay::is_held_up_by_source(Time now, const Child& child) const {
  if (!child.stream || child.stream->is_over || child.need.lost) return false;
  if (child.stream->owed == 0 || !child.own.empty()) return false;
  const auto holder = holders_.find(child.stream->holder);
  return holder != holders_.end() && holder->second.is_source && now - child.stream->begun_at < kStreamPatience;
}

bool ChannelRelay::is_waiting_for_others(Time now, std::uint64_t coming) {
  const Duration since = std::min<Duration>(now - patience_at_, kPatience * kPatienceShare);
  patience_ =
      is_patient_ ? std::max(patience_ - since, Duration{}) : std::min(patience_ + since / kPatienceShare, kPatience);
  patience_at_ = now;
  // What is not sent live leaves the source time for streams.
  const bool is_time_of_streams = std::any_of(children_.begin(), children_.end(),
                                              [&](const auto& each) { return is_held_up_by_source(now, each.second); });
  // It is not spent in crumbs.
  const bool may_wait = patience_ > (is_patient_ ? Duration{} : kPatience / 2);
  is_patient_ = !is_time_of_streams && may_wait && ring_.end() - passed_by_all(now) + coming > ring_.capacity();
  if (!is_time_of_streams && !is_patient_) return false;
  const Time until = now + (is_patient_ ? patience_ : kStreamPatience);
  if (until < tick_at_) output_.wake_at(tick_at_ = until);
  return true;
}

void ChannelRelay::grant_upstreams(Time now) {
  if (!peers_.empty()) grant_peers(now);
  // In few pieces: what is owed alone is mostly too much for more.
  const std::uint64_t most = ahead_max() - std::max<std::uint64_t>(ahead_max() / 4, 1);
  // Others are not to wait for what a silent one owes.
  std::uint64_t owed = 0, speaking = 0;
  for (const auto& [id, upstream] : upstreams_) {
    if (is_silent(now, upstream)) continue;
    owed += upstream.owed;
    ++speaking;
  }
  if (owed > most || speaking == 0) return;
  const bool is_wanted = std::any_of(children_.begin(), children_.end(), [](const auto& each) {
    return each.second.takes_from_ring() && !each.second.is_peer;
  });
  if (!is_wanted || (is_awaiting_ && !is_live_wanted())) return;
  const std::uint64_t under_way = ring_.end() - std::min(consumed(now), ring_.end()) + owed;
  if (under_way > most) return;
  const std::uint64_t more = ahead_max() - under_way;
  if (is_waiting_for_others(now, owed + more)) return;
  const std::uint64_t share = std::max<std::uint64_t>(more / speaking, 1);
  for (auto& [id, upstream] : upstreams_) {
    if (is_silent(now, upstream)) continue;
    if (upstream.owed == 0) upstream.heard_at = now;
    upstream.owed += share;
    output_.send_grant(id, kLiveStream, share);
  }
}

ChannelRelay::Need ChannelRelay::need() const {
  std::optional<Need> all;
  for (const auto& [id, child] : children_) {
    if (child.is_peer || (is_awaiting_ && !child.has_asked)) continue;
    all = all ? merged(*all, child.need) : child.need;
  }
  // Where nobody is, nothing is wanted.
  Need need = all.value_or(Need{BlockSet::of_first(spindle::bulk::kBlocksMax), {}});
  need.serves = need.meshed = false;
  need.knows_index = index_.is_right();
  // What a client here has, or is going to have, it gives to all others below.
  std::uint32_t given_here_from = spindle::bulk::kBlocksMax;
  for (const auto& [id, holder] : holders_) {
    if (holder.silent_at && has_parent()) continue;
    need.complete = united(need.complete, holder.complete);
    const auto client = children_.find(id);
    if (client == children_.end()) continue;
    need.begun = furthest(need.begun, client->second.need.begun);
    given_here_from = std::min(given_here_from, client->second.behind_below);
  }
  const bool is_source_here =
      std::any_of(holders_.begin(), holders_.end(), [](const auto& each) { return each.second.is_source; });
  need.lost = !is_source_here && std::any_of(children_.begin(), children_.end(), [&](const auto& each) {
    return !each.second.is_peer && need.complete.first_missing() < std::min(each.second.behind_below, given_here_from);
  });
  std::erase_if(need.begun, [&](const Need::Begun& each) { return need.complete.contains(each.block); });
  return need;
}

bool ChannelRelay::has_silent_child(Time now) const {
  return std::any_of(children_.begin(), children_.end(), [&](const auto& each) {
    const Child& child = each.second;
    return !child.daemon.empty() && !child.is_peer && child.has_asked && now - child.need_at >= kChildSilence;
  });
}

bool ChannelRelay::lacks_somebody() const {
  const auto awaits = [](const auto& each) {
    return !each.second.is_peer && (!each.second.has_asked || each.second.need.awaits);
  };
  const bool has_none =
      std::all_of(children_.begin(), children_.end(), [](const auto& each) { return each.second.is_peer; });
  if (awaited_.others || has_none || std::any_of(children_.begin(), children_.end(), awaits)) return true;
  std::size_t daemons = 0;
  for (const auto& [id, child] : children_) {
    if (!child.daemon.empty()) daemons += awaited_.daemons.count(child.daemon);
  }
  return daemons < awaited_.daemons.size() || std::any_of(awaited_.clients.begin(), awaited_.clients.end(),
                                                          [&](ConnectionId id) { return !children_.contains(id); });
}

std::optional<ConnectionId> ChannelRelay::source() const {
  const auto source =
      std::find_if(upstreams_.begin(), upstreams_.end(), [](const auto& each) { return each.second.is_source; });
  return source == upstreams_.end() ? std::nullopt : std::optional(source->first);
}

bool ChannelRelay::is_live_wanted() const {
  // The last block that has come may be there in part.
  const std::uint32_t next = live_seen_ == 0 ? 0 : live_seen_ - 1;
  return !source() || std::any_of(children_.begin(), children_.end(), [&](const auto& each) {
    return !each.second.is_peer && each.second.has_asked && each.second.need.complete.first_missing(next) <= live_seen_;
  });
}

void ChannelRelay::tell_source() {
  const std::optional<ConnectionId> to = source();
  if (!to || is_live_over_ || live_seen_ >= blocks_.value_or(0)) return;
  BlockSet ahead;
  ahead.add_run(live_seen_, *blocks_);
  const BlockSet told = intersection(told_source_, ahead);
  if (children_.empty() || is_awaiting_) ahead.clear();
  for (const auto& [id, child] : children_) {
    if (ahead.empty()) break;
    if (child.is_peer) continue;
    ahead = intersection(ahead, child.need.complete);
  }
  if (ahead == told) return;
  output_.send_need(*to, kLiveStream, Need{ahead, {}});
  told_source_ = std::move(ahead);
}

void ChannelRelay::tell_needs(Time now, Telling telling) {
  if (upstreams_.empty() && peers_.empty()) return;
  if (!lacks_somebody()) {
    awaits_since_.reset();
  } else if (!awaits_since_) {
    awaits_since_ = now;
  }
  const bool was_awaiting = is_awaiting_;
  is_awaiting_ = awaits_since_ && now - *awaits_since_ < kAskPatience;
  tell_source();
  if (was_awaiting && !is_awaiting_) grant_upstreams(now);
  Need news = need();
  news.awaits = is_awaiting_;
  news.meshed = is_meshed_ || !peers_.empty();
  // At once what others wait for, what was not wanted before, and what peers are not to give any more; all else now and
  // then.
  const bool is_more_wanted = told_ && has_more(told_->complete, news.complete, spindle::bulk::kBlocksMax);
  const bool is_newly_lost = told_ && news.lost && !told_->lost;
  const bool is_enough_news = std::exchange(has_enough_news_, false);
  const bool is_urgent =
      !untold_.empty() || !told_ || is_more_wanted || is_newly_lost || news.awaits != told_->awaits ||
      news.meshed != told_->meshed ||
      (!peers_.empty() && (is_enough_news || has_more(news.complete, told_->complete, spindle::bulk::kBlocksMax)));
  const Duration since = now - told_at_;
  const bool is_due = telling == Telling::regularly && since >= (told_ != news ? kNeedInterval : kRepeat);
  if (!is_urgent && !is_due) return;
  for (const auto& [id, upstream] : upstreams_) {
    if (upstream.is_source) continue;
    Need to_it = news;
    to_it.seen = upstream.seen;
    output_.send_need(id, kLiveStream, to_it);
  }
  if (is_remembering_) received_.forget(news.complete);
  for (auto& [id, peer] : peers_) {
    std::erase_if(peer.blocks, [&](std::uint32_t block) { return news.complete.contains(block); });
  }
  if (!peers_.empty()) {
    const Need to_peers = need_of_peers(news);
    for (const auto& [id, peer] : peers_) output_.send_need(id, kLiveStream, to_peers);
  }
  untold_.clear();
  told_at_ = now;
  told_ = std::move(news);
  if (is_more_wanted || is_newly_lost) note_asked_again(now, is_more_wanted);
}

void ChannelRelay::handle_time(Time now) {
  if (now < tick_at_) return;
  // Whatever is done now may want to be gone on with sooner.
  tick_at_ = upstreams_.empty() && children_.empty() ? kNever : now + kNeedInterval;
  for (auto& [id, child] : children_) {
    if (!child.next_need) continue;
    if (now - child.need_at >= kNeedIntervalLeast) {
      take_need(now, id, child, std::move(*child.next_need));
    } else {
      tick_at_ = std::min(tick_at_, child.need_at + kNeedIntervalLeast);
    }
  }
  index_.handle_time(now);
  look_after_streams(now);
  settle_marks(now);
  tell_needs(now, Telling::regularly);
  size_ring(now);
  for (const auto& [id, child] : children_) {
    // A mark may be due, or what others own.
    if (child.is_behind() || child.is_meshed()) output_.may_send(id);
  }
  grant_upstreams(now);
}

void ChannelRelay::set_round_trip(ConnectionId id, Duration round_trip) {
  if (const auto upstream = upstreams_.find(id); upstream != upstreams_.end()) upstream->second.round_trip = round_trip;
  if (const auto peer = peers_.find(id); peer != peers_.end()) peer->second.window.set_round_trip(round_trip);
}

void ChannelRelay::set_ring_bytes_max(std::size_t bytes) {
  ring_bytes_max_ = std::min(bytes, kRingBytesMax);
  const std::size_t most = std::max<std::size_t>(ring_bytes_max_ / symbol_bytes_, 1);
  if (ring_.capacity() > most) ring_.set_capacity(most);
}

void ChannelRelay::size_ring(Time now) {
  if (now - sized_at_ < kSizeInterval) return;
  const double seconds = to_seconds(now - sized_at_);
  const auto bytes = static_cast<double>((ring_.end() - arrived_) * symbol_bytes_);
  arrived_ = ring_.end();
  sized_at_ = now;
  Duration time = kRingTime;
  for (const auto& [id, upstream] : upstreams_) time = std::max(time, 4 * upstream.round_trip);
  // It grows at once, and becomes smaller by and by: a pause says nothing of the rate.
  const double least = 0.75 * static_cast<double>(ring_.capacity() * symbol_bytes_);
  const double wanted = std::max(bytes / seconds * to_seconds(time), least);
  const auto most = static_cast<double>(ring_bytes_max_);
  const double size = std::clamp(wanted, std::min(double{kRingBytesMin}, most), most);
  ring_.set_capacity(std::max<std::size_t>(static_cast<std::size_t>(size) / symbol_bytes_, 1));
}

std::optional<Time> ChannelRelay::silent_since(ConnectionId id) const {
  Duration later{};
  if (told_ && blocks_) {
    const auto has_enough = [](const Need::Begun& each) { return each.held == spindle::bulk::kEnough; };
    const auto enough = std::count_if(told_->begun.begin(), told_->begun.end(), has_enough);
    const bool is_enough = told_->complete.count() + static_cast<std::uint32_t>(enough) >= *blocks_;
    if (is_enough && (tally_.of_peers == 0 || enough == 0)) return std::nullopt;
    // Peers may have given all of that before its parent, which alone gives the hashes.
    if (is_enough) later = kHashPatience;
  }
  const auto found = upstreams_.find(id);
  if (found == upstreams_.end() || found->second.owed == 0 || found->second.is_source) return std::nullopt;
  return found->second.heard_at + later;
}

BlockSet ChannelRelay::held() const {
  BlockSet held;
  for (const auto& [id, holder] : holders_) {
    held = united(held, holder.is_source ? BlockSet::of_first(blocks_.value_or(0)) : holder.complete);
  }
  return held;
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
