#include "daemon/bulk/relayed_channel.h"

#include <algorithm>
#include <utility>

#include "daemon/bulk/bulk_output.h"
#include "daemon/bulk/channel_mesh.h"

namespace spindled {

namespace bulk = spindle::bulk;

namespace {

/// Of all rings together, and as a part of the limit of memory.
constexpr std::size_t kRingsBytesMax = 256u << 20;
constexpr std::size_t kRingsShare = 4;
/// What is remembered of a symbol that has come (ReceivedSymbols), about.
constexpr std::size_t kReceivedBytes = 64;
/// Of one, whatever there is of memory.
constexpr std::size_t kRingBytesLeast = 64u << 10;

}  // namespace

RelayedChannel::RelayedChannel(RelayedChannels& among, BulkOutput& output, const Channel& channel)
    : all(among),
      out(output),
      id(channel.id),
      weight(channel.terms.weight),
      relay(*this, channel.terms.layout.symbol_bytes, channel.terms.layout.symbols_of_whole(), among.hasher()) {
  set_layout(channel.terms.layout);
}

RelayedChannel::~RelayedChannel() = default;

void RelayedChannel::set_layout(const ContentLayout& to) {
  layout = to;
  if (layout.has_size()) relay.set_blocks(layout.blocks(), layout.symbols_of(layout.blocks() - 1));
}

void RelayedChannel::may_send(ConnectionId to) { out.may_send(to, *this); }

void RelayedChannel::send_need(ConnectionId to, std::uint8_t stream, const bulk::Need& need) {
  out.send_need(to, *this, stream, need);
}

void RelayedChannel::send_grant(ConnectionId to, std::uint8_t stream, std::uint64_t symbols) {
  out.send_grant(to, *this, stream, symbols);
}

void RelayedChannel::send_release(ConnectionId to, std::uint8_t stream) { out.send_release(to, *this, stream); }

void RelayedChannel::ask_index(ConnectionId to) { out.ask_index(to, *this); }

void RelayedChannel::wake_at(Time when) { all.wake(*this, when); }

RelayedChannel* RelayedChannels::find(const BulkChannelId& id) const {
  const auto found = channels_.find(id);
  return found == channels_.end() ? nullptr : found->second.get();
}

RelayedChannel* RelayedChannels::add(BulkOutput& output, const Channel& channel) {
  auto& added = channels_[channel.id];
  if (added) return nullptr;
  added = std::make_unique<RelayedChannel>(*this, output, channel);
  share_memory();
  return added.get();
}

void RelayedChannels::remove(const BulkChannelId& id) {
  const auto channel = channels_.find(id);
  if (channel == channels_.end()) return;
  count(*channel->second);
  wakes_.erase({channel->second->wakes_at, id});
  channels_.erase(channel);
  share_at_ = Time();  // at once
}

void RelayedChannels::clear() {
  wakes_.clear();
  channels_.clear();
}

void RelayedChannels::wake(RelayedChannel& channel, Time at) {
  if (at >= channel.wakes_at) return;
  if (channel.wakes_at != kNever) wakes_.erase({channel.wakes_at, channel.id});
  channel.wakes_at = at;
  wakes_.emplace(at, channel.id);
}

std::vector<RelayedChannel*> RelayedChannels::take_due(Time now) {
  std::vector<RelayedChannel*> due;
  while (next_wake() <= now) {
    RelayedChannel* const channel = find(wakes_.begin()->second);
    wakes_.erase(wakes_.begin());
    channel->wakes_at = kNever;
    due.push_back(channel);
  }
  return due;
}

void RelayedChannels::share_memory() {
  share_at_ = kNever;
  std::size_t other_bytes = 0;
  ring_bytes_ = 0;
  const std::size_t all = std::min(kRingsBytesMax, context_.memory.limit() / kRingsShare);
  const std::size_t each = all / std::max<std::size_t>(channels_.size(), 1);
  const auto allowed = static_cast<std::size_t>(context_.memory.allowance() * static_cast<double>(each));
  for (const auto& [id, channel] : channels_) {
    channel->relay.set_ring_bytes_max(std::max(allowed, kRingBytesLeast));
    ring_bytes_ += channel->relay.ring_bytes();
    other_bytes += channel->relay.index().bytes() + kReceivedBytes * channel->relay.received().size();
    other_bytes += channel->relay.needs_bytes();
  }
  context_.memory.set(MemoryBudget::Use::bulk, other_bytes);
}

std::size_t RelayedChannels::rings_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [id, channel] : channels_) bytes += channel->relay.ring_only_bytes();
  return bytes;
}

void RelayedChannels::count(RelayedChannel& channel) {
  const ChannelRelay::Tally& tally = channel.relay.tally();
  context_.counters.add(Counter::bulk_symbols_overwritten, tally.overwritten - channel.counted.overwritten);
  context_.counters.add(Counter::bulk_symbols_needless, tally.needless - channel.counted.needless);
  context_.counters.add(Counter::bulk_symbols_of_peers, tally.of_peers - channel.counted.of_peers);
  context_.counters.add(Counter::bulk_symbols_of_peers_useless, tally.duplicates - channel.counted.duplicates);
  channel.counted = tally;
  const std::uint64_t wrong = channel.relay.index().wrong();
  if (wrong != std::exchange(channel.wrong_indexes, wrong)) {
    log_.warning("a client or daemon gave a wrong index of channel {}", bulk::to_string(channel.id));
  }
}

}  // namespace spindled
