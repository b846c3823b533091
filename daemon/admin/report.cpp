#include "daemon/admin/report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "daemon/access/access_rules.h"
#include "daemon/admin/admin.pb.h"
#include "daemon/admin/admin_frames.h"
#include "daemon/admin/bulk_report.h"
#include "daemon/admin/feed_report.h"
#include "daemon/admin/flow_report.h"
#include "daemon/admin/page_room.h"
#include "daemon/admission/admission.h"
#include "daemon/group/groups.h"
#include "daemon/link/links.h"
#include "daemon/order/order.h"
#include "daemon/overlay/overlay.h"
#include "daemon/overlay/shortest_paths.h"
#include "daemon/session/sessions.h"
#include "daemon/view/view_agreement.h"
#include "libclient/common/printable.h"
#include "libclient/common/utf8.h"

namespace spindled {

namespace proto = spindle::admin;

namespace {

std::string hexadecimal(std::uint64_t number) { return fmt::format("{:016x}", number); }

std::uint32_t microseconds(Duration duration) { return static_cast<std::uint32_t>(duration.count() / 1000); }

std::uint32_t count32(std::size_t count) { return static_cast<std::uint32_t>(count); }

/// Items held down that `status` names.
constexpr std::size_t kHeldDownShownMax = 20;

double seconds_since(Time then, Time now) { return to_seconds(now - then); }

std::string_view to_string(Session::State state) {
  switch (state) {
    case Session::State::handshake:
      return "handshake";
    case Session::State::open:
      return "open";
    case Session::State::closing:
      return "closing";
  }
  return "unknown";
}

void fill(const View& view, proto::View& out) {
  out.set_number(view.id.number);
  out.set_coordinator(view.id.coordinator);
  out.set_sequencer(view.members[view.sequencer].name);
  for (const DaemonId& member : view.members) out.add_members(member.name);
}

/// Answers one request.
class Answer {
 public:
  Answer(const Context& context, const AdminSubjects& subjects, Time started_at, Time now)
      : context_(context), subjects_(subjects), started_at_(started_at), now_(now), view_(subjects.view.installed()) {}

  void status(proto::StatusReply& out) const;
  void links(proto::LinksReply& out) const;
  void routes(proto::RoutesReply& out) const;
  void groups(const proto::GroupsRequest& request, proto::GroupsReply& out) const;
  void sessions(const proto::SessionsRequest& request, proto::SessionsReply& out) const;
  void counters(proto::CountersReply& out) const;
  Result<void> partition(const proto::PartitionRequest& request, proto::PartitionReply& out) const;
  Result<void> heal(proto::HealReply& out) const;
  void admission(const proto::AdmissionRequest& request, proto::AdmissionReply& out) const;

 private:
  /// Nothing where none is imposed.
  template <typename Reply>
  void add_partition(Reply& out) const {
    if (subjects_.links.partition().is_imposed()) describe_partition(*out.mutable_partition());
  }
  void describe_partition(proto::Partition& out) const;
  void link(LinkId id, const LinkState& own, proto::Link& out) const;
  static void datagrams(const DatagramInfo& info, proto::Datagrams& out);
  /// Of the link to that peer, or the peer itself.
  double seconds_held_down(const std::vector<HeldDown>& held, const std::string& peer) const;
  void group(const Group& group, bool members, PageRoom& room, proto::Group& out) const;
  void session(const Session& session, proto::Session& out) const;

