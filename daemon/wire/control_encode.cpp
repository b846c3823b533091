#include "daemon/base/check.h"
#include "daemon/wire/control.h"
#include "daemon/wire/control.pb.h"

namespace spindled {

namespace {

namespace pb = ::spindle::wire;

void put(pb::DaemonId* to, const DaemonId& from) {
  to->set_name(from.name);
  to->set_incarnation(from.incarnation);
}

void put(pb::ViewId* to, const ViewId& from) {
  to->set_number(from.number);
  to->set_coordinator(from.coordinator);
  to->set_incarnation(from.incarnation);
}

template <typename Repeated>
void put_members(Repeated* to, const std::vector<DaemonId>& from) {
  for (const DaemonId& member : from) put(to->Add(), member);
}

template <typename Repeated>
void put_numbers(Repeated* to, const std::vector<std::uint64_t>& from) {
  to->Add(from.begin(), from.end());
}

void put(pb::PartitionOrder* to, const PartitionOrder& from) {
  to->set_number(from.id.number);
  put(to->mutable_author(), from.id.author);
  for (const std::vector<std::string>& side : from.sides) {
    pb::PartitionOrder::Side* added = to->add_sides();
    for (const std::string& daemon : side) added->add_daemons(daemon);
  }
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(from.left).count();
  to->set_milliseconds_left(static_cast<std::uint32_t>(milliseconds));
}

void put_message(pb::Envelope& envelope, const LinkHello& from) {
  pb::LinkHello* to = envelope.mutable_link_hello();
  to->set_version_min(from.version_min);
  to->set_version_max(from.version_max);
  to->set_cluster(from.cluster);
  put(to->mutable_daemon(), from.daemon);
  to->set_settings_digest(from.settings_digest);
  if (from.partition) put(to->mutable_partition(), *from.partition);
  to->set_datagram_port(from.datagrams.port);
  to->set_datagram_bytes(from.datagrams.bytes);
  to->set_datagram_token(from.datagrams.token);
}

void put_message(pb::Envelope& envelope, const LinkState& from) {
  pb::LinkState* to = envelope.mutable_link_state();
  put(to->mutable_origin(), from.origin);
  to->set_sequence(from.sequence);
  for (const AdvertisedLink& link : from.links) {
    pb::AdvertisedLink* added = to->add_links();
    added->set_neighbour(link.neighbour);
    added->set_neighbour_incarnation(link.neighbour_incarnation);
    added->set_weight(link.weight);
    added->set_round_trip_us(link.round_trip_us);
    added->set_bytes_per_second(link.bytes_per_second);
  }
  to->set_stays_out(from.stays_out);
  to->set_rules(from.settings.rules);
  if (from.settings.memory_bytes != kMemoryBytesDefault) to->set_memory_bytes(from.settings.memory_bytes);
  if (!from.settings.bulk_address.empty()) to->set_bulk_address(from.settings.bulk_address);
}

void put_message(pb::Envelope& envelope, const LinkStateSummary& from) {
  pb::LinkStateSummary* to = envelope.mutable_link_state_summary();
  for (const LinkStateSummary::Entry& entry : from.entries) {
    pb::LinkStateSummary::Entry* added = to->add_entries();
    put(added->mutable_origin(), entry.origin);
    added->set_sequence(entry.sequence);
  }
  to->set_is_answer(from.is_answer);
}

void put_message(pb::Envelope& envelope, const Propose& from) {
  pb::Propose* to = envelope.mutable_propose();
  put(to->mutable_proposal(), from.proposal);
  put_members(to->mutable_members(), from.members);
}

void put_message(pb::Envelope& envelope, const MemberState& from) {
  pb::MemberState* to = envelope.mutable_member_state();
  put(to->mutable_proposal(), from.proposal);
  put(to->mutable_member(), from.member);
  put(to->mutable_old_view(), from.old_view);
  put_numbers(to->mutable_high(), from.high);
  to->set_safe_line(from.safe_line);
  to->set_processed(from.processed);
  to->set_old_index(from.old_index);
  to->set_stable(from.stable);
}

void put_message(pb::Envelope& envelope, const Refuse& from) {
  pb::Refuse* to = envelope.mutable_refuse();
  put(to->mutable_proposal(), from.proposal);
  put(to->mutable_member(), from.member);
  to->set_highest_number(from.highest_number);
}

/// In each place the value that most members have, where one has a majority (Boyer and Moore's vote), else one of those
/// that occur. Any choice is correct; this one leaves few differences.
std::vector<std::uint64_t> usual_high(const Transition& transition) {
  std::vector<std::uint64_t> usual = transition.members.front().high;
  std::vector<std::uint32_t> votes(usual.size(), 0);
  for (const Transition::Member& member : transition.members) {
    SPINDLE_CHECK(member.high.size() == usual.size());
    for (std::size_t i = 0; i < usual.size(); ++i) {
      if (votes[i] == 0) usual[i] = member.high[i];
      votes[i] = member.high[i] == usual[i] ? votes[i] + 1 : votes[i] - 1;
    }
  }
  return usual;
}

void put_transition(pb::Transition* to, const Transition& from) {
  SPINDLE_CHECK(!from.members.empty());
  put(to->mutable_old_view(), from.old_view);
  to->set_safe_line(from.safe_line);
  to->set_processed(from.processed);
  const std::vector<std::uint64_t> usual = usual_high(from);
  put_numbers(to->mutable_usual(), usual);
  for (const Transition::Member& member : from.members) {
    pb::Transition::Member* added = to->add_members();
    added->set_index(member.index);
    std::size_t next = 0;
    for (std::size_t i = 0; i < usual.size(); ++i) {
      if (member.high[i] == usual[i]) continue;
      added->add_at_gap(static_cast<std::uint32_t>(i - next));
      added->add_difference(static_cast<std::int64_t>(member.high[i] - usual[i]));
      next = i + 1;
    }
  }
}

void put_message(pb::Envelope& envelope, const Commit& from) {
  pb::Commit* to = envelope.mutable_commit();
  put(to->mutable_proposal(), from.proposal);
  put_members(to->mutable_members(), from.members);
  for (const Edge& edge : from.edges) {
    to->add_edge_a(edge.a);
    to->add_edge_b(edge.b);
    to->add_edge_weight(edge.weight);
    to->add_edge_round_trip_us(edge.round_trip_us);
  }
  to->set_sequencer(from.sequencer);
  for (const Transition& transition : from.transitions) put_transition(to->add_transitions(), transition);
}

void put_message(pb::Envelope& envelope, const Done& from) {
  pb::Done* to = envelope.mutable_done();
  put(to->mutable_proposal(), from.proposal);
  put(to->mutable_member(), from.member);
  for (const Done::Count& count : from.pushed) {
    to->add_pushed_to(count.to);
    to->add_pushed_messages(count.messages);
  }
}

void put_message(pb::Envelope& envelope, const Counts& from) {
  pb::Counts* to = envelope.mutable_counts();
  put(to->mutable_proposal(), from.proposal);
  put_numbers(to->mutable_pushed_to(), from.pushed_to);
}

void put_message(pb::Envelope& envelope, const Received& from) {
  pb::Received* to = envelope.mutable_received();
  put(to->mutable_proposal(), from.proposal);
  put(to->mutable_member(), from.member);
}

void put_message(pb::Envelope& envelope, const Install& from) {
  put(envelope.mutable_install()->mutable_proposal(), from.proposal);
}

void put_message(pb::Envelope& envelope, const PartitionOrder& from) { put(envelope.mutable_partition_order(), from); }

}  // namespace

std::vector<std::uint8_t> encode_control(const ControlMessage& message) {
  pb::Envelope envelope;
  std::visit([&](const auto& kind) { put_message(envelope, kind); }, message);
  std::vector<std::uint8_t> bytes(envelope.ByteSizeLong());
  SPINDLE_CHECK(envelope.SerializeToArray(bytes.data(), static_cast<int>(bytes.size())));
  return bytes;
}

}  // namespace spindled
