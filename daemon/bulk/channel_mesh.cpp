#include "daemon/bulk/channel_mesh.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "daemon/bulk/relayed_channel.h"

namespace spindled {

using spindle::bulk::BlockSet;

namespace {

/// So many at most, in order.
std::vector<BlockSet::Run> longest_runs(const BlockSet& blocks, std::size_t most) {
  std::vector<BlockSet::Run> runs(blocks.runs().begin(), blocks.runs().end());
  const auto length = [](const BlockSet::Run& run) { return run.end - run.first; };
  const std::size_t kept = std::min(runs.size(), most);
  std::partial_sort(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(kept), runs.end(),
                    [&](const auto& a, const auto& b) { return length(a) > length(b); });
  runs.resize(kept);
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return runs;
}

/// Where the frame says what its sender has.
std::optional<mesh::Holding> holding_in(const mesh::Frame& frame) {
  if (const auto* report = std::get_if<mesh::HoldingReport>(&frame)) return report->holding;
  const auto* answer = std::get_if<mesh::PeerAnswer>(&frame);
  return answer != nullptr && answer->is_accepted ? std::optional(answer->holding) : std::nullopt;
}

mesh::MeshOptions options_of(const RelayedChannel& channel, Duration patience) {
  mesh::MeshOptions options;
  // Neighbours are near, and contents are not long: the paper's epochs of 5 s would see the end of most.
  options.ransub = {.epoch = 2s, .patience = 1s};
  options.symbol_bytes = channel.layout.symbol_bytes;
  options.tells_wants = false;
  options.patience = patience;
  return options;
}

}  // namespace

ChannelMesh::ChannelMesh(Time now, RelayedChannel& channel, Hops hops, Random random)
    : channel_(channel),
      hops_(std::move(hops)),
      generation_(channel.position.generation),
      places_(channel.position.places),
      self_(channel.position.own_place.value()),
      parent_(channel.position.parent_place),
      children_(channel.position.child_places),
      below_(channel.position.below_places),
      random_(random.split()),
      member_(self_, *this, *this, random, options_of(channel, kAnswer)),
      requests_(random_.split()),
      now_(now),
      check_at_(now) {
  if (channel.position.is_only_child) {
    for (MemberIndex member = 0; member < places_.size(); ++member) left_.insert(member);
    avoided_for_ = kAvoided;
    probe_at_ = now + kAvoided;
  }
  for (MemberIndex member = 0; member < places_.size(); ++member) members_.emplace(places_[member], member);
  member_.set_place(now, parent_, children_);
  check(now);
  settle(now);
}

ChannelMesh::~ChannelMesh() = default;

// Frames and hops.

void ChannelMesh::frame_received(Time now, std::string_view from, std::uint8_t generation, mesh::Frame frame) {
  now_ = now;
  const std::optional<MemberIndex> member = member_of(from);
  // By another plan its members are others.
  if (!member || generation != generation_) return;
  unanswered_.erase(*member);
  auto* wants = std::get_if<mesh::Wants>(&frame);
  if ((wants != nullptr || std::holds_alternative<mesh::PeerRequest>(frame)) && is_tree_neighbour(*member)) return;
  if (wants != nullptr) {
    wants_received(*member, *wants);
    wants->blocks.clear();  // the relay gives them
  }
  if (const auto* told = std::get_if<mesh::Distribute>(&frame)) note_summaries(told->sample);
  const std::optional<mesh::Holding> holding = holding_in(frame);
  member_.frame_received(now, *member, std::move(frame));
  if (holding && member_.senders().state(*member) == mesh::SenderSet::State::sends) {
    requests_.holding_received(now, *member, *holding);
    ask_at_ = std::min(ask_at_, now + mesh::BlockRequests::kTreeDelay);
  }
  settle(now);
}

void ChannelMesh::symbol_received(Time now, std::string_view from, mesh::SymbolId symbol, bool is_useful) {
  now_ = now;
  const std::optional<MemberIndex> member = member_of(from);
  if (!member) return;
  member_.symbol_received(now, *member, symbol, is_useful);
  if (is_useful) requests_.symbol_received(now, *member, symbol.block);
  const std::optional<ConnectionId> hop = is_useful ? std::nullopt : peer_hop(*member);
  if (!hop || !channel_.relay.is_suspect(*hop)) return;
  check(now);
  settle(now);
}

void ChannelMesh::hop_opened(Time now, std::string_view daemon) {
  now_ = now;
  check_at_ = now;
  channel_.wake_at(now);
  const std::optional<MemberIndex> member = member_of(daemon);
  if (!member || dialled_.erase(*member) == 0) return;
  member_.connected(now, *member);
  settle(now);
}

void ChannelMesh::hop_lost(Time now, std::string_view daemon) {
  now_ = now;
  const std::optional<MemberIndex> member = member_of(daemon);
  // A parent or child is expected back, until there is another plan.
  if (member && !is_tree_neighbour(*member)) {
    if (dialled_.erase(*member) != 0) not_reached_[*member] = now + kNotReached;
    member_.lost(now, *member);
  }
  settle(now);
}

void ChannelMesh::leave_sender(Time now, std::string_view daemon) {
  now_ = now;
  if (const auto member = member_of(daemon)) member_.leave_sender(now, *member);
  settle(now);
}

void ChannelMesh::stop() {
  for (MemberIndex member = 0; member < places_.size(); ++member) {
    const std::optional<ConnectionId> hop = hops_.open(places_[member]);
    if (!hop) continue;
    if (channel_.relay.is_peer_sender(*hop)) {
      channel_.relay.remove_peer_sender(*hop);
      hops_.shut(*hop);
    }
    if (channel_.relay.is_peer_receiver(*hop)) channel_.relay.remove_child(now_, *hop);
  }
  channel_.relay.set_meshed(now_, false);
  channel_.relay.set_asked_of_peers(now_, {});
}

std::optional<MemberIndex> ChannelMesh::member_of(std::string_view daemon) const {
  const auto found = members_.find(daemon);
  return found == members_.end() ? std::nullopt : std::optional(found->second);
}

bool ChannelMesh::is_tree_neighbour(MemberIndex member) const {
  return member == parent_ || std::find(children_.begin(), children_.end(), member) != children_.end();
}

std::optional<ConnectionId> ChannelMesh::peer_hop(MemberIndex member) const {
  if (member >= places_.size() || member == self_ || is_tree_neighbour(member)) return std::nullopt;
  return hops_.open(places_[member]);
}

std::set<std::string, std::less<>> ChannelMesh::wanted() const {
  std::set<std::string, std::less<>> wanted;
  for (MemberIndex member = 0; member < places_.size(); ++member) {
    if (member == self_) continue;
    const bool is_peer = member_.senders().is_peer(member) || member_.receivers().is_peer(member);
    if (is_peer || hops_.is_neighbour(places_[member])) wanted.insert(places_[member]);
  }
  return wanted;
}

bool ChannelMesh::may_ask(MemberIndex peer) const {
  if (!may_give(peer) || is_avoided(peer)) return false;
  const std::optional<ConnectionId> hop = peer_hop(peer);
  return !hop || !channel_.relay.is_upstream(*hop);
}

void ChannelMesh::dial(MemberIndex peer) {
  if (peer_hop(peer)) return member_.connected(now_, peer);
  if (!hops_.can_reach(places_[peer])) return member_.lost(now_, peer);
  dialled_[peer] = now_;
  hops_.look(now_);
}

bool ChannelMesh::may_give(MemberIndex member) const {
  return member < places_.size() && member != self_ && member != parent_ && !below_.contains(member);
}

void ChannelMesh::give_up_dialled(Time now) {
  std::erase_if(not_reached_, [&](const auto& each) { return each.second <= now; });
  for (auto each = dialled_.begin(); each != dialled_.end();) {
    const auto [member, since] = *each++;
    if (now - since < kDialled) continue;
    dialled_.erase(member);
    not_reached_[member] = now + kNotReached;
    member_.lost(now, member);
  }
}

void ChannelMesh::tick_member(Time now) {
  for (const MemberIndex silent : member_.senders().unanswered(now - kAnswer)) {
    ++unanswered_[silent].times;
    unanswered_[silent].last = now;
  }
  member_.tick(now);
}

bool ChannelMesh::is_mute(Time now, MemberIndex member) const {
  const auto found = unanswered_.find(member);
  return found != unanswered_.end() && found->second.times > 1 && now - found->second.last < kNotReached;
}

std::vector<MemberIndex> ChannelMesh::others(Time now) {
  std::vector<MemberIndex> found;
  const std::size_t peers = member_.senders().peers();
  // More are looked at than are wanted: some are no candidates.
  for (std::size_t tried = 0; tried < 4 * mesh::SenderSet::kPeersMax; ++tried) {
    if (peers + found.size() >= mesh::SenderSet::kPeersMax) break;
    const auto member = static_cast<MemberIndex>(random_.below(places_.size()));
    if (!may_give(member) || member_.senders().has(member) || not_reached_.contains(member)) continue;
    if (is_mute(now, member)) continue;
    if (std::find(found.begin(), found.end(), member) != found.end()) continue;
    if (hops_.is_neighbour(places_[member]) || !hops_.can_reach(places_[member])) continue;
    // Who refuses has enough, and is not asked each second.
    not_reached_[member] = now + kRefused;
    found.push_back(member);
  }
  return found;
}

void ChannelMesh::send(MemberIndex to, const mesh::Frame& frame) {
  if (to >= places_.size()) return;
  const std::optional<ConnectionId> hop = hops_.open(places_[to]);
  if (!hop) return;
  frame_bytes_ += mesh::encoded_bytes(frame);
  hops_.send(*hop, generation_, frame);
}

// Time.

void ChannelMesh::tick(Time now) {
  now_ = now;
  if (now >= member_.next_deadline()) tick_member(now);
  if (now >= check_at_) check(now);
  if (now >= ask_at_) ask_for_blocks(now);
  settle(now);
}

Time ChannelMesh::next_deadline() const { return std::min({member_.next_deadline(), check_at_, ask_at_}); }

void ChannelMesh::check(Time now) {
  check_at_ = now + kCheck;
  tick_member(now);
  for (const ChannelRelay::ChildInfo& child : channel_.relay.children(now)) {
    const std::optional<MemberIndex> member = child.is_peer ? member_of(child.daemon) : std::nullopt;
    if (!member) continue;
    std::uint64_t& told = sent_[child.connection];
    member_.sent(*member, child.given - std::exchange(told, child.given));
  }
  if (!parent_) return;  // the root asks nobody
  const bool is_done = channel_.layout.has_size() && first_incomplete() >= blocks();
  give_up_dialled(now);
  std::vector<MemberIndex> candidates;
  for (MemberIndex member = 0; member < places_.size(); ++member) {
    const std::optional<ConnectionId> hop = peer_hop(member);
    if (!hop) continue;
    const bool is_suspect = channel_.relay.is_suspect(*hop);
    if (is_suspect) channel_.suspects.insert(places_[member]);
    if (is_suspect || is_done) {
      member_.leave_sender(now, member);
    } else if (may_give(member) && hops_.is_neighbour(places_[member]) && !is_mute(now, member)) {
      candidates.push_back(member);
    }
  }
  leave_useless(now);
  if (!is_done) {
    for (const MemberIndex other : others(now)) candidates.push_back(other);
  }
  propose(now, candidates);
}

void ChannelMesh::leave_useless(Time now) {
  std::vector<MemberIndex> useless;
  for (const MemberIndex member : member_.senders().sending_since(now - kTrial)) {
    const std::optional<ConnectionId> hop = peer_hop(member);
    if (!hop || !channel_.relay.is_in_vain(*hop)) continue;
    member_.leave_sender(now, member);
    useless.push_back(member);
  }
  if (useless.empty()) return;
  left_.insert(useless.begin(), useless.end());
  avoided_ += useless.size();
  if (probe_ && left_.contains(probe_->member) && !member_.senders().has(probe_->member)) {
    avoided_for_ = std::min(2 * avoided_for_, kAvoidedMax);
    probe_.reset();
  } else {
    avoided_for_ = std::max(avoided_for_, kAvoided);
  }
  probe_at_ = now + avoided_for_;
}

void ChannelMesh::note_summaries(const mesh::Sample& sample) {
  if (left_.empty()) return;
  const BlockSet lacked = channel_.relay.lacked_by_clients();
  for (const mesh::MemberSummary& each : sample.entries) {
    const BlockSet useful = intersection(each.holding.complete_blocks(), lacked);
    if (useful.count() >= mesh::BlockRequests::kLeast) left_.erase(each.member);
  }
}

void ChannelMesh::wants_received(MemberIndex from, const mesh::Wants& wants) {
  const std::optional<ConnectionId> hop = peer_hop(from);
  if (!hop || !member_.receivers().is_peer(from)) return;
  std::vector<relay::AskedBlock> blocks;
  for (const mesh::BlockWant& want : wants.blocks) {
    if (want.fresh == 0 || want.block >= channel_.layout.blocks()) continue;
    blocks.push_back({want.block, std::min(want.fresh, source_symbols(want.block))});
  }
  channel_.relay.blocks_asked(*hop, blocks);
}

void ChannelMesh::ask_for_blocks(Time now) {
  ChannelRelay& relay = channel_.relay;
  const BlockSet lacked = relay.lacked_by_clients();
  requests_.renew(now, lacked);
  relay.set_asked_of_peers(now, requests_.asked(now));
  const bool is_behind =
      intersection(lacked, BlockSet::of_first(relay.blocks_seen())).count() >= mesh::BlockRequests::kLeast;
  ask_at_ = now + (is_behind || !requests_.is_idle() ? kAsk : kCheck);
  for (const MemberIndex member : requests_.untold(now, is_behind)) {
    if (tell_wants(now, member)) requests_.note_told(now, member);
  }
}

bool ChannelMesh::tell_wants(Time now, MemberIndex sender) {
  mesh::Wants wants;
  wants.holding = holding();
  for (const std::uint32_t block : requests_.asked_of(sender)) {
    wants.blocks.push_back({block, channel_.relay.lacking(block), {}});
  }
  return member_.tell_wants(now, sender, std::move(wants));
}

void ChannelMesh::propose(Time now, const std::vector<MemberIndex>& candidates) {
  if (probe_ && !member_.senders().has(probe_->member)) probe_.reset();
  if (probe_ && now - probe_->since >= kProved) {
    left_.clear();
    probe_.reset();
    avoided_for_ = {};
  }
  std::vector<MemberIndex> asked, left;
  for (const MemberIndex member : candidates) {
    if (channel_.suspects.contains(places_[member])) continue;
    (left_.contains(member) ? left : asked).push_back(member);
  }
  if (!probe_ && !left.empty() && now >= probe_at_) {
    probe_ = Probe{left[random_.below(left.size())], now};
    probe_at_ = now + avoided_for_;
    asked.push_back(probe_->member);
  }
  member_.propose(now, asked);
}

bool ChannelMesh::is_avoided(MemberIndex member) const {
  const bool is_tried = probe_ && probe_->member == member;
  return channel_.suspects.contains(places_[member]) || (left_.contains(member) && !is_tried);
}

void ChannelMesh::settle(Time now) {
  ChannelRelay& relay = channel_.relay;
  for (MemberIndex member = 0; member < places_.size(); ++member) {
    const bool sends = member_.senders().state(member) == mesh::SenderSet::State::sends;
    if (!sends && requests_.forget(member)) ask_at_ = now;
    const std::optional<ConnectionId> hop = peer_hop(member);
    if (!hop) continue;
    if (sends) {
      relay.add_peer_sender(now, *hop);
      relay.set_round_trip(*hop, hops_.round_trip(*hop));
    } else if (relay.is_peer_sender(*hop)) {
      relay.remove_peer_sender(*hop);
      hops_.shut(*hop);
    }
    if (member_.receivers().is_peer(member)) {
      relay.add_peer_receiver(now, *hop, places_[member]);
    } else if (relay.is_peer_receiver(*hop)) {
      relay.remove_child(now, *hop);
      sent_.erase(*hop);
    }
  }
  relay.set_meshed(now, member_.senders().peers() > 0);
  channel_.wake_at(std::min(next_deadline(), relay.next_deadline()));
}

ChannelMesh::Status ChannelMesh::status() const {
  Status status;
  status.senders = member_.senders().peers();
  for (MemberIndex member = 0; member < places_.size(); ++member) {
    if (member_.receivers().is_peer(member)) ++status.receivers;
  }
  status.avoided = avoided_;
  status.suspects = channel_.suspects.size();
  status.frame_bytes = frame_bytes_;
  return status;
}

// What is here.

std::uint32_t ChannelMesh::blocks() const { return channel_.layout.has_size() ? channel_.layout.blocks() : 0; }

std::uint32_t ChannelMesh::first_incomplete() const {
  const spindle::bulk::Need* told = channel_.relay.told();
  return told == nullptr ? 0 : told->complete.first_missing();
}

bool ChannelMesh::is_complete(std::uint32_t block) const {
  const spindle::bulk::Need* told = channel_.relay.told();
  return told != nullptr && told->complete.contains(block);
}

std::uint32_t ChannelMesh::source_symbols(std::uint32_t block) const { return channel_.layout.symbols_of(block); }

std::uint32_t ChannelMesh::lacking(std::uint32_t block) const {
  const spindle::bulk::Need* told = channel_.relay.told();
  const std::uint32_t held = told == nullptr ? 0 : told->held_of(block);
  const std::uint32_t all = source_symbols(block);
  return held < all ? all - held : 1;
}

std::span<const mesh::HeldSymbol> ChannelMesh::held(std::uint32_t block) const {
  return channel_.relay.received().of(block);
}

// Nobody is told to send here, and what wants say is not taken.
std::uint32_t ChannelMesh::fresh_symbol(std::uint32_t block) { return source_symbols(block); }

mesh::Holding ChannelMesh::holding() const {
  mesh::Holding holding;
  // The source has what it has not sent yet, too.
  const BlockSet complete = intersection(channel_.relay.held(), BlockSet::of_first(channel_.relay.blocks_seen()));
  for (const BlockSet::Run& run : longest_runs(complete, mesh::Holding::kRunsMax)) {
    holding.complete.push_back({run.first, run.end});
  }
  for (const std::uint32_t block : channel_.relay.received().blocks()) {
    if (complete.contains(block) || holding.begun.size() == mesh::Holding::kBegunMax) continue;
    holding.begun.push_back({block, static_cast<std::uint32_t>(held(block).size())});
  }
  return holding;
}

mesh::SummaryTicket ChannelMesh::ticket() const {
  mesh::SummaryTicket ticket;
  for (const std::uint32_t block : channel_.relay.received().blocks()) {
    for (const mesh::HeldSymbol& each : held(block)) ticket.insert({block, each.esi});
  }
  return ticket;
}

}  // namespace spindled
