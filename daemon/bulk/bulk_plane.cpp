#include "daemon/bulk/bulk_plane.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/bulk/channel_mesh.h"
#include "daemon/bulk/mesh/mesh_codec.h"
#include "daemon/wire/frame_traits.h"

namespace spindled {

namespace bulk = spindle::bulk;

namespace {

/// How often hops that are missing are looked for.
constexpr Duration kHopRetry = 500ms;
constexpr Duration kHandshakeTimeout = 5s;
/// A parent that is silent (ChannelRelay::kSilence) has a backup beside it. One that has sent nothing for this long may
/// not know what it was asked for: it is asked anew, over another hop where the link has been lost meanwhile, and
/// nothing has come on the hop since. One that has not given the index for as long has the backup beside it, too.
constexpr Duration kForgotten = 3s;
/// Who is asked anew begins with what its ring has, though that was given before. So it is waited for twice as long
/// each time, as the turn of a channel may come later than that, or the source may have nothing; but so many times at
/// most.
constexpr int kForgottenDoublings = 7;
/// So long it takes at most, as a rule, until both ends of a hop have followed a plan, and have opened it: an
/// invitation, the connection, and the greeting.
constexpr Duration kOpening = 50ms;
constexpr int kOpeningRoundTrips = 4;
/// Longest content of the first frame of a connection, which is small: names of 255 bytes at most, and numbers.
constexpr std::size_t kFirstFrameBytesMax = 1024;
/// A hop that no channel needs is closed when nothing has gone over it for this long.
constexpr Duration kHopIdle = 30s;
/// Who is awaited at a channel is looked up no more often: where many come it is all of them each time.
constexpr Duration kAwaitedInterval = 5ms;

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

BulkPlane::BulkPlane(Context& context, Driver& driver, ConnectionBroker& broker, Layers layers)
    : context_(context),
      log_(context.log_sink, "bulk"),
      driver_(driver),
      broker_(broker),
      layers_(layers),
      hops_(context, driver, broker, layers.links, layers.overlay,
            [this]() -> const View& { return layers_.groups.view(); },
            {[this](Time now) { look_for_hops(now); },
             [this](Time now, ConnectionId id) {
               close(now, connections_.at(id), {Errc::connection_lost, "the other side has lost it"});
             }}),
      paths_(context, driver, layers.links, layers.overlay),
      connections_(context, driver),
      hasher_(driver),
      relayed_(context, hasher_),
      output_(context, connections_, paths_,
              [this](Time now, BulkConnection& connection) {
                close(now, connection, {Errc::slow_receiver, "it does not read what it is told"});
              }),
      trees_(context, layers.overlay, layers.groups, layers.channels, relayed_,
             [this](Time now, RelayedChannel& relayed) {
               update_mesh(now, relayed);
               update_awaited(now, relayed);
               update_upstreams(now, relayed);
               timers_.set_earlier(Timer::hops, now);  // of all that are followed in this turn
             }),
      status_({layers.channels, relayed_, connections_, paths_, output_}) {}

BulkPlane::~BulkPlane() = default;

// Connections.

bool BulkPlane::takes(Port port, const spindle::FrameHead& first_frame) const {
  if (first_frame.length > kFirstFrameBytesMax) return false;
  const auto type = static_cast<BulkFrame>(first_frame.type);
  return port == Port::link ? type == BulkFrame::hello : port == Port::client && type == BulkFrame::attach;
}

BulkConnection& BulkPlane::add(Time now, ConnectionId connection, BulkConnection::Phase phase) {
  timers_.set_earlier(Timer::handshakes, now + kHandshakeTimeout);
  return connections_.add(now, connection, phase);
}

void BulkPlane::take_over(Time now, ConnectionId id, Port, const Peer& peer, InputBuffer unread) {
  broker_.hand_to(id, Port::bulk);
  BulkConnection& connection = add(now, id, BulkConnection::Phase::greeting);
  connection.set_identity(peer.identity());
  connection.go_on_with(std::move(unread));
  process(now, connection);
}

void BulkPlane::handle_connected(Time now, ConnectionId id, std::string_view identity) {
  BulkConnection* connection = connections_.find(id);
  if (connection == nullptr) return;
  const Result<void> genuine = hops_.check_dialled(connection->daemon(), identity);
  if (!genuine) return close(now, *connection, genuine.error());
  connection->enter(BulkConnection::Phase::greeting);
  bulk::BulkBytes hello;
  bulk::write_hello(hello, hops_.hello_to(connection->daemon()));
  connection->send(hello);
  output_.mark_dirty(*connection);
}

std::span<std::uint8_t> BulkPlane::read_space(ConnectionId id) { return connections_.at(id).read_space(); }

void BulkPlane::handle_read(Time now, ConnectionId id, std::size_t bytes) {
  BulkConnection& connection = connections_.at(id);
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
  BulkConnection* connection = connections_.find(id);
  if (connection == nullptr) return;
  connection->handle_writable();
  output_.mark_dirty(*connection);
}

void BulkPlane::handle_closed(Time now, ConnectionId id, std::string_view why) {
  if (const BulkConnection* connection = connections_.find(id); connection != nullptr && connection->is_hop()) {
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
  const std::unique_ptr<BulkConnection> connection = connections_.take(id);
  if (connection == nullptr) return;
  hops_.forget(id);
  if (connection->is_hop()) paths_.closed(connection->daemon(), id);
  if (const auto attachment = attachments_.find(connection->session());
      attachment != attachments_.end() && attachment->second == id) {
    attachments_.erase(attachment);
    attachment_changed(now, connection->session());
  }
  for (auto& [channel, relayed] : relayed_) relayed->relay.remove(now, id);
  if (connection->is_hop()) hop_lost(now, connection->daemon());
}

void BulkPlane::hop_lost(Time now, const std::string& daemon) {
  for (auto& [channel, relayed] : relayed_) {
    if (relayed->mesh) relayed->mesh->hop_lost(now, daemon);
    TreePosition& position = relayed->position;
    if (position.parent == daemon) {
      position.is_parent_lost = true;
      position.asked_anew = 0;
    }
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
  if (BulkConnection* old = *former ? connections_.find(**former) : nullptr) {
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
    BulkConnection* former = connections_.find(std::exchange(attachment->second, connection.id()));
    if (former != nullptr) close(now, *former, {Errc::duplicate_link, "another attachment of the session"});
  }
  attachment_changed(now, *session);
  welcome(now, connection);
  return std::nullopt;
}

void BulkPlane::enter_open(Time now, BulkConnection& connection) {
  connection.enter(BulkConnection::Phase::open);
  if (!connection.is_hop()) return;
  hops_.opened(now, connection.daemon());
  paths_.opened(now, connection.daemon(), connection.id());
  context_.counters.add(Counter::bulk_hops_opened);
  for (auto& [id, relayed] : relayed_) {
    if (relayed->mesh) relayed->mesh->hop_opened(now, connection.daemon());
  }
  timers_.set_earlier(Timer::idle, now + kHopIdle);
}

void BulkPlane::welcome(Time now, BulkConnection& connection) {
  bulk::BulkBytes frame;
  bulk::write_welcome(frame, bulk::kBulkVersion);
  connection.send(frame);
  enter_open(now, connection);  // a peer may be asked at once
  output_.mark_dirty(connection);
}

// Frames.

template <typename Frame, typename Handle>
std::optional<Error> BulkPlane::with_channel(const BulkConnection& connection, const std::optional<Frame>& frame,
                                             Handle&& handle) {
  if (!frame) return malformed("of a channel");
  const BulkChannelId* id = connection.channel_of(frame->number);
  if (id == nullptr) return Error{Errc::unexpected_frame, "a channel was not opened under its number"};
  if (RelayedChannel* relayed = relayed_.find(*id)) handle(*relayed, *frame);
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
        if (RelayedChannel* relayed = relayed_.find(*id)) {
          connection.is_hop() ? relayed->relay.remove_child(now, from) : relayed->relay.remove(now, from);
        }
        connection.shut(*number);
      }
      return std::nullopt;
    }
    case BulkFrame::symbol:
      return with_channel(
          connection, bulk::read_symbol(body), [&](RelayedChannel& relayed, const bulk::Symbol& symbol) {
            const std::size_t offset = body.size() - symbol.bytes.size();
            const std::optional<bool> is_useful = relayed.relay.symbol_received(
                now, from, symbol.stream,
                {symbol.generation, symbol.block, symbol.esi, symbol.crc, frame.body.part(offset)});
            if (!is_useful || !relayed.mesh) return;
            relayed.mesh->symbol_received(now, connection.daemon(), {symbol.block, symbol.esi}, *is_useful);
          });
    case BulkFrame::index:
      return with_channel(connection, bulk::read_index(body),
                          [&](RelayedChannel& relayed, const bulk::IndexPart& index) {
                            relayed.relay.index().received(now, from, index.first, index.hashes);
                          });
    case BulkFrame::need:
      return with_channel(connection, bulk::read_need(body), [&](RelayedChannel& relayed, const bulk::NeedFrame& need) {
        if (!ensure_child(now, relayed, connection)) return;
        context_.counters.add(Counter::bulk_needs_in);
        relayed.relay.need_received(now, from, need.need);
      });
    case BulkFrame::grant:
      return with_channel(connection, bulk::read_grant(body), [&](RelayedChannel& relayed, const bulk::Grant& grant) {
        if (ensure_child(now, relayed, connection)) relayed.relay.grant_received(from, grant.symbols);
      });
    case BulkFrame::release:
      return with_channel(connection, bulk::read_release(body),
                          [&](RelayedChannel& relayed, const bulk::Release& release) {
                            relayed.relay.release_received(now, from, release.stream);
                          });
    case BulkFrame::mark:
      // Whoever has one is to answer at once: that is for relays to ask.
      if (!connection.is_hop()) return Error{Errc::unexpected_frame, "clients send no marks"};
      return with_channel(connection, bulk::read_mark(body), [&](RelayedChannel& relayed, const bulk::Mark& mark) {
        relayed.relay.mark_received(now, from, {mark.mark, mark.bound});
      });
    case BulkFrame::ask_index:
      return with_channel(connection, bulk::read_ask_index(body), [&](RelayedChannel& relayed, const bulk::AskIndex&) {
        relayed.relay.index().asked_for(from);
      });
    case BulkFrame::close:
      return told_reason(body);
    default:
      if (connection.is_hop() && mesh::is_type(static_cast<std::uint8_t>(frame.type))) {
        return handle_mesh_frame(now, connection, frame);
      }
      return Error{Errc::unexpected_frame,
                   fmt::format("there is no bulk frame of type {} behind the handshake", static_cast<int>(frame.type))};
  }
}

std::optional<Error> BulkPlane::handle_mesh_frame(Time now, const BulkConnection& connection,
                                                  const BulkConnection::Frame& frame) {
  std::optional<mesh::ChannelFrame> read =
      mesh::read_frame(static_cast<mesh::FrameType>(frame.type), frame.body.view());
  if (!read) return malformed("of a mesh");
  const BulkChannelId* id = connection.channel_of(read->scope.channel);
  if (id == nullptr) return Error{Errc::unexpected_frame, "a channel was not opened under its number"};
  RelayedChannel* relayed = relayed_.find(*id);
  if (relayed != nullptr && relayed->mesh) {
    relayed->mesh->frame_received(now, connection.daemon(), read->scope.generation, std::move(read->frame));
  }
  return std::nullopt;
}

std::optional<Error> BulkPlane::handle_open(Time now, BulkConnection& connection, ByteView body) {
  const std::optional<bulk::Open> open = bulk::read_open(body);
  if (!open) return malformed("open");
  connection.opened(open->number, open->channel);
  RelayedChannel* relayed = relayed_.find(open->channel);
  const Channel* channel = layers_.channels.table().find(open->channel);
  if (relayed == nullptr || channel == nullptr || connection.is_hop()) return std::nullopt;
  if (layers_.channels.role_of(*channel, connection.session()) == ChannelRole::source) {
    relayed->relay.add_holder(connection.id(), true);
    relayed->relay.add_upstream(now, connection.id(), true);
  }
  return std::nullopt;
}

bool BulkPlane::ensure_child(Time now, RelayedChannel& relayed, BulkConnection& connection) {
  if (!connection.is_hop()) {
    const Channel* channel = layers_.channels.table().find(relayed.id);
    // It may ask before it is known to all that it has accepted.
    const auto& requests = layers_.groups.requests();
    if (channel == nullptr || !requests.is_member(connection.session(), channel->group)) return false;
  }
  relayed.relay.add_child(now, connection.id(), connection.daemon());
  return true;
}

// Channels.

void BulkPlane::channel_offered(Time now, const Channel& channel) {
  if (relayed_.add(output_, channel) == nullptr) return;
  channel_sealed(now, channel);
  trees_.changed(now, channel);
}

void BulkPlane::receivers_changed(Time now, const Channel& channel) {
  trees_.changed(now, channel);
  if (RelayedChannel* relayed = relayed_.find(channel.id)) update_awaited_soon(now, *relayed);
}

void BulkPlane::client_left(Time now, const Channel& channel, SessionId session) {
  RelayedChannel* relayed = relayed_.find(channel.id);
  const auto attachment = attachments_.find(session);
  if (relayed == nullptr || attachment == attachments_.end()) return;
  // What it says of the content is not heard any more: it is given nothing, and counted on by nobody.
  relayed->relay.remove(now, attachment->second);
  output_.shut(connections_.at(attachment->second), *relayed);
}

void BulkPlane::channel_sealed(Time now, const Channel& channel) {
  RelayedChannel* relayed = relayed_.find(channel.id);
  if (relayed == nullptr) return;
  relayed->set_layout(channel.terms.layout);
  if (channel.root) relayed->relay.index().seal(now, relayed->layout.blocks(), *channel.root);
}

void BulkPlane::source_changed(Time now, const Channel& channel) { trees_.changed(now, channel); }

void BulkPlane::channel_ended(Time, const BulkChannelId& id) {
  trees_.ended(id);
  const RelayedChannel* relayed = relayed_.find(id);
  if (relayed == nullptr) return;
  for (const auto& [connection_id, connection] : connections_) output_.shut(*connection, *relayed);
  relayed_.remove(id);
}

void BulkPlane::session_closed(Time now, SessionId session) {
  const auto attachment = attachments_.find(session);
  if (attachment == attachments_.end()) return;
  if (BulkConnection* connection = connections_.find(attachment->second)) {
    close(now, *connection, {Errc::closed_by_client, "the session is over"});
  }
}

void BulkPlane::close_outlived_hops(Time now, const RelayedChannel& relayed) {
  for (const ConnectionId id : relayed.relay.parents()) {
    BulkConnection& hop = connections_.at(id);
    const std::optional<Time> since = relayed.relay.silent_since(id);
    if (!since || now - *since < kForgotten || !hops_.is_outlived(hop.daemon(), hop.heard_at())) continue;
    return close(now, hop, {Errc::silent_peer, "nothing has come on it since there is another link"});
  }
}

void BulkPlane::update_upstreams(Time now, RelayedChannel& relayed) {
  const auto hop_to = [&](const std::optional<std::string>& daemon) -> BulkConnection* {
    const std::optional<ConnectionId> id = daemon ? open_hop(*daemon) : std::nullopt;
    return id ? connections_.find(*id) : nullptr;
  };
  BulkConnection* parent = hop_to(relayed.position.parent);
  BulkConnection* backup = hop_to(relayed.position.backup);
  const auto is_silent = [&](ConnectionId id, Duration time) {
    const std::optional<Time> since = relayed.relay.silent_since(id);
    return since && now - *since >= time;
  };
  const std::optional<Time> lacks_index = relayed.relay.index().lacking_since();
  // A parent that is asked anew is heard before the backup goes.
  const bool is_backup_asked = backup != nullptr && relayed.relay.is_upstream(backup->id());
  const bool stands_in = parent != nullptr && is_backup_asked && !relayed.relay.has_sent(parent->id());
  const bool needs_backup = parent == nullptr
                                ? is_backup_asked || (backup != nullptr && !is_parent_awaited(now, relayed))
                                : stands_in || is_silent(parent->id(), ChannelRelay::kSilence) ||
                                      (lacks_index && now - *lacks_index >= kForgotten);
  const Duration patience = kForgotten * (1 << std::min(relayed.position.asked_anew, kForgottenDoublings));
  const auto is_wanted = [&](const BulkConnection* hop) { return hop == parent || (hop == backup && needs_backup); };
  bool is_asked_anew = false;
  for (const ConnectionId id : relayed.relay.parents()) {
    BulkConnection& hop = connections_.at(id);
    const bool is_forgotten = is_silent(id, patience);
    if (is_wanted(&hop) && !is_forgotten) continue;
    relayed.relay.remove_upstream(id);
    output_.shut(hop, relayed);
    is_asked_anew = is_asked_anew || is_wanted(&hop);
  }
  for (BulkConnection* hop : {parent, backup}) {
    if (hop == nullptr || !is_wanted(hop) || relayed.relay.is_upstream(hop->id())) continue;
    if (relayed.mesh) relayed.mesh->leave_sender(now, hop->daemon());
    if (hop == backup) context_.counters.add(Counter::bulk_backups_asked);
    relayed.relay.add_upstream(now, hop->id(), false);
    relayed.relay.set_round_trip(hop->id(), driver_.shortest_round_trip(hop->id()));
  }
  if (is_asked_anew) ++relayed.position.asked_anew;
  if (relayed.mesh) relayed.wake_at(relayed.mesh->next_deadline());
}

bool BulkPlane::is_parent_awaited(Time now, RelayedChannel& relayed) {
  const TreePosition& position = relayed.position;
  if (!position.parent || position.is_parent_lost) return false;
  if (relayed.relay.tally().received != 0) return false;  // what has begun is not to stand still
  const std::optional<LinkId> link = layers_.links.established_with(*position.parent);
  if (!link) return false;
  const Duration opening = kOpening + kOpeningRoundTrips * layers_.links.round_trip(*link);
  const Time until = position.since + std::min(opening, ChannelRelay::kSilence);
  if (now >= until) return false;
  relayed.wake_at(until);
  return true;
}

void BulkPlane::update_mesh(Time now, RelayedChannel& relayed) {
  if (relayed.mesh) relayed.mesh->stop();
  relayed.mesh.reset();
  const TreePosition& position = relayed.position;
  if (!context_.config.bulk.mesh || !position.own_place || position.places.size() < ChannelMesh::kDaemonsMin) return;
  ChannelMesh::Hops hops;
  hops.open = [this](std::string_view daemon) { return open_hop(daemon); };
  hops.is_neighbour = [this](std::string_view daemon) { return layers_.links.established_with(daemon).has_value(); };
  hops.can_reach = [this](std::string_view daemon) { return hops_.can_reach(daemon); };
  hops.look = [this](Time when) { timers_.set_earlier(Timer::hops, when); };
  hops.send = [this, &relayed](ConnectionId to, std::uint8_t generation, const mesh::Frame& frame) {
    output_.send_mesh(to, relayed, generation, frame);
  };
  hops.shut = [this, &relayed](ConnectionId to) {
    if (BulkConnection* connection = connections_.find(to)) output_.shut(*connection, relayed);
  };
  hops.round_trip = [this](ConnectionId hop) { return driver_.shortest_round_trip(hop); };
  relayed.mesh = std::make_unique<ChannelMesh>(now, relayed, std::move(hops), context_.random.split());
}

std::optional<ConnectionId> BulkPlane::open_hop(std::string_view daemon) const {
  const std::optional<ConnectionId> id = hops_.find(daemon);
  const BulkConnection* hop = id ? connections_.find(*id) : nullptr;
  return hop != nullptr && hop->phase() == BulkConnection::Phase::open ? id : std::nullopt;
}

void BulkPlane::attachment_changed(Time now, SessionId session) {
  for (auto& [id, relayed] : relayed_) {
    const Channel* channel = layers_.channels.table().find(id);
    if (channel == nullptr || layers_.channels.role_of(*channel, session) != ChannelRole::receiver) continue;
    update_awaited_soon(now, *relayed);
  }
}

void BulkPlane::update_awaited_soon(Time now, RelayedChannel& relayed) {
  relayed.awaited_due = std::max(now, relayed.awaited_at + kAwaitedInterval);
  relayed.wake_at(relayed.awaited_due);
}

void BulkPlane::update_awaited(Time now, RelayedChannel& relayed) {
  relayed.awaited_due = kNever;
  relayed.awaited_at = now;
  const Channel* channel = layers_.channels.table().find(relayed.id);
  if (channel == nullptr) return;
  ChannelRelay::Awaited awaited{relayed.position.children, {}, trees_.may_grow(*channel, relayed)};
  for (const LocalChannelClient& client : layers_.channels.local_clients(*channel)) {
    if (client.role != ChannelRole::receiver) continue;
    const auto attachment = attachments_.find(client.session);
    if (attachment == attachments_.end()) {
      awaited.others = true;
    } else {
      awaited.clients.insert(attachment->second);
    }
  }
  context_.turn.count_step(awaited.clients.size());
  relayed.relay.set_awaited(now, std::move(awaited));
}

std::set<std::string, std::less<>> BulkPlane::wanted_hops(Time now) const {
  std::set<std::string, std::less<>> wanted;
  for (std::string& daemon : hops_.inviting(now)) wanted.insert(std::move(daemon));
  for (const auto& [id, relayed] : relayed_) {
    const TreePosition& position = relayed->position;
    if (position.parent) wanted.insert(*position.parent);
    if (position.backup) wanted.insert(*position.backup);
    wanted.insert(position.below.begin(), position.below.end());
    if (relayed->mesh) wanted.merge(relayed->mesh->wanted());
  }
  return wanted;
}

void BulkPlane::look_for_hops(Time now) {
  const auto wanted = wanted_hops(now);
  for (const std::string& daemon : wanted) paths_.expect(now, daemon);
  hops_.look_after(
      now, wanted,
      [&](ConnectionId id, const std::string& daemon) {
        add(now, id, BulkConnection::Phase::dialling).set_daemon(daemon);
      },
      [&](ConnectionId id) {
        close(now, connections_.at(id), {Errc::connection_lost, "the daemon has started anew"});
      });
  if (!wanted.empty()) timers_.set_earlier(Timer::hops, now + kHopRetry);
}

void BulkPlane::close_idle_hops(Time now) {
  const auto wanted = wanted_hops(now);
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

// Time.

void BulkPlane::handle_time(Time now) {
  trees_.handle_time(now);
  if (timers_.take_due(Timer::hops, now)) look_for_hops(now);
  if (timers_.take_due(Timer::idle, now)) close_idle_hops(now);
  paths_.handle_time(now);
  relayed_.handle_time(now, [&](RelayedChannel& relayed) {
    if (now >= relayed.awaited_due) update_awaited(now, relayed);
    relayed.wake_at(relayed.awaited_due);
    close_outlived_hops(now, relayed);
    if (relayed.mesh && now >= relayed.mesh->next_deadline()) relayed.mesh->tick(now);
    update_upstreams(now, relayed);
    const std::uint64_t news = relayed.relay.tally().news;
    if (std::exchange(relayed.news, news) != news) layers_.channels.note_coming(now, relayed.id);
  });
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

}  // namespace spindled
