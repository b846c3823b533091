// The peers' side of ChannelRelay: what they give, what comes twice, and which of what comes along the tree belongs to
// whom.
#include <algorithm>
#include <limits>
#include <utility>

#include "daemon/bulk/relay/channel_relay.h"
#include "libclient/bulk/crc32c.h"

namespace spindled {

using relay::AskedBlock;
using relay::Child;
using relay::Holder;
using relay::Peer;
using spindle::bulk::BlockSet;
using spindle::bulk::kBlocksMax;
using spindle::bulk::kLiveStream;
using spindle::bulk::Need;

// Who is there.

void ChannelRelay::add_peer_sender(Time now, ConnectionId id) {
  if (is_upstream(id) || !peers_.try_emplace(id).second) return;
  if (peers_.size() == 1) trials_.begin(now);
  may_come_twice(now);
  output_.send_need(id, kLiveStream, need_of_peers(need()));
  tell_needs(now);  // it is granted what is lacking
  grant_peers(now);
}

void ChannelRelay::set_meshed(Time now, bool is_meshed) {
  if (std::exchange(is_meshed_, is_meshed) != is_meshed) tell_soon(now);
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
  wake_for_tick(now);
}

// What peers give.

std::optional<bool> ChannelRelay::symbol_of_peer_received(Time now, ConnectionId from, RelayedSymbol symbol) {
  Peer& peer = peers_.at(from);
  if (!peer.window.take(now)) return std::nullopt;
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
    // What was under way when the block became complete says nothing of the peer.
    if (!is_complete) note_useless(peer);
    grant_peers(now);
    return false;
  }
  ++tally_.news;
  note_received(now, id);
  of_peers_below_ = std::max(of_peers_below_, symbol.block + 1);
  peer.window.note_useful();
  symbol.peer = from;
  peer.blocks.insert(symbol.block);
  if (peer.blocks.size() > kPeerBlocksMax) peer.blocks.erase(peer.blocks.begin());
  is_whole_ = false;
  push(now, std::move(symbol));
  if (has_enough_news_) tell_soon(now);
  return true;
}

void ChannelRelay::note_overtaken(std::uint64_t former) {
  const std::optional<ConnectionId> from = former >= ring_.begin() ? ring_.at(former).peer : std::nullopt;
  if (former < ring_.begin() || from) ++tally_.overtaken;
  const auto peer = from ? peers_.find(*from) : peers_.end();
  if (peer != peers_.end()) note_useless(peer->second);
}

void ChannelRelay::note_useless(Peer& peer) {
  peer.window.note_useless();
  trials_.note_useless();
}

void ChannelRelay::grant_peers(Time now) {
  trials_.handle_time(now);
  const std::uint64_t most = std::max<std::uint64_t>(ring_.capacity() / kPeerWindowPart, 1);
  // Those here are not to lose what comes along the tree for what comes of peers.
  const std::uint64_t ahead = ring_.end() - std::min(consumed(now), ring_.end());
  if (ahead + most > ring_.capacity()) return;
  std::uint64_t owed = 0, on_trial = 0;
  for (const auto& [id, peer] : peers_) {
    owed += peer.window.owed();
    on_trial += peer.window.on_trial(now);
  }
  const std::uint64_t wanted = lacking();
  for (auto& [id, peer] : peers_) {
    if (owed >= wanted) return;
    if (const std::uint64_t more = std::min(peer.window.room(now, most), wanted - owed); more > 0) {
      output_.send_grant(id, kLiveStream, more);
      peer.window.grant(more);
      owed += more;
    } else if (on_trial + PeerWindow::kLeast <= trials_.symbols() && peer.window.may_be_tried(now)) {
      const std::uint64_t before = peer.window.owed();
      peer.window.grant_trial(now);
      output_.send_grant(id, kLiveStream, peer.window.owed() - before);
      owed += peer.window.owed() - before;
      on_trial += PeerWindow::kLeast;
    }
  }
}

std::uint32_t ChannelRelay::symbols_of(std::uint32_t block) const {
  return blocks_ && block + 1 == *blocks_ ? symbols_of_last_ : symbols_of_block_;
}

std::uint32_t ChannelRelay::lacking(std::uint32_t block) const {
  const auto held = static_cast<std::uint32_t>(received_.of(block).size());
  const std::uint32_t enough = symbols_of(block) + kSpareSymbols;
  return enough - std::min(enough, std::max(held, told_ ? told_->held_of(block) : 0));
}

std::uint64_t ChannelRelay::lacking() const {
  constexpr std::uint64_t kMany = std::numeric_limits<std::uint64_t>::max();
  if (!blocks_ || !told_ || told_->complete.count() + kBlocksSummed < *blocks_) return kMany;
  std::uint64_t sum = 0;
  for (std::uint32_t block = told_->complete.first_missing(); block < *blocks_;
       block = told_->complete.first_missing(block + 1)) {
    sum += lacking(block);
  }
  return sum;
}

