#include "daemon/bulk/bulk_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace spindled {

std::string BulkStatus::limit_of(Time now, const RelayedChannel& relayed, const ChannelRelay::ChildInfo& child) const {
  const BulkConnection* connection = subjects_.connections.find(child.connection);
  const Channel* channel = subjects_.channels.table().find(relayed.id);
  if (connection == nullptr || channel == nullptr) return {};
  if (relayed.layout.has_size() && child.need.complete.first_missing() >= relayed.layout.blocks()) return {};
  const bool is_client = !connection->is_hop();
  if (!child.has_credit) return is_client ? "its client takes no more" : "those behind it take no more";
  if (child.is_waiting && !is_client && subjects_.paths.info(now, child.daemon).is_held_back)
    return "ordered messages go first";
  if (child.is_waiting) return is_client ? "its client does not read" : fmt::format("the hop to {}", child.daemon);
  // It has had all that there is here.
  if (relayed.relay.upstreams() == 0 && !relayed.relay.has_holder()) {
    return relayed.position.parent ? fmt::format("no hop to {}", *relayed.position.parent) : "nobody has what it lacks";
  }
  if (relayed.position.parent) return fmt::format("what comes from {}", *relayed.position.parent);
  if (channel->source_is_gone || !subjects_.channels.source_daemon(*channel)) return "nobody has what it lacks";
  if (const std::uint64_t cap = channel->terms.bytes_per_second; cap != 0 && child.bytes_per_s >= cap / 10 * 8) {
    return "the rate cap";
  }
  return "the source";
}

BulkStatus::RelayInfo BulkStatus::relay(Time now, const Channel& channel) const {
  RelayInfo info;
  info.id = channel.id;
  const RelayedChannel* relayed = subjects_.relayed.find(channel.id);
  if (relayed == nullptr) return info;
  info.position = relayed->position;
  info.ring_bytes = relayed->relay.ring_bytes();
  info.index_bytes = relayed->relay.index().bytes();
  info.tally = relayed->relay.tally();
  if (relayed->mesh) info.mesh = relayed->mesh->status();
  for (ChannelRelay::ChildInfo& child : relayed->relay.children(now)) {
    const BulkConnection* connection = subjects_.connections.find(child.connection);
    std::string limit = limit_of(now, *relayed, child);
    info.children.push_back({std::move(child), connection == nullptr ? 0 : connection->session(), std::move(limit)});
  }
  return info;
}

std::vector<BulkStatus::RelayInfo> BulkStatus::relays(Time now) const {
  std::vector<RelayInfo> infos;
  for (const auto& [id, relayed] : subjects_.relayed) {
    if (const Channel* channel = subjects_.channels.table().find(id)) infos.push_back(relay(now, *channel));
  }
  return infos;
}

std::vector<BulkStatus::HopInfo> BulkStatus::hops(Time now) const {
  std::vector<HopInfo> infos;
  for (const auto& [id, connection] : subjects_.connections) {
    if (!connection->is_hop()) continue;
    const bool is_open = connection->phase() == BulkConnection::Phase::open;
    infos.push_back({connection->daemon(), is_open, subjects_.paths.info(now, connection->daemon())});
  }
  std::sort(infos.begin(), infos.end(), [](const HopInfo& a, const HopInfo& b) { return a.daemon < b.daemon; });
  return infos;
}

}  // namespace spindled
