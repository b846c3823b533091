#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "daemon/wire/control.h"
#include "daemon/wire/control.pb.h"
#include "libclient/common/names.h"

namespace spindled {

namespace {

namespace pb = ::spindle::wire;

constexpr std::size_t kClusterNameBytesMax = 255;
/// A sequence number starts at 1 and grows by one an advertisement; one beyond this is not genuine.
constexpr std::uint64_t kSequenceMax = std::uint64_t{1} << 62;

/// Turns one parsed envelope into plain structs. The first thing found wrong is kept and ends the work; what is
/// returned then is not used.
class Decoder {
 public:
  Result<ControlMessage> decode(const pb::Envelope& envelope) {
    ControlMessage message = take(envelope);
    if (!wrong_.empty()) return fail(Errc::malformed_frame, fmt::format("{}: {}", kind_, wrong_));
    return message;
  }

 private:
  ControlMessage take(const pb::Envelope& envelope) {
    switch (envelope.kind_case()) {
      case pb::Envelope::kLinkHello:
        return take(envelope.link_hello());
      case pb::Envelope::kLinkState:
        return take(envelope.link_state());
      case pb::Envelope::kLinkStateSummary:
        return take(envelope.link_state_summary());
      case pb::Envelope::kPropose:
        return take(envelope.propose());
      case pb::Envelope::kMemberState:
        return take(envelope.member_state());
      case pb::Envelope::kRefuse:
        return take(envelope.refuse());
      case pb::Envelope::kCommit:
        return take(envelope.commit());
      case pb::Envelope::kDone:
        return take(envelope.done());
      case pb::Envelope::kCounts:
        return take(envelope.counts());
      case pb::Envelope::kReceived:
        return take(envelope.received());
      case pb::Envelope::kInstall:
        return take(envelope.install());
      case pb::Envelope::kPartitionOrder:
        kind_ = "partition order";
        return take(envelope.partition_order());
      case pb::Envelope::KIND_NOT_SET:
        break;
    }
    require(false, "not of a known kind");
    return {};
  }

  bool require(bool condition, std::string_view what) {
    if (!condition && wrong_.empty()) wrong_ = what;
    return wrong_.empty();
  }
  bool require_at(std::size_t position, bool condition, std::string_view what) {
    if (!condition && wrong_.empty()) wrong_ = fmt::format("{} (element {})", what, position);
    return wrong_.empty();
  }

  DaemonId take(const pb::DaemonId& from) {
    require(spindle::is_daemon_name(from.name()), "a daemon's name is not valid");
    return {from.name(), from.incarnation()};
  }

  ViewId take(const pb::ViewId& from) {
    require(spindle::is_daemon_name(from.coordinator()), "a coordinator's name is not valid");
    return {from.number(), from.coordinator(), from.incarnation()};
  }

  std::uint16_t take_version(std::uint32_t version) {
    require(version <= std::numeric_limits<std::uint16_t>::max(), "a version has more than 16 bits");
    return static_cast<std::uint16_t>(version);
  }

  template <typename Repeated>
  std::vector<std::uint64_t> take_numbers(const Repeated& from, std::string_view what) {
    if (!require(from.size() >= 1 && static_cast<std::size_t>(from.size()) <= kMembersMax, what)) return {};
    return {from.begin(), from.end()};
  }

  /// The members of a view that `proposal` proposes.
  template <typename Repeated>
  std::vector<DaemonId> take_members(const Repeated& from, const ViewId& proposal) {
    std::vector<DaemonId> members;
    if (!require(!from.empty(), "no members") ||
        !require(static_cast<std::size_t>(from.size()) <= kMembersMax, "too many members")) {
      return members;
    }
    members.reserve(static_cast<std::size_t>(from.size()));
    bool has_coordinator = false;
    for (const pb::DaemonId& member : from) {
      DaemonId id = take(member);
      if (!require_at(members.size(), members.empty() || members.back().name < id.name, "members are not sorted"))
        break;
      has_coordinator = has_coordinator || (id.name == proposal.coordinator && id.incarnation == proposal.incarnation);
      members.push_back(std::move(id));
    }
    require(has_coordinator, "the coordinator is not a member");
    return members;
  }

  LinkHello take(const pb::LinkHello& from) {
    kind_ = "link hello";
    LinkHello to;
    to.version_min = take_version(from.version_min());
    to.version_max = take_version(from.version_max());
    require(to.version_min <= to.version_max, "the version range is empty");
    require(!from.cluster().empty() && from.cluster().size() <= kClusterNameBytesMax,
            "the cluster's name is not valid");
    to.cluster = from.cluster();
    to.daemon = take(from.daemon());
    to.settings_digest = from.settings_digest();
    if (from.has_partition()) to.partition = take(from.partition());
    require(from.datagram_port() <= UINT16_MAX, "the port for datagrams is not valid");
    to.datagrams = {static_cast<std::uint16_t>(from.datagram_port()), from.datagram_bytes(), from.datagram_token()};
    return to;
  }