Need ChannelRelay::need_of_peers(const Need& need) const {
  Need to_peers = need;
  to_peers.lost = to_peers.awaits = to_peers.meshed = false;
  BlockSet enough;
  for (const std::uint32_t block : received_.blocks()) {
    if (lacking(block) == 0) enough.add(block);
  }
  add_enough(to_peers, enough);
  return to_peers;
}

void ChannelRelay::note_wrong_blocks(const Child& child, const Need& need) {
  for (const Need::Begun& before : child.need.begun) {
    const bool is_gone = !need.complete.contains(before.block) && need.held_of(before.block) == 0;
    // Less than a block has been there before it could be checked.
    if (!is_gone || received_.of(before.block).size() < symbols_of(before.block)) continue;
    for (auto& [id, peer] : peers_) peer.is_suspect = peer.is_suspect || peer.blocks.contains(before.block);
    received_.forget(before.block);
  }
}

// Whole blocks: what peers ask for, and what they are asked for.

void ChannelRelay::blocks_asked(ConnectionId peer, const std::vector<AskedBlock>& blocks) {
  const auto at = children_.find(peer);
  if (at == children_.end() || !at->second.is_peer) return;
  Child& child = at->second;
  const auto is_wanted = [&](std::uint32_t block) {
    return std::any_of(blocks.begin(), blocks.end(), [&](const AskedBlock& each) { return each.block == block; });
  };
  if (child.stream && !is_wanted(child.asked.front().block)) end_stream(child);
  // What has begun goes on: what of it is under way the peer does not count yet.
  child.asked.resize(child.stream ? 1 : 0);
  for (const AskedBlock& each : blocks) {
    if (!child.stream || each.block != child.asked.front().block) child.asked.push_back(each);
  }
  output_.may_send(peer);
}

void ChannelRelay::give_asked_block(ConnectionId id, Child& child) {
  for (; !child.asked.empty() && !child.stream; child.asked.pop_front()) {
    const AskedBlock next = child.asked.front();
    const auto found = std::find_if(holders_.begin(), holders_.end(), [&](const auto& each) {
      const Holder& holder = each.second;
      const bool has_it = holder.is_source ? next.block < live_seen_ : holder.complete.contains(next.block);
      return each.first != id && has_it && may_serve(holder) && holder.free_stream();
    });
    if (found == holders_.end() || child.settled.contains(next.block)) continue;
    Need lacking;
    lacking.complete.add_run(0, next.block);
    lacking.complete.add_run(next.block + 1, kBlocksMax);
    // Who has a part of it gets what others do not give.
    const std::uint32_t symbols = symbols_of(next.block);
    if (next.symbols < symbols) lacking.begun.push_back({next.block, symbols - next.symbols});
    begin_stream(child, found, lacking, {next.block, next.block + 1}, false);
    return;
  }
}

BlockSet ChannelRelay::lacked_by_clients() const {
  const BlockSet all = BlockSet::of_first(blocks_.value_or(kBlocksMax));
  BlockSet lacked;
  for (const auto& [id, child] : children_) {
    if (child.daemon.empty() && child.has_asked) lacked = united(lacked, difference(all, settled(child.need)));
  }
  return difference(lacked, held());
}

void ChannelRelay::set_asked_of_peers(Time now, BlockSet blocks) {
  const BlockSet gone = difference(asked_of_peers_, blocks);
  const bool is_more = !difference(blocks, asked_of_peers_).empty();
  asked_of_peers_ = std::move(blocks);
  // That they are complete is told as soon as anything else.
  if (!is_more && told_ && difference(gone, told_->complete).empty()) return;
  is_asked_news_ = true;
  tell_soon(now);
  grant_peers(now);
}

// What may come twice.

std::optional<std::uint64_t> ChannelRelay::note_received(Time now, mesh::SymbolId symbol) {
  const std::optional<std::uint64_t> former = received_.add(now, symbol, ring_.end());
  if (former) return former;
  trials_.note_useful(now);
  if (received_.of(symbol.block).size() == symbols_of(symbol.block) + kSpareSymbols) has_enough_news_ = true;
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

// What belongs to whom.

bool ChannelRelay::seek_own(Child& child) {
  owned_.forget_before(ring_.begin());
  child.next_own = std::max({child.next_own, owned_.first_free(), child.cursor});
  while (child.next_own < ring_.end() &&
         (owned_.contains(child.next_own) || !may_have(child, ring_.at(child.next_own)))) {
    ++child.next_own;
  }
  return child.next_own < ring_.end();
}

void ChannelRelay::note_drained(Time now, Child& child) {
  if (ring_.end() == 0) child.drained_at = now;  // it has not begun
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

bool ChannelRelay::is_source_done() const { return is_live_over_ && is_source_here(); }

void ChannelRelay::pass_over_ring(Time now, Child& child) {
  miss(child);
  child.ahead.clear();
  child.cursor = ring_.end();
  child.moved_at = now;
  grant_upstreams(now);
}

}  // namespace spindled
