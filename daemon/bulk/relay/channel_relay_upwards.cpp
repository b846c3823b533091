// The upstreams' side of ChannelRelay: what they are granted, and what they are told of those below.
#include <algorithm>
#include <utility>

#include "daemon/bulk/relay/channel_relay.h"

namespace spindled {

using relay::Child;
using relay::Upstream;
using spindle::bulk::BlockSet;
using spindle::bulk::kLiveStream;
using spindle::bulk::Need;

namespace {

/// So much later a parent counts as silent from which nothing but hashes is lacking.
constexpr Duration kHashPatience = 2s;

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

// What they are granted.

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

bool ChannelRelay::is_waiting_for_others(Time now, std::uint64_t coming) {
  const bool may_wait = patience_.is_left(now);
  // What is not sent live leaves the source time for streams.
  const bool is_time_of_streams = std::any_of(children_.begin(), children_.end(),
                                              [&](const auto& each) { return is_held_up_by_source(now, each.second); });
  const bool is_patient =
      !is_time_of_streams && may_wait && ring_.end() - passed_by_all(now) + coming > ring_.capacity();
  patience_.set_spent(is_patient);
  if (!is_time_of_streams && !is_patient) return false;
  wake_at(now + (is_patient ? patience_.left() : kStreamPatience));
  return true;
}

std::uint64_t ChannelRelay::passed_by_all(Time now) const {
  std::uint64_t passed = ring_.end();
  for (const auto& [id, child] : children_) {
    if (child.is_peer || child.front() == ring_.end() || now - child.moved_at >= kStalled) continue;
    passed = std::min(passed, std::max(child.front(), ring_.begin()));
  }
  return passed;
}

bool ChannelRelay::is_held_up_by_source(Time now, const Child& child) const {
  if (!child.stream || child.stream->is_over || child.is_peer || child.need.lost) return false;
  if (child.stream->owed == 0 || !child.own.empty()) return false;
  const auto holder = holders_.find(child.stream->holder);
  return holder != holders_.end() && holder->second.is_source && now - child.stream->begun_at < kStreamPatience;
}

// What they are told.

void ChannelRelay::tell_soon(Time now) {
  if (upstreams_.empty() && peers_.empty()) return;
  // Who has asked by a mark is answered at once.
  untold_.empty() ? looks_.look_soon(now) : looks_.look_at(now);
  output_.wake_at(looks_.next());
}

void ChannelRelay::tell_later(Time now) {
  if (upstreams_.empty() && peers_.empty()) return;
  looks_.look_later(now, told_at_ + kNeedInterval);
  output_.wake_at(looks_.next());
}

bool ChannelRelay::is_progress(const Child& child, const Need& need) const {
  const Need& before = child.need;
  const bool is_alike = need.serves == before.serves && need.knows_index == before.knows_index &&
                        need.awaits == before.awaits && need.meshed == before.meshed;
  if (!child.has_asked || !is_alike || need.lost || !peers_.empty()) return false;
  // The source passes over what all have ahead of it.
  const bool is_ahead = source() && has_more(need.complete, before.complete, spindle::bulk::kBlocksMax, live_seen_);
  return !is_ahead && !has_more(before.complete, need.complete, spindle::bulk::kBlocksMax);
}

void ChannelRelay::tell_needs(Time now) {
  looks_.looked(now);
  has_missed_some_ = false;
  if (upstreams_.empty() && peers_.empty()) return;
  tally_.merged += children_.size();
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
  const bool is_more_wanted =
      told_ && has_more(told_->complete, news.complete, blocks_.value_or(spindle::bulk::kBlocksMax));
  const bool is_newly_lost = told_ && news.lost && !told_->lost;
  const bool is_enough_news = std::exchange(has_enough_news_, false);
  const bool is_asked_news = std::exchange(is_asked_news_, false);
  const bool is_urgent =
      !untold_.empty() || is_asked_news || !told_ || is_more_wanted || is_newly_lost || news.awaits != told_->awaits ||
      news.meshed != told_->meshed ||
      (!peers_.empty() && (is_enough_news || has_more(news.complete, told_->complete, spindle::bulk::kBlocksMax)));
  const Duration since = now - told_at_;
  const bool is_due = since >= (told_ != news ? kNeedInterval : kRepeat);
  if (!is_urgent && !is_due) return;
  Need upwards = news;
  add_enough(upwards, asked_of_peers_);
  for (const auto& [id, upstream] : upstreams_) {
    if (upstream.is_source) continue;
    upwards.seen = upstream.seen;
    output_.send_need(id, kLiveStream, upwards);
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
  const bool lacked_nothing = lacks_nothing();
  told_ = std::move(news);
  // What they owe is waited for from now on.
  if (lacked_nothing && !lacks_nothing()) {
    for (auto& [id, upstream] : upstreams_) upstream.heard_at = now;
  }
  if (is_more_wanted || is_newly_lost) note_asked_again(now, is_more_wanted);
}

Need ChannelRelay::need() const {
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
  need.lost = !is_source_here() && std::any_of(children_.begin(), children_.end(), [&](const auto& each) {
    return !each.second.is_peer && need.complete.first_missing() < std::min(each.second.behind_below, given_here_from);
  });
  std::erase_if(need.begun, [&](const Need::Begun& each) { return need.complete.contains(each.block); });
  return need;
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

bool ChannelRelay::is_live_wanted() const {
  // The last block that has come may be there in part.
  const std::uint32_t next = live_seen_ == 0 ? 0 : live_seen_ - 1;
  return !source() || std::any_of(children_.begin(), children_.end(), [&](const auto& each) {
    return !each.second.is_peer && each.second.has_asked && each.second.need.complete.first_missing(next) <= live_seen_;
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

bool ChannelRelay::has_silent_child(Time now) const {
  return std::any_of(children_.begin(), children_.end(), [&](const auto& each) {
    const Child& child = each.second;
    return !child.daemon.empty() && !child.is_peer && child.has_asked && now - child.need_at >= kChildSilence;
  });
}

// Who they are.

std::optional<ConnectionId> ChannelRelay::source() const {
  const auto source =
      std::find_if(upstreams_.begin(), upstreams_.end(), [](const auto& each) { return each.second.is_source; });
  return source == upstreams_.end() ? std::nullopt : std::optional(source->first);
}

std::vector<ConnectionId> ChannelRelay::parents() const {
  std::vector<ConnectionId> parents;
  for (const auto& [id, upstream] : upstreams_) {
    if (!upstream.is_source) parents.push_back(id);
  }
  return parents;
}

bool ChannelRelay::has_parent() const {
  return std::any_of(upstreams_.begin(), upstreams_.end(), [](const auto& each) { return !each.second.is_source; });
}

std::optional<Time> ChannelRelay::silent_since(ConnectionId id) const {
  const auto found = upstreams_.find(id);
  if (found == upstreams_.end() || found->second.owed == 0 || found->second.is_source) return std::nullopt;
  if (lacks_nothing()) return std::nullopt;
  // Peers may have given enough of all before its parent, which alone gives the hashes.
  return found->second.heard_at + (has_enough() ? kHashPatience : Duration());
}

bool ChannelRelay::has_enough() const {
  if (!told_ || !blocks_) return false;
  const auto begun = std::count_if(told_->begun.begin(), told_->begun.end(),
                                   [](const Need::Begun& each) { return each.held == spindle::bulk::kEnough; });
  return told_->complete.count() + static_cast<std::uint64_t>(begun) >= *blocks_;
}

bool ChannelRelay::lacks_nothing() const {
  if (!told_ || !blocks_) return false;
  if (has_enough() && (tally_.of_peers == 0 || told_->complete.count() >= *blocks_)) return true;
  return !asked_of_peers_.empty() && united(settled(*told_), asked_of_peers_).count() >= *blocks_;
}

}  // namespace spindled