  PartitionOrder take(const pb::PartitionOrder& from) {
    PartitionOrder to;
    to.id = {from.number(), take(from.author())};
    to.left = std::chrono::milliseconds(from.milliseconds_left());
    if (!require(static_cast<std::size_t>(from.sides_size()) <= kPartitionSidesMax, "a partition has too many sides")) {
      return to;
    }
    for (const pb::PartitionOrder::Side& side : from.sides()) {
      to.sides.emplace_back(side.daemons().begin(), side.daemons().end());
    }
    const std::string_view fault = find_fault(to);
    require(fault.empty(), fault);
    return to;
  }

  std::uint64_t take_sequence(std::uint64_t sequence) {
    require(sequence >= 1 && sequence <= kSequenceMax, "a sequence number is out of range");
    return sequence;
  }

  LinkState take(const pb::LinkState& from) {
    kind_ = "link state";
    LinkState to;
    to.origin = take(from.origin());
    to.sequence = take_sequence(from.sequence());
    to.stays_out = from.stays_out();
    to.settings = {from.rules(), from.memory_bytes() == 0 ? kMemoryBytesDefault : from.memory_bytes(),
                   from.bulk_address()};
    if (!require(is_bulk_address(from.bulk_address()), "a bulk address is not valid")) return to;
    if (!require(static_cast<std::size_t>(from.links_size()) <= kMembersMax, "too many links")) return to;
    to.links.reserve(static_cast<std::size_t>(from.links_size()));
    for (const pb::AdvertisedLink& link : from.links()) {
      const std::size_t i = to.links.size();
      const auto key = std::pair<std::string_view, std::uint64_t>(link.neighbour(), link.neighbour_incarnation());
      const bool in_order = to.links.empty() || key_of(to.links.back()) < key;
      if (!require_at(i, spindle::is_daemon_name(link.neighbour()), "a neighbour's name is not valid") ||
          !require_at(i, link.neighbour() != to.origin.name, "a link leads to its own daemon") ||
          !require_at(i, in_order, "links are not sorted") || !require_at(i, link.weight() >= 1, "a weight is zero")) {
        break;
      }
      to.links.push_back({link.neighbour(), link.neighbour_incarnation(), link.weight(), link.round_trip_us(),
                          link.bytes_per_second()});
    }
    return to;
  }

  LinkStateSummary take(const pb::LinkStateSummary& from) {
    kind_ = "link state summary";
    LinkStateSummary to;
    to.is_answer = from.is_answer();
    to.entries.reserve(static_cast<std::size_t>(from.entries_size()));
    for (const pb::LinkStateSummary::Entry& entry : from.entries()) {
      LinkStateSummary::Entry taken{take(entry.origin()), take_sequence(entry.sequence())};
      const bool in_order = to.entries.empty() || to.entries.back().origin < taken.origin;
      if (!require_at(to.entries.size(), in_order, "entries are not sorted")) break;
      to.entries.push_back(std::move(taken));
    }
    return to;
  }

  Propose take(const pb::Propose& from) {
    kind_ = "propose";
    Propose to;
    to.proposal = take(from.proposal());
    to.members = take_members(from.members(), to.proposal);
    return to;
  }

  MemberState take(const pb::MemberState& from) {
    kind_ = "member state";
    MemberState to;
    to.proposal = take(from.proposal());
    to.member = take(from.member());
    to.old_view = take(from.old_view());
    to.high = take_numbers(from.high(), "the high vector's size is not that of a view");
    to.safe_line = from.safe_line();
    to.processed = from.processed();
    if (!require(from.old_index() < to.high.size(), "the member is out of its old view's range")) return to;
    to.old_index = static_cast<MemberIndex>(from.old_index());
    to.stable = from.stable();
    require(to.stable <= to.high[to.old_index], "more of the member's stream is stable than it has sent");
    return to;
  }

  Refuse take(const pb::Refuse& from) {
    kind_ = "refuse";
    return {take(from.proposal()), take(from.member()), from.highest_number()};
  }

  std::vector<Edge> take_edges(const pb::Commit& from, std::size_t members) {
    std::vector<Edge> edges;
    const int count = from.edge_a_size();
    if (!require(
            from.edge_b_size() == count && from.edge_weight_size() == count && from.edge_round_trip_us_size() == count,
            "the columns of the edges differ in length")) {
      return edges;
    }
    edges.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const std::size_t at = edges.size();
      const std::uint32_t a = from.edge_a(i);
      const std::uint32_t b = from.edge_b(i);
      if (!require_at(at, a < b && b < members, "an edge's ends are not valid")) break;
      const Edge edge{static_cast<MemberIndex>(a), static_cast<MemberIndex>(b), from.edge_weight(i),
                      from.edge_round_trip_us(i)};
      const bool in_order =
          edges.empty() || edges.back().a < edge.a || (edges.back().a == edge.a && edges.back().b < edge.b);
      if (!require_at(at, in_order, "edges are not sorted") ||
          !require_at(at, edge.weight >= 1, "an edge's weight is zero")) {
        break;
      }
      edges.push_back(edge);
    }
    return edges;
  }

