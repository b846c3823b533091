// The peers' side of ChannelRelay: what they give, and which of what comes along the tree belongs to whom.
#include <algorithm>
#include <utility>

#include "daemon/bulk/channel_relay.h"
#include "libclient/bulk/crc32c.h"

namespace spindled {

using spindle::bulk::kLiveStream;
using spindle::bulk::Need;

// Who is there.

void ChannelRelay::add_peer_sender(Time now, ConnectionId id) {
  if (is_upstream(id) || !peers_.try_emplace(id).second) return;
  may_come_twice(now);
  output_.send_need(id, kLiveStream, need());
  tell_needs(now, Telling::news);
  grant_peers(now);
}

void ChannelRelay::remove_peer_sender(ConnectionId id) {
  if (peers_.erase(id) != 0) wait_for_a_ring();
}

void ChannelRelay::add_peer_receiver(Time now, ConnectionId id, std::string_view daemon) {
  const auto [at, is_new] = children_.try_emplace(id);
  if (!is_new) return;
  Child& child = at->second;
  child.is_peer = true;
  child.daemon = daemon;
  // What has come before, its parent has given it, too.
  child.cursor = child.taken = ring_.end();
  child.moved_at = now;
  tick_at_ = std::min(tick_at_, now + kNeedInterval);
}

// What peers give.

std::optional<bool> ChannelRelay::symbol_of_peer_received(Time now, Peer& peer, RelayedSymbol symbol) {
  if (peer.owed == 0) return std::nullopt;
  --peer.owed;
  ++tally_.of_peers;
  if (spindle::bulk::crc32c(symbol.bytes.view()) != symbol.crc) {
    peer.is_suspect = true;
    return false;
  }
  const bool is_beyond = symbol.block >= blocks_.value_or(spindle::bulk::kBlocksMax);
  const bool is_complete = told_ && told_->complete.contains(symbol.block);
  const mesh::SymbolId id{symbol.block, symbol.esi};
  if (is_beyond || is_complete || received_.has(id)) {
    ++tally_.duplicates;
    grant_peers(now);
    return false;
  }
  received_.add(now, id, ring_.end());
  symbol.is_of_peer = true;
  peer.blocks.insert(symbol.block);
  if (peer.blocks.size() > kPeerBlocksMax) peer.blocks.erase(peer.blocks.begin());
  is_whole_ = false;
  push(now, std::move(symbol));
  return true;
}

void ChannelRelay::grant_peers(Time now) {
  const std::uint64_t window = std::max<std::uint64_t>(ring_.capacity() / kPeerWindowPart, 1);
  const std::uint64_t ahead = ring_.end() - std::min(consumed(now), ring_.end());
  for (auto& [id, peer] : peers_) {
    // Those here are not to lose what comes along the tree for what comes of peers.
    if (peer.owed > window / 2 || ahead + window > ring_.capacity()) continue;
    output_.send_grant(id, kLiveStream, window - peer.owed);
    peer.owed = window;
  }
}

void ChannelRelay::note_wrong_blocks(const Child& child, const Need& need) {
  for (const Need::Begun& before : child.need.begun) {
    const bool is_gone = !need.complete.contains(before.block) && need.held_of(before.block) == 0;
    // Less than a block has been there before it could be checked.
    if (!is_gone || received_.of(before.block).size() < symbols_of_block_) continue;
    for (auto& [id, peer] : peers_) peer.is_suspect = peer.is_suspect || peer.blocks.contains(before.block);
    received_.forget(before.block);
  }
}

// What belongs to whom.

bool ChannelRelay::seek_own(Child& child) {
  settle_owned();
  child.next_own = std::max({child.next_own, unowned_, child.cursor});
  while (child.next_own < ring_.end() &&
         (owned_.contains(child.next_own) || !may_have(child, ring_.at(child.next_own)))) {
    ++child.next_own;
  }
  return child.next_own < ring_.end();
}

void ChannelRelay::own(std::uint64_t place) {
  if (place >= unowned_) owned_.insert(place);
  settle_owned();
}

void ChannelRelay::settle_owned() {
  if (unowned_ < ring_.begin()) {
    unowned_ = ring_.begin();
    owned_.erase(owned_.begin(), owned_.lower_bound(unowned_));
  }
  while (!owned_.empty() && *owned_.begin() == unowned_) {
    owned_.erase(owned_.begin());
    ++unowned_;
  }
}

void ChannelRelay::note_drained(Time now, Child& child) {
  const double part = std::min(to_seconds(now - child.drained_at) / to_seconds(kDrainedTime), 1.0);
  child.drained += part * ((seek_own(child) ? 0.0 : 1.0) - child.drained);
  child.drained_at = now;
}

void ChannelRelay::note_drained(Time now) {
  for (auto& [id, child] : children_) {
    if (child.is_meshed()) note_drained(now, child);
  }
}

bool ChannelRelay::is_drained(Time now, Child& child) {
  note_drained(now, child);
  return child.drained >= kDrained;
}

bool ChannelRelay::is_source_done() const {
  return is_live_over_ &&
         std::any_of(holders_.begin(), holders_.end(), [](const auto& each) { return each.second.is_source; });
}

void ChannelRelay::pass_over_ring(Time now, Child& child) {
  miss(child);
  child.ahead.clear();
  child.cursor = ring_.end();
  child.moved_at = now;
  grant_upstreams(now);
}

void ChannelRelay::drop_needless(Child& child) {
  const auto has_enough = [&](std::uint32_t block) {
    return child.need.complete.contains(block) || child.need.held_of(block) == spindle::bulk::kEnough;
  };
  std::uint32_t missing = child.need.complete.first_missing();
  while (missing < child.stream->below && has_enough(missing)) missing = child.need.complete.first_missing(missing + 1);
  if (missing >= child.stream->below) return end_stream(child);
  while (!child.own.empty() && has_enough(child.own.front().block)) {
    own_bytes_ -= child.own.front().bytes.size();
    child.own.pop_front();
    refill(child);
  }
  if (child.own.empty() && child.stream->is_over) end_stream(child);
}

}  // namespace spindled