  const Context& context_;
  const AdminSubjects& subjects_;
  const Time started_at_;
  const Time now_;
  const View& view_;
};

void Answer::status(proto::StatusReply& out) const {
  out.set_name(context_.config.name);
  out.set_incarnation(hexadecimal(context_.config.incarnation));
  out.set_cluster(spindle::printable(context_.config.cluster));
  out.set_version(SPINDLE_VERSION);
  out.set_uptime_seconds(seconds_since(started_at_, now_));

  fill(view_, *out.mutable_view());
  out.set_phase(std::string(spindled::to_string(subjects_.view.phase())));
  out.set_coordinator_phase(std::string(spindled::to_string(subjects_.view.coordinator_phase())));
  out.set_settled(!subjects_.view.is_frozen() && subjects_.groups.is_ready());

  const LinkStateDatabase& database = subjects_.overlay.link_state().database();
  out.set_links(count32(subjects_.links.established().size()));
  out.set_unconnected_neighbours(count32(subjects_.links.unconnected().size()));
  out.set_known_daemons(count32(subjects_.overlay.link_state().known_daemons().size()));
  out.set_reachable_daemons(count32(subjects_.overlay.reachable().members.size()));
  out.set_groups(count32(subjects_.groups.table().size()));
  out.set_sessions(count32(subjects_.sessions.table().size()));

  const Order& order = subjects_.order;
  out.set_order_position(order.log().processed());
  out.set_order_end(order.log().end());
  out.set_unstable_bytes(order.unstable_bytes());
  out.set_retained_bytes(order.retained_bytes());
  out.set_memory_bytes(context_.memory.used());
  out.set_memory_max_bytes(context_.memory.limit());
  for (const HeldDown& held : subjects_.view.held_down(now_)) {
    if (static_cast<std::size_t>(out.held_down_size()) == kHeldDownShownMax) break;
    proto::HeldDown& added = *out.add_held_down();
    added.set_name(held.item.a);
    added.set_other_end(held.item.b);
    added.set_seconds(seconds_since(now_, held.until));
  }
  out.set_stays_out(database.own().stays_out());
  for (std::string& name : subjects_.overlay.link_state().daemons_with_other_rules())
    out.add_other_rules(std::move(name));
  add_partition(out);
}

void Answer::links(proto::LinksReply& out) const {
  const LinkState own = subjects_.overlay.link_state().database().own().current();
  const std::vector<HeldDown> held = subjects_.view.held_down(now_);
  for (const LinkId id : subjects_.links.established()) {
    proto::Link& added = *out.add_links();
    link(id, own, added);
    added.set_held_down_seconds(seconds_held_down(held, added.peer()));
  }
  for (const NeighbourInfo& neighbour : subjects_.links.unconnected()) {
    proto::Neighbour& added = *out.add_unconnected();
    added.set_address(spindle::printable(neighbour.address));
    added.set_last_error(spindle::printable(neighbour.last_error));
    const bool waits = neighbour.next_dial > now_ && neighbour.next_dial != kNever;
    added.set_retry_seconds(waits ? seconds_since(now_, neighbour.next_dial) : 0);
  }
  const DatagramCounts counts = subjects_.links.datagram_counts();
  proto::DatagramSockets& sockets = *out.mutable_datagram_sockets();
  sockets.set_segmenting(counts.is_segmenting);
  sockets.set_unknown(context_.counters.value(Counter::datagrams_unknown));
  sockets.set_too_long(counts.too_long);
  sockets.set_failed(counts.failed);
  add_partition(out);
}

double Answer::seconds_held_down(const std::vector<HeldDown>& held, const std::string& peer) const {
  double longest = 0;
  const std::string& self = context_.config.name;
  for (const auto& [item, until] : held) {
    const bool is_peer = item.b.empty() && item.a == peer;
    const bool is_link = (item.a == self && item.b == peer) || (item.a == peer && item.b == self);
    if (is_peer || is_link) longest = std::max(longest, seconds_since(now_, until));
  }
  return longest;
}

void Answer::link(LinkId id, const LinkState& own, proto::Link& out) const {
  const LinkInfo info = subjects_.links.info(id);
  const auto advertised = std::find_if(own.links.begin(), own.links.end(), [&](const AdvertisedLink& link) {
    return key_of(link) == std::pair<std::string_view, std::uint64_t>(info.peer.name, info.peer.incarnation);
  });
  out.set_peer(info.peer.name);
  out.set_peer_incarnation(hexadecimal(info.peer.incarnation));
  out.set_address(spindle::printable(info.address));
  out.set_identity(spindle::printable(info.identity));
  out.set_dialled(info.dialled);
  out.set_weight(advertised == own.links.end() ? 0 : advertised->weight);
  out.set_configured_weight(info.configured_weight);
  out.set_round_trip_us(microseconds(info.round_trip));
  out.set_up_seconds(seconds_since(info.up_since, now_));
  out.set_queued_bytes(info.queued_bytes);
  out.set_queued_packets(count32(info.queued_packets));
  out.set_bytes_in(info.bytes_in);
  out.set_bytes_out(info.bytes_out);
  out.set_frames_in(info.frames_in);
  out.set_frames_out(info.frames_out);
  datagrams(info.datagrams, *out.mutable_datagrams());
}

void Answer::datagrams(const DatagramInfo& info, proto::Datagrams& out) {
  out.set_by_udp(info.is_open);
  if (!info.is_open) out.set_why_not(info.why_not);
  out.set_encrypted(info.is_sealed);
  out.set_round_trip_us(microseconds(info.round_trip));
  out.set_loss_in(info.loss_in);
  out.set_loss_out(info.loss_out);
  out.set_in(info.in);
  out.set_out(info.out);
  out.set_dropped_repeated(info.repeated);
  out.set_dropped_forged(info.forged);
  out.set_dropped_no_room(info.no_room);
  out.set_dropped_behind(info.behind);
}

void Answer::routes(proto::RoutesReply& out) const {
  fill(view_, *out.mutable_view());
  MemberSet usable;
  for (const ForwardingTable::Hop& hop : subjects_.overlay.routes().hops()) usable |= hop.mask;
  const ShortestPaths paths(Adjacency(view_.size(), view_.edges), view_.self);
  for (std::size_t i = 0; i < view_.size(); ++i) {
    const auto member = static_cast<MemberIndex>(i);
    proto::Route& route = *out.add_routes();
    route.set_member(view_.members[member].name);
    route.set_sequencer(member == view_.sequencer);
    route.set_usable(member == view_.self || usable.contains(member));
    if (member == view_.self || !paths.reaches(member)) continue;
    route.set_next_hop(view_.members[paths.next_hop(member)].name);
    route.set_distance(paths.distance(member));
    route.set_round_trip_us(paths.round_trip_us(member));
    std::uint32_t hops = 0;
    for (MemberIndex at = member; at != view_.self; at = paths.predecessor(at)) ++hops;
    route.set_hops(hops);
  }
}

void Answer::groups(const proto::GroupsRequest& request, proto::GroupsReply& out) const {
  const GroupTable& table = subjects_.groups.table();
  PageRoom room(request.limit());
  out.set_total(count32(table.size()));
  if (!request.name().empty()) {
    if (const Group* found = table.find(request.name())) group(*found, request.members(), room, *out.add_groups());
    return;
  }
  for (auto at = table.behind(request.after()); at != table.end(); ++at) {
    const Group& found = *at;
    if (room.full()) {
      out.set_truncated(true);
      return;
    }
    group(found, request.members(), room, *out.add_groups());
    out.set_last(found.name);
  }
}

void Answer::group(const Group& group, bool members, PageRoom& room, proto::Group& out) const {
  out.set_name(spindle::printable(group.name));
  out.set_member_count(count32(group.members.size()));
  const View& view = subjects_.groups.view();
  out.set_local_count(count32(group.members_of(view.self).size()));
  group.subscribers.for_each([&](MemberIndex daemon) { out.add_daemons(view.members[daemon].name); });
  out.set_synchronous(group.is_synchronous());
  out.set_pending(group.is_pending());
  if (group.is_pending()) {
    for (const MemberIndex daemon : GroupTable::flushing(group)) out.add_flushing(view.members[daemon].name);
  }
  room.take_item(out.ByteSizeLong());
  if (!members) return;
  for (const GroupMember& member : group.members) {
    if (!room.take(member.name().size())) {
      out.set_members_truncated(true);
      return;
    }
    out.add_members(member.name());
  }
}

void Answer::sessions(const proto::SessionsRequest& request, proto::SessionsReply& out) const {
  PageRoom room(request.limit());
  out.set_total(count32(subjects_.sessions.table().size()));
  subjects_.sessions.table().for_each([&](const Session& found) {
    if (found.id() <= request.after() || out.truncated()) return;
    if (room.full()) {
      out.set_truncated(true);
      return;
    }
    proto::Session& added = *out.add_sessions();
    session(found, added);
    room.take_item(added.ByteSizeLong());
  });
}

void Answer::session(const Session& session, proto::Session& out) const {
  out.set_id(session.id());
  out.set_name(session.name());
  out.set_peer(spindle::printable(session.peer()));
  out.set_identity(spindle::printable(session.identity()));
  out.set_state(std::string(to_string(session.state())));
  out.set_open_seconds(seconds_since(session.opened_at(), now_));
  out.set_bytes_in(session.traffic().bytes_in);
  out.set_bytes_out(session.traffic().bytes_out);
  out.set_messages_in(session.traffic().messages_in);
  out.set_messages_out(session.traffic().messages_out);
  out.set_queued_bytes(session.queue().bytes());
  out.set_waiting(session.is_waiting());
  out.set_slow(session.watch().is_behind());
  out.set_groups(count32(subjects_.groups.table().groups_of(subjects_.groups.view().self, session.id()).size()));
}

void Answer::counters(proto::CountersReply& out) const {
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    proto::Counter& added = *out.add_counters();
    added.set_name(std::string(spindled::to_string(counter)));
    added.set_text(std::string(describe(counter)));
    added.set_value(context_.counters.value(counter));
  }
  for (std::uint16_t code = 0; code < Counters::kCloseCodes; ++code) {
    const std::uint64_t value = context_.counters.closes(code);
    if (value == 0) continue;
    proto::CloseCount& added = *out.add_closes();
    added.set_code(code);
    added.set_name(std::string(spindle::to_string(static_cast<Errc>(code))));
    added.set_text(std::string(spindle::describe(static_cast<Errc>(code))));
    added.set_value(value);
  }
}

void Answer::describe_partition(proto::Partition& out) const {
  const PartitionOrder order = subjects_.links.partition().order(now_);
  out.set_id(spindled::to_string(order.id));
  out.set_seconds_left(to_seconds(order.left));
  std::set<std::string_view> named;
  for (const std::vector<std::string>& side : order.sides) {
    proto::Side& added = *out.add_sides();
    for (const std::string& daemon : side) {
      added.add_daemons(daemon);
      named.insert(daemon);
    }
  }
  for (const std::string& daemon : subjects_.overlay.link_state().known_daemons()) {
    if (!named.contains(daemon)) out.add_others(daemon);
  }
}

Result<void> Answer::partition(const proto::PartitionRequest& request, proto::PartitionReply& out) const {
  PartitionSides sides;
  for (const proto::Side& side : request.sides()) sides.emplace_back(side.daemons().begin(), side.daemons().end());
  const std::uint64_t wanted = request.milliseconds() == 0 ? kPartitionMillisecondsDefault : request.milliseconds();
  // What is too long is told so by the overlay; more would overflow.
  constexpr auto kTooLong = static_cast<std::uint64_t>(kPartitionTimeMax / 1ms) + 1;
  const std::chrono::milliseconds duration(std::min(wanted, kTooLong));
  if (Result<void> imposed = subjects_.overlay.partitions().impose(now_, std::move(sides), duration); !imposed) {
    return imposed;
  }
  add_partition(out);
  return {};
}

Result<void> Answer::heal(proto::HealReply& out) const {
  proto::Partition ended;
  const bool was_imposed = subjects_.links.partition().is_imposed();
  if (was_imposed) describe_partition(ended);
  if (Result<void> healed = subjects_.overlay.partitions().heal(now_); !healed) return healed;
  if (was_imposed) *out.mutable_ended() = std::move(ended);
  return {};
}

void Answer::admission(const proto::AdmissionRequest& request, proto::AdmissionReply& out) const {
  out.set_enabled(request.enabled());
  out.set_changed(subjects_.admission.is_enabled() != request.enabled());
  subjects_.admission.set_enabled(request.enabled());
}

/// What a request changes, for the log; empty where it only looks.
std::string change_of(const proto::Request& request) {
  if (request.has_admission())
    return request.admission().enabled() ? "switches admission on" : "switches admission off";
  if (request.has_heal()) return "ends the partition";
  if (request.has_bulk_cancel())
    return fmt::format("cancels channel {}", spindle::printable(request.bulk_cancel().id()));
  if (request.has_bulk_rate()) {
    return fmt::format("sets the rate of channel {} to {} bytes a second", spindle::printable(request.bulk_rate().id()),
                       request.bulk_rate().bytes_per_second());
  }
  if (!request.has_partition()) return {};
  std::string text = "imposes a partition:";
  for (const proto::Side& side : request.partition().sides()) {
    text += fmt::format("{} {}", text.back() == ':' ? "" : " |",
                        spindle::printable(fmt::format("{}", fmt::join(side.daemons(), ","))));
  }
  return text;
}

}  // namespace

