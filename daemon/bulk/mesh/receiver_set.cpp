#include "daemon/bulk/mesh/receiver_set.h"

#include <algorithm>

namespace spindled::mesh {

namespace {

// More are not remembered of a receiver that does not say what has come.
constexpr std::size_t kUnderWayMax = 2'048;

}  // namespace

const ReceiverSet::Receiver* ReceiverSet::find(MemberIndex member) const {
  const auto found = std::find_if(receivers_.begin(), receivers_.end(),
                                  [&](const Receiver& receiver) { return receiver.member == member; });
  return found == receivers_.end() ? nullptr : &*found;
}

bool ReceiverSet::is_peer(MemberIndex member) const {
  const Receiver* receiver = find(member);
  return receiver != nullptr && !receiver->is_child;
}

std::vector<MemberIndex> ReceiverSet::draw_peers(std::size_t count) {
  std::vector<MemberIndex> peers;
  for (const Receiver& receiver : receivers_) {
    if (!receiver.is_child) peers.push_back(receiver.member);
  }
  for (std::size_t i = 0; i < std::min(count, peers.size()); ++i) {
    std::swap(peers[i], peers[i + random_.below(peers.size() - i)]);
  }
  peers.resize(std::min(count, peers.size()));
  return peers;
}

void ReceiverSet::add_peer(Time now, MemberIndex peer) {
  if (has(peer)) return;
  Receiver receiver;
  receiver.member = peer;
  receiver.since = now;
  receivers_.push_back(std::move(receiver));
  ++peers_;
}

void ReceiverSet::remove(MemberIndex member) {
  if (is_peer(member)) --peers_;
  std::erase_if(receivers_, [&](const Receiver& receiver) { return receiver.member == member; });
}

void ReceiverSet::set_children(const std::vector<MemberIndex>& children) {
  std::erase_if(receivers_, [&](const Receiver& receiver) {
    return receiver.is_child && std::find(children.begin(), children.end(), receiver.member) == children.end();
  });
  for (const MemberIndex child : children) {
    if (Receiver* known = find(child)) {
      if (!known->is_child) --peers_;
      known->is_child = true;
      continue;
    }
    Receiver receiver;
    receiver.member = child;
    receiver.is_child = true;
    receivers_.push_back(std::move(receiver));
  }
}

void ReceiverSet::wants_received(Time now, MemberIndex from, Wants wants) {
  Receiver* receiver = find(from);
  if (receiver == nullptr) return;
  while (!receiver->under_way.empty() &&
         receiver->sent - static_cast<std::uint32_t>(receiver->under_way.size()) < wants.received) {
    receiver->under_way.pop_front();
  }
  receiver->queue.clear();
  receiver->fresh.clear();
  for (const BlockWant& want : wants.blocks) enqueue(now, *receiver, wants, want);
  receiver->holding = std::move(wants.holding);
  receiver->bytes_per_s = wants.bytes_per_s;
}

void ReceiverSet::enqueue(Time now, Receiver& receiver, const Wants& wants, const BlockWant& want) {
  if (want.block >= content_.blocks()) return;
  const std::uint32_t sources = content_.source_symbols(want.block);
  const bool is_complete = content_.is_complete(want.block);
  if (want.fresh != 0) {
    if (!is_complete) return;
    // Who has nothing of it gets what costs no coding.
    receiver.fresh.push_back({want.block, std::min(want.fresh, 2 * sources), want.fresh >= sources ? 0 : sources});
    return;
  }
  std::vector<SymbolId> found;
  const auto consider = [&](std::uint32_t esi) {
    if ((wants.residues >> residue_of(esi) & 1) == 0 || want.had.has(esi)) return;
    const SymbolId symbol{want.block, esi};
    if (std::find(receiver.under_way.begin(), receiver.under_way.end(), symbol) != receiver.under_way.end()) return;
    found.push_back(symbol);
  };
  if (is_complete) {
    for (std::uint32_t esi = 0; esi < sources; ++esi) consider(esi);
  } else {
    for (const HeldSymbol& held : content_.held(want.block)) {
      if (held.since + kTreeDelay > now) break;
      consider(held.esi);
    }
  }
  for (std::size_t i = found.size(); i > 1; --i) std::swap(found[i - 1], found[random_.below(i)]);
  receiver.queue.insert(receiver.queue.end(), found.begin(), found.end());
}

void ReceiverSet::block_done(MemberIndex from, std::uint32_t block) {
  Receiver* receiver = find(from);
  if (receiver == nullptr) return;
  std::erase_if(receiver->queue, [&](SymbolId symbol) { return symbol.block == block; });
  std::erase_if(receiver->fresh, [&](const Fresh& fresh) { return fresh.block == block; });
  auto& complete = receiver->holding.complete;
  if (block < content_.blocks() && !receiver->holding.is_complete(block) && complete.size() < 2 * Holding::kRunsMax) {
    complete.push_back({block, block + 1});
  }
}

void ReceiverSet::count(Receiver& receiver, SymbolId symbol) {
  ++receiver.sent;
  ++receiver.sent_lately;
  receiver.under_way.push_back(symbol);
  if (receiver.under_way.size() > kUnderWayMax) receiver.under_way.pop_front();
}

std::optional<SymbolId> ReceiverSet::next(MemberIndex to) {
  Receiver* receiver = find(to);
  if (receiver == nullptr) return std::nullopt;
  SymbolId symbol;
  // Older blocks first: fresh ones are wanted of those.
  if (!receiver->fresh.empty()) {
    Fresh& fresh = receiver->fresh.front();
    symbol.block = fresh.block;
    symbol.esi = fresh.next_source < content_.source_symbols(fresh.block) ? fresh.next_source++
                                                                          : content_.fresh_symbol(fresh.block);
    if (--fresh.count == 0) receiver->fresh.erase(receiver->fresh.begin());
  } else if (!receiver->queue.empty()) {
    symbol = receiver->queue.front();
    receiver->queue.pop_front();
  } else {
    return std::nullopt;
  }
  count(*receiver, symbol);
  return symbol;
}

void ReceiverSet::pushed(MemberIndex to, SymbolId symbol) {
  if (Receiver* receiver = find(to)) count(*receiver, symbol);
}

void ReceiverSet::note_sent(MemberIndex to, std::uint64_t symbols) {
  if (Receiver* receiver = find(to)) receiver->sent_lately += symbols;
}

bool ReceiverSet::lacks_nothing_of(MemberIndex receiver, std::uint32_t block) const {
  const Receiver* found = find(receiver);
  return found != nullptr && found->holding.is_complete(block);
}

std::optional<MemberIndex> ReceiverSet::least_benefiting(Time before) {
  std::optional<MemberIndex> least;
  double least_part = 0;
  for (Receiver& receiver : receivers_) {
    if (!receiver.is_child && receiver.since <= before) {
      const double part =
          static_cast<double>(receiver.sent_lately) / std::max(1.0, static_cast<double>(receiver.bytes_per_s));
      if (!least || part < least_part) {
        least = receiver.member;
        least_part = part;
      }
    }
    receiver.sent_lately = 0;
  }
  return has_room() ? std::nullopt : least;
}

}  // namespace spindled::mesh