  /// `seen` marks members of the view that are in a transition already: it bounds what the vectors here can grow to.
  Transition take_transition(const pb::Transition& from, std::vector<bool>& seen) {
    Transition to;
    to.old_view = take(from.old_view());
    to.safe_line = from.safe_line();
    to.processed = from.processed();
    const std::vector<std::uint64_t> usual = take_numbers(from.usual(), "a transition's high vectors are of no view");
    if (!require(!from.members().empty(), "a transition has no members") ||
        !require(static_cast<std::size_t>(from.members_size()) <= usual.size(),
                 "a transition has more members than its old view")) {
      return to;
    }
    for (const pb::Transition::Member& member : from.members()) {
      const std::size_t at = to.members.size();
      const std::size_t index = member.index();
      if (!require_at(at, index < seen.size(), "a transition's member is out of range") ||
          !require_at(at, !seen[index], "a member is in two transitions") ||
          !require_at(at, to.members.empty() || to.members.back().index < index,
                      "a transition's members are not sorted") ||
          !require_at(at, member.at_gap_size() == member.difference_size(),
                      "a member's differences do not match their places")) {
        break;
      }
      seen[index] = true;
      to.members.push_back({static_cast<MemberIndex>(index), usual});
      apply_differences(member, to.members.back().high);
    }
    return to;
  }

  void apply_differences(const pb::Transition::Member& member, std::vector<std::uint64_t>& high) {
    std::uint64_t next = 0;
    for (int i = 0; i < member.at_gap_size(); ++i) {
      const std::uint64_t place = next + member.at_gap(i);
      if (!require(place < high.size(), "a member's differences reach beyond its old view")) return;
      high[place] += static_cast<std::uint64_t>(member.difference(i));
      next = place + 1;
    }
  }

  void require_distinct_old_views(const Commit& commit) {
    std::vector<const ViewId*> ids;
    for (const Transition& transition : commit.transitions) ids.push_back(&transition.old_view);
    std::sort(ids.begin(), ids.end(), [](const ViewId* x, const ViewId* y) { return *x < *y; });
    const auto same = [](const ViewId* x, const ViewId* y) { return *x == *y; };
    require(std::adjacent_find(ids.begin(), ids.end(), same) == ids.end(), "two transitions come from one view");
  }

  Commit take(const pb::Commit& from) {
    kind_ = "commit";
    Commit to;
    to.proposal = take(from.proposal());
    to.members = take_members(from.members(), to.proposal);
    to.edges = take_edges(from, to.members.size());
    require(from.sequencer() < to.members.size(), "the sequencer is out of range");
    to.sequencer = static_cast<MemberIndex>(from.sequencer());
    std::vector<bool> seen(to.members.size(), false);
    for (const pb::Transition& transition : from.transitions()) {
      to.transitions.push_back(take_transition(transition, seen));
      if (!wrong_.empty()) return to;
    }
    require_distinct_old_views(to);
    for (std::size_t i = 0; i < seen.size(); ++i) require_at(i, seen[i], "a member is in no transition");
    return to;
  }

  Done take(const pb::Done& from) {
    kind_ = "done";
    Done to;
    to.proposal = take(from.proposal());
    to.member = take(from.member());
    if (!require(from.pushed_to_size() == from.pushed_messages_size(), "counts do not match their members")) return to;
    std::vector<bool> seen(kMembersMax, false);
    for (int i = 0; i < from.pushed_to_size(); ++i) {
      const std::uint32_t member = from.pushed_to(i);
      if (!require(member < kMembersMax, "a member is out of range") ||
          !require(!seen[member], "a member is counted twice")) {
        break;
      }
      seen[member] = true;
      to.pushed.push_back({static_cast<MemberIndex>(member), from.pushed_messages(i)});
    }
    return to;
  }

  Counts take(const pb::Counts& from) {
    kind_ = "counts";
    Counts to;
    to.proposal = take(from.proposal());
    to.pushed_to = take_numbers(from.pushed_to(), "the number of counts is not that of a view's members");
    return to;
  }

  Received take(const pb::Received& from) {
    kind_ = "received";
    Received to;
    to.proposal = take(from.proposal());
    to.member = take(from.member());
    return to;
  }

  Install take(const pb::Install& from) {
    kind_ = "install";
    return {take(from.proposal())};
  }

  std::string_view kind_ = "control message";
  std::string wrong_;
};

}  // namespace

bool is_bulk_address(std::string_view address) {
  return address.size() <= kBulkAddressBytesMax &&
         std::all_of(address.begin(), address.end(), [](char each) { return each > ' ' && each <= '~'; });
}

Result<ControlMessage> decode_control(ByteView bytes) {
  pb::Envelope envelope;
  if (bytes.size() > kControlMessageBytesMax ||
      !envelope.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(Errc::malformed_frame, "control message: not in the format of Protocol Buffers");
  }
  return Decoder().decode(envelope);
}

}  // namespace spindled
