#include "daemon/bulk/bulk_plane.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/wire/frame_traits.h"

namespace spindled {

namespace bulk = spindle::bulk;

namespace {

/// What a turn writes of bulk content at most: ordered messages come in between.
constexpr std::size_t kTurnBytes = 256u << 10;
/// Changes of receivers are taken together for this long before the tree is planned anew.
constexpr Duration kPlanDelay = 20ms;
/// How often hops that are missing are looked for.
constexpr Duration kHopRetry = 500ms;
constexpr Duration kHandshakeTimeout = 5s;
/// A parent that owes symbols and has sent none for this long has a backup beside it.
constexpr Duration kSilence = 750ms;
/// One that has sent none for this long may not know what it was asked for: it is asked anew.
constexpr Duration kForgotten = 3s;
constexpr std::size_t kEarlyPlansMax = 256;
/// How often it is looked whether another tree would be better,
constexpr Duration kReplan = 10s;
/// and by how much the content has to come faster to some daemon.
constexpr double kReplanGain = 1.3;
/// A hop that no channel needs is closed when nothing has gone over it for this long.
constexpr Duration kHopIdle = 30s;
/// Of all rings together, and as a part of the limit of memory.
constexpr std::size_t kRingsBytesMax = 256u << 20;
constexpr std::size_t kRingsShare = 4;
/// Of one, whatever there is of memory.
constexpr std::size_t kRingBytesLeast = 64u << 10;

std::optional<Error> malformed(std::string_view name) {
  return Error{Errc::malformed_frame, fmt::format("a malformed bulk frame: {}", name)};
}

/// Of a close frame.
std::optional<Error> told_reason(ByteView body) {
  const std::optional<bulk::BulkClose> close = bulk::read_close(body);
  if (!close) return malformed("close");
  return Error{static_cast<Errc>(close->code), std::string(close->text)};
}

}  // namespace

/// What its relay has connections send goes into their queues at once, and is written at the end of the turn.
struct BulkPlane::Relayed final : RelayOutput {
  Relayed(BulkPlane& of, const Channel& channel)
      : plane(of),
        id(channel.id),
        layout(channel.terms.layout),
        weight(channel.terms.weight),
        relay(*this, layout.symbol_bytes) {}

  void may_send(ConnectionId to) override {
    BulkConnection* connection = plane.find(to);
    if (connection == nullptr) return;
    connection->schedule().add(id, weight);
    plane.mark_dirty(*connection);
  }
  void send_need(ConnectionId to, std::uint8_t stream, const bulk::Need& need) override {
    if (stream == bulk::kLiveStream) plane.context_.counters.add(Counter::bulk_needs_out);
    send(to, [&](std::uint32_t number, bulk::BulkBytes& out) { bulk::write_need(out, {number, stream, need}); });
  }
  void send_grant(ConnectionId to, std::uint8_t stream, std::uint64_t symbols) override {
    send(to, [&](std::uint32_t number, bulk::BulkBytes& out) { bulk::write_grant(out, {number, stream, symbols}); });
  }
  void send_release(ConnectionId to, std::uint8_t stream) override {
    send(to, [&](std::uint32_t number, bulk::BulkBytes& out) { bulk::write_release(out, {number, stream}); });
  }
  void wake_at(Time when) override { plane.timers_.set_earlier(Timer::relays, when); }
  template <typename Write>
  void send(ConnectionId to, Write&& write) {
    BulkConnection* connection = plane.find(to);
    if (connection == nullptr) return;
    const std::optional<std::uint32_t> number = plane.number_for(*connection, *this);
    if (!number) return;
    bulk::BulkBytes frame;
    write(*number, frame);
    connection->send(frame);
    plane.control_bytes_ += frame.size();
    plane.mark_dirty(*connection);
  }

