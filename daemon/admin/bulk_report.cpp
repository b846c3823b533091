#include "daemon/admin/bulk_report.h"

#include <fmt/format.h>

#include <array>

#include "daemon/admin/admin.pb.h"
#include "daemon/admin/page_room.h"
#include "daemon/admin/report.h"
#include "daemon/bulk/bulk_plane.h"
#include "daemon/channel/channels.h"
#include "daemon/session/sessions.h"
#include "libclient/common/printable.h"

namespace spindled {

namespace proto = spindle::admin;

namespace {

/// By the number of a BulkOutcome.
constexpr std::array<const char*, 6> kOutcomes = {"undecided", "accepted", "done", "failed", "refused", "kept"};

void describe(const Channel& channel, proto::BulkChannel& out) {
  out.set_id(spindle::printable(spindle::bulk::to_string(channel.id)));
  out.set_name(spindle::printable(channel.terms.name));
  out.set_group(spindle::printable(channel.group));
  out.set_source(spindle::printable(channel.source_name()));
  out.set_source_gone(channel.source_is_gone);
  out.set_state(channel.is_complete ? "complete" : channel.is_sealed() ? "sealed" : "offered");
  out.set_rate_cap(channel.terms.bytes_per_second);
  out.set_weight(channel.terms.weight);
  if (channel.terms.layout.has_size()) {
    out.set_bytes(channel.terms.layout.size);
    out.set_blocks(channel.terms.layout.blocks());
  }
  std::array<std::uint32_t, kOutcomes.size()> counts{};
  channel.for_each_receiver([&](const ChannelReceiver& each) { ++counts[static_cast<std::size_t>(each.outcome)]; });
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    proto::BulkOutcomeCount& count = *out.add_outcomes();
    count.set_outcome(kOutcomes[i]);
    count.set_receivers(counts[i]);
  }
}

void describe(const BulkStatus::RelayInfo& relay, const Sessions& sessions, proto::BulkChannel& out) {
  out.set_parent(relay.position.parent.value_or(""));
  out.set_backup(relay.position.backup.value_or(""));
  out.set_generation(relay.position.generation);
  out.set_ring_bytes(relay.ring_bytes);
  out.set_index_bytes(relay.index_bytes);
  out.set_needless_symbols(relay.tally.needless);
  if (relay.mesh) {
    proto::BulkMesh& mesh = *out.mutable_mesh();
    mesh.set_senders(static_cast<std::uint32_t>(relay.mesh->senders));
    mesh.set_receivers(static_cast<std::uint32_t>(relay.mesh->receivers));
    mesh.set_symbols(relay.tally.of_peers);
    mesh.set_useless(relay.tally.duplicates);
    mesh.set_told_bytes(relay.mesh->frame_bytes);
    mesh.set_left_useless(relay.mesh->avoided);
    mesh.set_left_wrong(static_cast<std::uint32_t>(relay.mesh->suspects));
  }
  const std::uint32_t blocks = out.blocks();
  for (const BulkStatus::ReceiverInfo& receiver : relay.children) {
    proto::BulkChild& child = *out.add_children();
    child.set_daemon(receiver.child.daemon);
    const Session* session = sessions.table().find(receiver.session);
    if (session != nullptr) child.set_client(session->name());
    const auto complete = static_cast<std::uint32_t>(receiver.child.need.complete.count());
    child.set_blocks(blocks == 0 ? complete : std::min(complete, blocks));
    child.set_symbols(receiver.child.given);
    child.set_overwritten(receiver.child.missed);
    child.set_bytes_per_second(receiver.child.bytes_per_s);
    child.set_behind(receiver.child.is_behind);
    child.set_served(receiver.child.has_stream);
    child.set_limited_by(receiver.limited_by);
    child.set_peer(receiver.child.is_peer);
    child.set_meshed(receiver.child.is_meshed);
  }
}

/// The latest channel of that id; otherwise why its source cannot be spoken for here.
Result<const Channel*> find_own(const AdminSubjects& subjects, const std::string& id) {
  const Channel* found = nullptr;
  for (const auto& [each, channel] : subjects.channels.table()) {
    if (spindle::bulk::to_string(each) == id) found = &channel;
  }
  if (found == nullptr) return fail(Errc::unknown_channel);
  if (!subjects.groups.is_ready()) return fail(Errc::would_block, "daemons agree on a view: try again in a moment");
  const DaemonId& self = subjects.groups.view().members[subjects.groups.view().self];
  if (found->id.daemon != self.name || found->id.incarnation != self.incarnation) {
    return fail(Errc::bad_argument, fmt::format("the channel is of {}: ask that daemon", found->id.daemon));
  }
  return found;
}

template <typename Ask>
Result<void> ask(Time now, const AdminSubjects& subjects, const std::string& id, Ask&& request) {
  const Result<const Channel*> channel = find_own(subjects, id);
  if (!channel) return tl::unexpected(channel.error());
  const ChannelClient source{(*channel)->source, (*channel)->client};
  if (const auto refused = subjects.channels.ask(now, source, request((*channel)->id))) return fail(*refused);
  return {};
}

}  // namespace

void report_bulk(Time now, const AdminSubjects& subjects, proto::BulkReply& out) {
  const ChannelTable& table = subjects.channels.table();
  PageRoom room(table.size());
  out.set_total(static_cast<std::uint32_t>(table.size()));
  for (const auto& [id, channel] : table) {
    proto::BulkChannel described;
    describe(channel, described);
    describe(subjects.bulk.status().relay(now, channel), subjects.sessions, described);
    if (room.full() || !room.take(described.ByteSizeLong())) {
      out.set_truncated(true);
      break;
    }
    *out.add_channels() = std::move(described);
  }
  for (const BulkStatus::HopInfo& hop : subjects.bulk.status().hops(now)) {
    proto::BulkHop& added = *out.add_hops();
    added.set_peer(hop.daemon);
    added.set_open(hop.is_open);
    added.set_bytes_out(hop.path.bytes_out);
    added.set_bytes_per_second(hop.path.bytes_per_s);
    added.set_rate(static_cast<std::uint64_t>(hop.path.rate));
    added.set_capacity(hop.path.capacity);
  }
  out.set_ring_bytes(subjects.bulk.status().ring_bytes());
  out.set_control_bytes_per_second(subjects.bulk.status().control_bytes_per_s(now));
}

Result<void> cancel_channel(Time now, const AdminSubjects& subjects, const std::string& id) {
  return ask(now, subjects, id, [](const BulkChannelId& channel) {
    spindle::protocol::BulkCancel cancel;
    cancel.channel = channel;
    return cancel;
  });
}

Result<void> set_channel_rate(Time now, const AdminSubjects& subjects, const std::string& id,
                              std::uint64_t bytes_per_second) {
  return ask(now, subjects, id, [&](const BulkChannelId& channel) {
    spindle::protocol::BulkSetRate rate;
    rate.channel = channel;
    rate.bytes_per_second = bytes_per_second;
    return rate;
  });
}

}  // namespace spindled