Result<std::vector<std::uint8_t>> AdminReport::answer(Time now, ByteView bytes) const {
  proto::Request request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(Errc::malformed_frame, "the request could not be parsed");
  }
  // The lists may have changed since the connection began.
  const AdminRole role = admin_role_of(context_.config.admin, asker_);
  if (role == AdminRole::none) return tl::unexpected(no_administrator(asker_));
  const std::string change = change_of(request);
  if (!change.empty() && role != AdminRole::operating) {
    return fail(Errc::access_denied, fmt::format("{} may look and change nothing: admin.operators does not name it",
                                                 shown_identity(asker_)));
  }
  proto::Reply reply;
  Result<void> done;
  const Answer answer(context_, subjects_, started_at_, now);
  switch (request.kind_case()) {
    case proto::Request::kStatus:
      answer.status(*reply.mutable_status());
      break;
    case proto::Request::kLinks:
      answer.links(*reply.mutable_links());
      break;
    case proto::Request::kRoutes:
      answer.routes(*reply.mutable_routes());
      break;
    case proto::Request::kGroups:
      answer.groups(request.groups(), *reply.mutable_groups());
      break;
    case proto::Request::kSessions:
      answer.sessions(request.sessions(), *reply.mutable_sessions());
      break;
    case proto::Request::kCounters:
      answer.counters(*reply.mutable_counters());
      break;
    case proto::Request::kPartition:
      done = answer.partition(request.partition(), *reply.mutable_partition());
      break;
    case proto::Request::kHeal:
      done = answer.heal(*reply.mutable_heal());
      break;
    case proto::Request::kFlow:
      report_flow(now, context_.config.admission, subjects_, request.flow(), *reply.mutable_flow());
      break;
    case proto::Request::kAdmission:
      answer.admission(request.admission(), *reply.mutable_admission());
      break;
    case proto::Request::kBulk:
      report_bulk(now, subjects_, *reply.mutable_bulk());
      break;
    case proto::Request::kFeeds:
      report_feeds(now, subjects_, request.feeds(), *reply.mutable_feeds());
      break;
    case proto::Request::kBulkCancel:
      done = cancel_channel(now, subjects_, request.bulk_cancel().id());
      reply.mutable_bulk_cancel()->set_id(spindle::printable(request.bulk_cancel().id()));
      break;
    case proto::Request::kBulkRate:
      done = set_channel_rate(now, subjects_, request.bulk_rate().id(), request.bulk_rate().bytes_per_second());
      reply.mutable_bulk_rate()->set_id(spindle::printable(request.bulk_rate().id()));
      reply.mutable_bulk_rate()->set_bytes_per_second(request.bulk_rate().bytes_per_second());
      break;
    case proto::Request::KIND_NOT_SET:
      return fail(Errc::unknown_request, "this daemon does not know the request: it may be older than who asks");
  }
  if (!done) return tl::unexpected<Error>(done.error());
  if (!change.empty()) {
    // Never left out, however many lines there are of the kind.
    context_.log_sink.write(LogLevel::info, "audit",
                            fmt::format("{} from {} {}", shown_identity(asker_), asker_.address, change));
  }
  std::vector<std::uint8_t> encoded(reply.ByteSizeLong());
  reply.SerializeWithCachedSizesToArray(encoded.data());
  return encoded;
}

}  // namespace spindled