  BulkPlane& plane;
  BulkChannelId id;
  bulk::ContentLayout layout;
  std::uint32_t weight;
  ChannelRelay relay;
  // The tree, as of the latest plan.
  std::optional<std::string> parent;
  std::optional<std::string> backup;
  std::set<std::string, std::less<>> below;
  std::uint8_t generation = 0;
  bool is_plan_due = false;
  std::optional<TreePlan> plan;  // where it was made here, in that view
  ViewId planned_in;
  ChannelRelay::Tally counted;  // of what the relay has told
};

BulkPlane::BulkPlane(Context& context, Driver& driver, ConnectionBroker& broker, Layers layers)
    : context_(context),
      log_(context.log_sink, "bulk"),
      driver_(driver),
      broker_(broker),
      layers_(layers),
      hops_(context, driver, broker, layers.links, layers.overlay.streams(), [this](Time now) { look_for_hops(now); }),
      paths_(context, driver, layers.links, layers.overlay) {
  layers_.overlay.streams().handle(LinkFrame::bulk_plan, [this](Time now, LinkId, const Slice& content) {
    return plan_received(now, content.view());
  });
}

BulkPlane::~BulkPlane() = default;

BulkConnection* BulkPlane::find(ConnectionId connection) const {
  const auto found = connections_.find(connection);
  return found == connections_.end() ? nullptr : found->second.get();
}

BulkPlane::Relayed* BulkPlane::find(const BulkChannelId& id) const {
  const auto found = relayed_.find(id);
  return found == relayed_.end() ? nullptr : found->second.get();
}

// Connections.

bool BulkPlane::takes(Port port, std::uint8_t first_frame) const {
  const auto type = static_cast<BulkFrame>(first_frame);
  return port == Port::link ? type == BulkFrame::hello : port == Port::client && type == BulkFrame::attach;
}

BulkConnection& BulkPlane::add(Time now, ConnectionId connection, BulkConnection::Phase phase) {
  timers_.set_earlier(Timer::handshakes, now + kHandshakeTimeout);
  return *connections_.emplace(connection, std::make_unique<BulkConnection>(context_, driver_, connection, phase, now))
              .first->second;
}

void BulkPlane::take_over(Time now, ConnectionId id, Port, const Peer& peer, InputBuffer unread) {
  broker_.hand_to(id, Port::bulk);
  BulkConnection& connection = add(now, id, BulkConnection::Phase::greeting);
  connection.set_identity(peer.identity());
  connection.go_on_with(std::move(unread));
  process(now, connection);
}

void BulkPlane::handle_connected(Time, ConnectionId id, std::string_view) {
  BulkConnection* connection = find(id);
  if (connection == nullptr) return;
  connection->enter(BulkConnection::Phase::greeting);
  bulk::BulkBytes hello;
  bulk::write_hello(hello, hops_.hello_to(connection->daemon()));
  connection->send(hello);
  mark_dirty(*connection);
}

std::span<std::uint8_t> BulkPlane::read_space(ConnectionId id) { return connections_.at(id)->read_space(); }

void BulkPlane::handle_read(Time now, ConnectionId id, std::size_t bytes) {
  BulkConnection& connection = *connections_.at(id);
  connection.handle_read(now, bytes);
  process(now, connection);
}

void BulkPlane::process(Time now, BulkConnection& connection) {
  for (;;) {
    Result<std::optional<BulkConnection::Frame>> frame = connection.next_frame();
    if (!frame) return close(now, connection, frame.error());
    if (!frame->has_value()) return;
    const bool is_open = connection.phase() == BulkConnection::Phase::open;
    const std::optional<Error> error =
        is_open ? handle_frame(now, connection, **frame) : greet(now, connection, **frame);
    if (error) return close(now, connection, *error);
  }
}

void BulkPlane::handle_writable(Time, ConnectionId id) {
  BulkConnection* connection = find(id);
  if (connection == nullptr) return;
  connection->handle_writable();
  mark_dirty(*connection);
}

void BulkPlane::handle_closed(Time now, ConnectionId id, std::string_view why) {
  if (const BulkConnection* connection = find(id); connection != nullptr && connection->is_hop()) {
    log_.info("the hop to {} is gone: {}", connection->daemon(), why);
  }
  forget(now, id);
}

void BulkPlane::close(Time now, BulkConnection& connection, const Error& reason) {
  log_.info("a bulk connection {} is closed: {}", connection.is_hop() ? "to " + connection.daemon() : "of a client",
            reason.message());
  bulk::BulkBytes frame;
  bulk::write_close(frame, {static_cast<std::uint16_t>(reason.code), reason.text});
  connection.send(frame);
  connection.write();
  driver_.close(connection.id());
  forget(now, connection.id());
}

void BulkPlane::forget(Time now, ConnectionId id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const auto connection = std::move(found->second);
  connections_.erase(found);
  hops_.forget(id);
  if (connection->is_hop()) paths_.closed(connection->daemon(), id);
  if (const auto attachment = attachments_.find(connection->session());
      attachment != attachments_.end() && attachment->second == id) {
    attachments_.erase(attachment);
  }
  for (auto& [channel, relayed] : relayed_) {
    relayed->relay.remove(now, id);
    update_upstreams(now, *relayed);
  }
  timers_.set_earlier(Timer::hops, now + kHopRetry);
}

// The beginning of a connection.

std::optional<Error> BulkPlane::greet(Time now, BulkConnection& connection, const BulkConnection::Frame& frame) {
  switch (frame.type) {
    case BulkFrame::hello:
      return greet_daemon(now, connection, frame.body.view());
    case BulkFrame::attach:
      return greet_client(now, connection, frame.body.view());
    case BulkFrame::welcome: {
      const std::optional<std::uint16_t> version = bulk::read_welcome(frame.body.view());
      if (!connection.is_hop() || !version) return malformed("welcome");
      if (*version != bulk::kBulkVersion) return Error{Errc::version_mismatch, {}};
      enter_open(now, connection);
      for (auto& [id, relayed] : relayed_) update_upstreams(now, *relayed);
      return std::nullopt;
    }
    case BulkFrame::close:
      return told_reason(frame.body.view());
    default:
      // Who is dialled says hello as on a link before it knows what this is.
      if (connection.is_hop() && static_cast<LinkFrame>(frame.type) == LinkFrame::control) return std::nullopt;
      return Error{Errc::unexpected_frame,
                   fmt::format("a frame of type {} came before the handshake", static_cast<int>(frame.type))};
  }
}

std::optional<Error> BulkPlane::greet_daemon(Time now, BulkConnection& connection, ByteView body) {
  const std::optional<bulk::BulkHello> hello = bulk::read_hello(body);
  if (!hello || connection.is_hop()) return malformed("bulk_hello");
  const Result<std::optional<ConnectionId>> former = hops_.admit(connection.id(), connection.identity(), *hello);
  if (!former) return former.error();
  connection.set_daemon(hello->daemon);
  if (BulkConnection* old = *former ? find(**former) : nullptr) {
    close(now, *old, {Errc::duplicate_link, {}});
  }
  welcome(now, connection);
  for (auto& [id, relayed] : relayed_) update_upstreams(now, *relayed);
  return std::nullopt;
}

std::optional<Error> BulkPlane::greet_client(Time now, BulkConnection& connection, ByteView body) {
  const std::optional<bulk::BulkAttach> attach = bulk::read_attach(body);
  if (!attach || connection.is_hop()) return malformed("bulk_attach");
  if (attach->version_min > bulk::kBulkVersion || attach->version_max < bulk::kBulkVersion) {
    return Error{Errc::version_mismatch, {}};
  }
  const std::optional<SessionId> session = layers_.tokens.session_by_token(attach->session, attach->token);
  if (!session) return Error{Errc::access_denied, "the token is not that of a session"};
  connection.set_session(*session);
  const auto [attachment, is_new] = attachments_.try_emplace(*session, connection.id());
  if (!is_new) {  // it has lost the former one, though that is not known here yet
    BulkConnection* former = find(std::exchange(attachment->second, connection.id()));
    if (former != nullptr) close(now, *former, {Errc::duplicate_link, "another attachment of the session"});
  }
  welcome(now, connection);
  return std::nullopt;
}

void BulkPlane::enter_open(Time now, BulkConnection& connection) {
  connection.enter(BulkConnection::Phase::open);
  if (!connection.is_hop()) return;
  paths_.opened(now, connection.daemon(), connection.id());
  context_.counters.add(Counter::bulk_hops_opened);
  timers_.set_earlier(Timer::idle, now + kHopIdle);
}

void BulkPlane::welcome(Time now, BulkConnection& connection) {
  enter_open(now, connection);
  bulk::BulkBytes frame;
  bulk::write_welcome(frame, bulk::kBulkVersion);
  connection.send(frame);
  mark_dirty(connection);
}

// Frames.

template <typename Frame, typename Handle>
std::optional<Error> BulkPlane::with_channel(const BulkConnection& connection, const std::optional<Frame>& frame,
                                             Handle&& handle) {
  if (!frame) return malformed("of a channel");
  const BulkChannelId* id = connection.channel_of(frame->number);
  if (id == nullptr) return Error{Errc::unexpected_frame, "a channel was not opened under its number"};
  if (Relayed* relayed = find(*id)) handle(*relayed, *frame);
  return std::nullopt;
}

std::optional<Error> BulkPlane::handle_frame(Time now, BulkConnection& connection, const BulkConnection::Frame& frame) {
  const ByteView body = frame.body.view();
  const ConnectionId from = connection.id();
  switch (frame.type) {
    case BulkFrame::open:
      return handle_open(now, connection, body);
    case BulkFrame::shut: {
      const std::optional<std::uint32_t> number = bulk::read_shut(body);
      if (!number) return malformed("shut");
      if (const BulkChannelId* id = connection.channel_of(*number)) {
        // Another daemon may go on to send here: it is no child any more.
        if (Relayed* relayed = find(*id)) {
          connection.is_hop() ? relayed->relay.remove_child(now, from) : relayed->relay.remove(now, from);
        }
        connection.shut(*number);
      }
      return std::nullopt;
    }
    case BulkFrame::symbol:
      return with_channel(connection, bulk::read_symbol(body), [&](Relayed& relayed, const bulk::Symbol& symbol) {
        const std::size_t offset = body.size() - symbol.bytes.size();
        relayed.relay.symbol_received(
            now, from, symbol.stream,
            {symbol.generation, symbol.block, symbol.esi, symbol.crc, frame.body.part(offset)});
      });
    case BulkFrame::index:
      return with_channel(connection, bulk::read_index(body), [&](Relayed& relayed, const bulk::IndexPart& index) {
        relayed.relay.index_received(from, index.first, index.hashes);
      });
    case BulkFrame::need:
      return with_channel(connection, bulk::read_need(body), [&](Relayed& relayed, const bulk::NeedFrame& need) {
        if (!ensure_child(now, relayed, connection)) return;
        context_.counters.add(Counter::bulk_needs_in);
        relayed.relay.need_received(now, from, need.need);
        timers_.set_earlier(Timer::relays, relayed.relay.next_deadline());
      });
    case BulkFrame::grant:
      return with_channel(connection, bulk::read_grant(body), [&](Relayed& relayed, const bulk::Grant& grant) {
        if (ensure_child(now, relayed, connection)) relayed.relay.grant_received(from, grant.symbols);
      });
    case BulkFrame::release:
      return with_channel(connection, bulk::read_release(body), [&](Relayed& relayed, const bulk::Release& release) {
        relayed.relay.release_received(now, from, release.stream);
      });
    case BulkFrame::mark:
      return with_channel(connection, bulk::read_mark(body), [&](Relayed& relayed, const bulk::Mark& mark) {
        relayed.relay.mark_received(now, from, {mark.mark, mark.bound});
      });
    case BulkFrame::close:
      return told_reason(body);
    default:
      return Error{Errc::unexpected_frame,
                   fmt::format("there is no bulk frame of type {} behind the handshake", static_cast<int>(frame.type))};
  }
}

std::optional<Error> BulkPlane::handle_open(Time now, BulkConnection& connection, ByteView body) {
  const std::optional<bulk::Open> open = bulk::read_open(body);
  if (!open) return malformed("open");
  connection.opened(open->number, open->channel);
  Relayed* relayed = find(open->channel);
  const Channel* channel = layers_.channels.table().find(open->channel);
  if (relayed == nullptr || channel == nullptr || connection.is_hop()) return std::nullopt;
  if (layers_.channels.role_of(*channel, connection.session()) == ChannelRole::source) {
    relayed->relay.add_holder(connection.id(), true);
    relayed->relay.add_upstream(now, connection.id(), true);
    timers_.set_earlier(Timer::relays, relayed->relay.next_deadline());
  }
  return std::nullopt;
}

bool BulkPlane::ensure_child(Time now, Relayed& relayed, BulkConnection& connection) {
  if (!connection.is_hop()) {
    const Channel* channel = layers_.channels.table().find(relayed.id);
    // It may ask before it is known to all that it has accepted.
    const auto& requests = layers_.groups.requests();
    if (channel == nullptr || !requests.is_member(connection.session(), channel->group)) return false;
  }
  relayed.relay.add_child(now, connection.id(), connection.daemon());
  timers_.set_earlier(Timer::relays, relayed.relay.next_deadline());
  return true;
}

// Channels.

void BulkPlane::channel_offered(Time now, const Channel& channel) {
  auto& relayed = relayed_[channel.id];
  if (relayed) return;
  relayed = std::make_unique<Relayed>(*this, channel);
  receivers_changed(now, channel);
  if (const auto early = early_plans_.find(channel.id); early != early_plans_.end()) {
    if (early->second.view == layers_.groups.view().id) apply(now, *relayed, early->second.plan);
    early_plans_.erase(early);
  }
}

void BulkPlane::receivers_changed(Time now, const Channel& channel) {
  Relayed* relayed = find(channel.id);
  if (relayed == nullptr || !is_root(channel)) return;
  relayed->is_plan_due = true;
  timers_.set_earlier(Timer::plan, now + kPlanDelay);
}

void BulkPlane::channel_sealed(Time, const Channel& channel) {
  if (Relayed* relayed = find(channel.id)) relayed->layout = channel.terms.layout;
}

void BulkPlane::source_changed(Time now, const Channel& channel) { receivers_changed(now, channel); }

void BulkPlane::channel_ended(Time, const BulkChannelId& id) {
  const auto relayed = relayed_.find(id);
  if (relayed == relayed_.end()) return;
  for (auto& [connection_id, connection] : connections_) shut(*connection, id);
  count(*relayed->second);
  relayed_.erase(relayed);
  early_plans_.erase(id);
}

void BulkPlane::session_closed(Time now, SessionId session) {
  const auto attachment = attachments_.find(session);
  if (attachment == attachments_.end()) return;
  if (BulkConnection* connection = find(attachment->second)) {
    close(now, *connection, {Errc::closed_by_client, "the session is over"});
  }
}

bool BulkPlane::is_root(const Channel& channel) const {
  const MemberIndex self = layers_.groups.view().self;
  if (const std::optional<MemberIndex> source = layers_.channels.source_daemon(channel)) return *source == self;
  const MemberSet holding = channel.holding();
  if (!holding.empty()) return holding.front() == self;
  const MemberSet lacking = channel.lacking();
  return !lacking.empty() && lacking.front() == self;
}

void BulkPlane::plan_due(Time now) {
  for (auto& [id, relayed] : relayed_) {
    if (!std::exchange(relayed->is_plan_due, false)) continue;
    const Channel* channel = layers_.channels.table().find(id);
    if (channel != nullptr && is_root(*channel)) plan(now, *relayed, *channel);
  }
}

std::vector<std::uint64_t> BulkPlane::capacities() const {
  const View& view = layers_.groups.view();
  std::vector<std::uint64_t> capacities;
  capacities.reserve(view.edges.size());
  for (const Edge& edge : view.edges) {
    capacities.push_back(layers_.overlay.link_state().capacity(view.members[edge.a], view.members[edge.b]));
  }
  return capacities;
}

TreeInput BulkPlane::input_for(const Channel& channel, const std::vector<std::uint64_t>& capacities) const {
  const View& view = layers_.groups.view();
  return {view, view.self, channel.lacking() | channel.holding(), capacities};
}

void BulkPlane::plan(Time now, Relayed& relayed, const Channel& channel) {
  if (channel.lacking().empty()) return;
  const View& view = layers_.groups.view();
  const std::vector<std::uint64_t> known = capacities();
  TreePlan plan = plan_tree(input_for(channel, known));
  plan.generation = ++relayed.generation;
  context_.counters.add(Counter::bulk_plans_made);
  MemberSet others;
  for (const TreePlace& place : plan.places) others.insert(place.member);
  others.erase(view.self);
  if (!others.empty()) {
    layers_.overlay.streams().send(LinkFrame::bulk_plan, others, write_tree_plan(relayed.id, plan));
  }
  apply(now, relayed, plan);
  relayed.plan = std::move(plan);
  relayed.planned_in = view.id;
  timers_.set_earlier(Timer::replan, now + kReplan);
}

void BulkPlane::replan_due(Time now) {
  const std::vector<std::uint64_t> known = capacities();
  for (auto& [id, relayed] : relayed_) {
    const Channel* channel = layers_.channels.table().find(id);
    if (channel == nullptr || !relayed->plan || !is_root(*channel) || channel->lacking().empty()) continue;
    timers_.set_earlier(Timer::replan, now + kReplan);
    if (relayed->planned_in != layers_.groups.view().id) continue;
    const TreeInput input = input_for(*channel, known);
    if (largest_gain(*relayed->plan, plan_tree(input), input) < kReplanGain) continue;
    log_.info("another tree for channel {} would be faster", bulk::to_string(id));
    plan(now, *relayed, *channel);
  }
}

bool BulkPlane::plan_received(Time now, ByteView content) {
  std::optional<ToldTreePlan> told = read_tree_plan(content, layers_.groups.view().size());
  if (!told) return false;
  if (Relayed* relayed = find(told->channel)) {
    apply(now, *relayed, told->plan);
  } else if (early_plans_.size() < kEarlyPlansMax) {
    early_plans_.insert_or_assign(told->channel, EarlyPlan{layers_.groups.view().id, std::move(told->plan)});
  }
  return true;
}

void BulkPlane::apply(Time now, Relayed& relayed, const TreePlan& plan) {
  const View& view = layers_.groups.view();
  const auto name_of = [&](MemberIndex member) { return view.members[member].name; };
  context_.counters.add(Counter::bulk_plans_followed);
  relayed.generation = plan.generation;
  relayed.plan.reset();
  relayed.parent.reset();
  relayed.backup.reset();
  relayed.below.clear();
  const TreePlace* own = plan.find(view.self);
  if (own != nullptr && own->parent != own->member) relayed.parent = name_of(own->parent);
  if (own != nullptr && own->backup) relayed.backup = name_of(*own->backup);
  for (const TreePlace& place : plan.places) {
    if (place.member == view.self) continue;
    if (place.parent == view.self || place.backup == view.self) relayed.below.insert(name_of(place.member));
  }
  relayed.relay.set_plan(plan.generation, relayed.below);
  update_upstreams(now, relayed);
  look_for_hops(now);
}

void BulkPlane::update_upstreams(Time now, Relayed& relayed) {
  const auto open_hop = [&](const std::optional<std::string>& daemon) -> BulkConnection* {
    const std::optional<ConnectionId> id = daemon ? hops_.find(*daemon) : std::nullopt;
    BulkConnection* hop = id ? find(*id) : nullptr;
    return hop != nullptr && hop->phase() == BulkConnection::Phase::open ? hop : nullptr;
  };
  BulkConnection* parent = open_hop(relayed.parent);
  BulkConnection* backup = open_hop(relayed.backup);
  const std::optional<Time> silent = relayed.relay.silent_since();
  const bool needs_backup = parent == nullptr || (silent && now - *silent >= kSilence);
  const bool is_forgotten = silent && now - *silent >= kForgotten;
  for (auto& [id, connection] : connections_) {
    if (!connection->is_hop()) continue;
    const bool is_wanted = connection.get() == parent || (connection.get() == backup && needs_backup);
    const bool is_upstream = relayed.relay.is_upstream(id);
    if (is_upstream && (!is_wanted || is_forgotten)) {
      relayed.relay.remove_upstream(id);
      shut(*connection, relayed.id);
    }
    if (is_wanted && !relayed.relay.is_upstream(id)) {
      if (connection.get() == backup) context_.counters.add(Counter::bulk_backups_asked);
      relayed.relay.add_upstream(now, id, false);
      relayed.relay.set_round_trip(id, driver_.shortest_round_trip(id));
    }
  }
  timers_.set_earlier(Timer::relays, relayed.relay.next_deadline());
}

std::set<std::string, std::less<>> BulkPlane::wanted_hops() const {
  std::set<std::string, std::less<>> wanted;
  for (const auto& [id, relayed] : relayed_) {
    if (relayed->parent) wanted.insert(*relayed->parent);
    if (relayed->backup) wanted.insert(*relayed->backup);
    wanted.insert(relayed->below.begin(), relayed->below.end());
  }
  return wanted;
}

void BulkPlane::look_for_hops(Time now) {
  const auto wanted = wanted_hops();
  hops_.look_after(now, wanted, [&](ConnectionId id, const std::string& daemon) {
    add(now, id, BulkConnection::Phase::dialling).set_daemon(daemon);
  });
  if (!wanted.empty()) timers_.set_earlier(Timer::hops, now + kHopRetry);
}

void BulkPlane::close_idle_hops(Time now) {
  const auto wanted = wanted_hops();
  std::vector<BulkConnection*> idle;
  for (const auto& [id, connection] : connections_) {
    if (!connection->is_hop() || connection->phase() != BulkConnection::Phase::open) continue;
    const Time due = std::max(paths_.used_at(connection->daemon()), connection->heard_at()) + kHopIdle;
    timers_.set_earlier(Timer::idle, due > now ? due : now + kHopIdle);
    if (due <= now && !wanted.contains(connection->daemon())) idle.push_back(connection.get());
  }
  for (BulkConnection* connection : idle) {
    context_.counters.add(Counter::bulk_hops_idle);
    close(now, *connection, {Errc::timed_out, "no bulk channel needs the hop any more"});
  }
}

void BulkPlane::share_memory() {
  std::size_t index_bytes = 0;
  ring_bytes_ = 0;
  const std::size_t all = std::min(kRingsBytesMax, context_.memory.limit() / kRingsShare);
  const std::size_t each = all / std::max<std::size_t>(relayed_.size(), 1);
  const auto allowed = static_cast<std::size_t>(context_.memory.allowance() * static_cast<double>(each));
  for (auto& [id, relayed] : relayed_) {
    relayed->relay.set_ring_bytes_max(std::max(allowed, kRingBytesLeast));
    ring_bytes_ += relayed->relay.ring_bytes();
    index_bytes += relayed->relay.index_bytes();
  }
  context_.memory.set(MemoryBudget::Use::bulk, index_bytes);
}

void BulkPlane::count(Relayed& relayed) {
  const ChannelRelay::Tally& tally = relayed.relay.tally();
  context_.counters.add(Counter::bulk_symbols_overwritten, tally.overwritten - relayed.counted.overwritten);
  context_.counters.add(Counter::bulk_symbols_needless, tally.needless - relayed.counted.needless);
  relayed.counted = tally;
}

// Time, and output.

void BulkPlane::handle_time(Time now) {
  if (timers_.take_due(Timer::plan, now)) plan_due(now);
  if (timers_.take_due(Timer::hops, now)) look_for_hops(now);
  if (timers_.take_due(Timer::replan, now)) replan_due(now);
  if (timers_.take_due(Timer::idle, now)) close_idle_hops(now);
  paths_.handle_time(now);
  if (timers_.take_due(Timer::relays, now)) {
    share_memory();
    for (auto& [id, relayed] : relayed_) {
      relayed->relay.handle_time(now);
      count(*relayed);
      update_upstreams(now, *relayed);
    }
  }
  if (timers_.take_due(Timer::handshakes, now)) {
    std::vector<BulkConnection*> late;
    for (const auto& [id, connection] : connections_) {
      if (connection->phase() == BulkConnection::Phase::open) continue;
      timers_.set_earlier(Timer::handshakes, std::max(now, connection->since() + kHandshakeTimeout));
      if (now - connection->since() >= kHandshakeTimeout) late.push_back(connection.get());
    }
    for (BulkConnection* connection : late) close(now, *connection, {Errc::handshake_timeout, {}});
  }
}

void BulkPlane::mark_dirty(BulkConnection& connection) {
  if (!std::exchange(connection.is_dirty, true)) dirty_.push_back(connection.id());
}

std::optional<std::uint32_t> BulkPlane::number_for(BulkConnection& connection, const Relayed& relayed) {
  if (const std::optional<std::uint32_t> number = connection.number_of(relayed.id)) return number;
  const std::optional<std::uint32_t> number = connection.open(relayed.id);
  if (!number) return std::nullopt;
  bulk::BulkBytes frame;
  bulk::write_open(frame, {*number, relayed.id, relayed.layout});
  connection.send(frame);
  return number;
}

void BulkPlane::shut(BulkConnection& connection, const BulkChannelId& id) {
  const std::optional<std::uint32_t> number = connection.number_of(id);
  if (!number) return;
  bulk::BulkBytes frame;
  bulk::write_shut(frame, *number);
  connection.send(frame);
  connection.forget(id);
  mark_dirty(connection);
}

void BulkPlane::flush(Time now) {
  written_ = 0;
  flush_at_ = kNever;
  paths_.end_turn(now);
  if (control_bytes_ != 0) control_out_.add(now.time_since_epoch(), std::exchange(control_bytes_, 0));
  for (const ConnectionId id : std::exchange(dirty_, {})) {
    BulkConnection* connection = find(id);
    if (connection == nullptr) continue;
    connection->is_dirty = false;
    if (connection->is_overflowing()) {
      close(now, *connection, {Errc::slow_receiver, "it does not read what it is told"});
      continue;
    }
    fill(now, *connection);
    if (!connection->schedule().empty() && connection->has_room()) {  // the rest in the next turn, or by its rate
      mark_dirty(*connection);
      const bool may_go_on = may_send(now, *connection);
      flush_at_ = std::min(flush_at_, may_go_on ? now : paths_.rate(connection->daemon()).next_at());
    }
  }
}

bool BulkPlane::may_send(Time now, const BulkConnection& connection) {
  return !connection.is_hop() || paths_.rate(connection.daemon()).may_send(now);
}

void BulkPlane::fill(Time now, BulkConnection& connection) {
  std::size_t taken = connection.write();
  while (connection.has_room() && !connection.schedule().empty() && written_ < kTurnBytes &&
         may_send(now, connection)) {
    const BulkChannelId id = connection.schedule().front();
    Relayed* relayed = find(id);
    const std::optional<std::uint32_t> number = relayed == nullptr ? std::nullopt : number_for(connection, *relayed);
    if (!number) {
      connection.schedule().drop_front();
      continue;
    }
    bulk::BulkBytes frame;
    std::size_t bytes = 0;
    if (const ChannelRelay::IndexPart part = relayed->relay.next_index(connection.id()); !part.hashes.empty()) {
      bulk::write_index(frame, {*number, part.first, part.hashes});
    } else if (const std::optional<ChannelRelay::Item> item = relayed->relay.next(now, connection.id())) {
      if (const auto* mark = std::get_if<RelayedMark>(&*item)) {
        bulk::write_mark(frame, {*number, mark->mark, mark->bound});
      } else {
        const RelayedSymbol& symbol = std::get<RelayedSymbol>(*item);
        connection.send(*number, symbol);
        bytes = symbol.bytes.size();
        context_.counters.add(Counter::bulk_symbols_relayed);
        context_.counters.add(Counter::bulk_bytes_relayed, bytes);
      }
    } else {
      connection.schedule().drop_front();
      continue;
    }
    connection.send(frame);
    control_bytes_ += frame.size();
    bytes += frame.size();
    written_ += bytes;
    connection.schedule().charge(bytes);
    if (connection.is_hop()) paths_.rate(connection.daemon()).sent(bytes);
    if (!connection.has_room()) taken += connection.write();
  }
  taken += connection.write();
  if (connection.is_hop()) paths_.wrote(now, connection.daemon(), taken, connection.is_blocked());
}

void BulkPlane::stop() {
  for (const auto& [id, connection] : connections_) {
    bulk::BulkBytes frame;
    bulk::write_close(frame, {static_cast<std::uint16_t>(Errc::daemon_stopping), {}});
    connection->send(frame);
    connection->write();
    driver_.close(id);
  }
  connections_.clear();
  relayed_.clear();
}

std::string BulkPlane::limit_of(Time now, const Relayed& relayed, const ChannelRelay::ChildInfo& child) const {
  const BulkConnection* connection = find(child.connection);
  const Channel* channel = layers_.channels.table().find(relayed.id);
  if (connection == nullptr || channel == nullptr) return {};
  if (relayed.layout.has_size() && child.need.complete.first_missing() >= relayed.layout.blocks()) return {};
  const bool is_client = !connection->is_hop();
  if (!child.has_credit) return is_client ? "its client takes no more" : "those behind it take no more";
  if (child.is_waiting && !is_client && paths_.info(now, child.daemon).is_held_back) return "ordered messages go first";
  if (child.is_waiting) return is_client ? "its client does not read" : fmt::format("the hop to {}", child.daemon);
  // It has had all that there is here.
  if (relayed.relay.upstreams() == 0 && !relayed.relay.has_holder()) {
    return relayed.parent ? fmt::format("no hop to {}", *relayed.parent) : "nobody has what it lacks";
  }
  if (relayed.parent) return fmt::format("what comes from {}", *relayed.parent);
  if (channel->source_is_gone || !layers_.channels.source_daemon(*channel)) return "nobody has what it lacks";
  if (const std::uint64_t cap = channel->terms.bytes_per_second; cap != 0 && child.bytes_per_s >= cap / 10 * 8) {
    return "the rate cap";
  }
  return "the source";
}

BulkPlane::RelayInfo BulkPlane::relay(Time now, const Channel& channel) const {
  RelayInfo info;
  info.id = channel.id;
  const Relayed* relayed = find(channel.id);
  if (relayed == nullptr) return info;
  info.parent = relayed->parent;
  info.backup = relayed->backup;
  info.generation = relayed->generation;
  info.ring_bytes = relayed->relay.ring_bytes();
  info.index_bytes = relayed->relay.index_bytes();
  info.tally = relayed->relay.tally();
  for (ChannelRelay::ChildInfo& child : relayed->relay.children(now)) {
    const BulkConnection* connection = find(child.connection);
    std::string limit = limit_of(now, *relayed, child);
    info.children.push_back({std::move(child), connection == nullptr ? 0 : connection->session(), std::move(limit)});
  }
  return info;
}

std::vector<BulkPlane::RelayInfo> BulkPlane::relays(Time now) const {
  std::vector<RelayInfo> infos;
  for (const auto& [id, relayed] : relayed_) {
    if (const Channel* channel = layers_.channels.table().find(id)) infos.push_back(relay(now, *channel));
  }
  return infos;
}

std::vector<BulkPlane::HopInfo> BulkPlane::hops(Time now) const {
  std::vector<HopInfo> infos;
  for (const auto& [id, connection] : connections_) {
    if (!connection->is_hop()) continue;
    const bool is_open = connection->phase() == BulkConnection::Phase::open;
    infos.push_back({connection->daemon(), is_open, paths_.info(now, connection->daemon())});
  }
  std::sort(infos.begin(), infos.end(), [](const HopInfo& a, const HopInfo& b) { return a.daemon < b.daemon; });
  return infos;
}

std::uint64_t BulkPlane::control_bytes_per_s(Time now) const { return control_out_.rate(now.time_since_epoch()); }

}  // namespace spindled
