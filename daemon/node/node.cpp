#include "daemon/node/node.h"

#include <algorithm>

#include "daemon/admin/admin.h"
#include "daemon/admission/admission.h"
#include "daemon/bulk/bulk_plane.h"
#include "daemon/channel/channels.h"
#include "daemon/feed/feeds.h"
#include "daemon/group/groups.h"
#include "daemon/link/links.h"
#include "daemon/node/connection_table.h"
#include "daemon/order/observed_streams.h"
#include "daemon/order/order.h"
#include "daemon/overlay/overlay.h"
#include "daemon/overlay/shortest_paths.h"
#include "daemon/session/sessions.h"
#include "daemon/view/view_agreement.h"

namespace spindled {

namespace {
/// What std::min says of a list, which it would go through in memory, at the end of every turn.
template <typename... Times>
Time earliest(Time first, Times... others) {
  ((first = std::min(first, others)), ...);
  return first;
}
}  // namespace

/// From the ground up; each layer refers to those before it. What a lower layer hands up goes through the narrow
/// interface that it defines, attached below.
struct Node::Layers {
  Layers(NodeConfig config, Driver& node_driver, LogSink& sink, std::uint64_t seed, OrderObserver* observer)
      : context(std::move(config), sink, seed),
        connections(node_driver),
        links(context, connections),
        overlay(context, links),
        groups(context),
        channels(context, groups),
        observed(observer == nullptr ? nullptr : std::make_unique<ObservedStreams>(*observer, overlay.streams())),
        order(context, observed ? static_cast<StreamTransport&>(*observed) : overlay.streams(), groups, observer),
        view(context, overlay, order, {context.config.name, context.config.incarnation}, choose_sequencer),
        admission(context, links, overlay, order, groups),
        feeds(context, links, groups, admission.own()),
        sessions(context, connections, groups, channels, feeds, admission),
        bulk(context, connections, connections, {links, overlay, groups, channels, sessions}),
        admin(context, connections, {links, overlay, view, order, groups, sessions, admission, channels, bulk, feeds}) {
    connections.attach(Port::link, links);
    connections.attach(Port::client, sessions);
    connections.attach(Port::admin, admin);
    connections.attach(Port::bulk, bulk);
    links.attach(overlay);
    links.attach(bulk);
    overlay.attach(view, admission);
    groups.attach(order, sessions.clients());
    channels.attach(sessions.channel_clients());
    channels.attach(bulk);
    feeds.attach(sessions.feed_clients());
    sessions.attach(bulk);
  }

  Context context;
  ConnectionTable connections;
  Links links;
  Overlay overlay;
  Groups groups;
  Channels channels;
  std::unique_ptr<ObservedStreams> observed;  // below `order`, where somebody watches it
  Order order;
  ViewAgreement view;
  Admission admission;
  Feeds feeds;
  Sessions sessions;
  BulkPlane bulk;
  Admin admin;
  Time wake_at = kNever;

  // The daemon stops. It waits for clients to go and for others to have what those have sent, and then ends its
  // connections.
  void end(Time now);
  /// The end of a turn: whether there is nothing to wait for any more.
  bool has_waited() const { return !sessions.has_movers() && order.unstable_bytes() == 0; }
  Time ends_at = kNever;  // where it waits
  bool is_ending = false;
};

void Node::Layers::end(Time now) {
  is_ending = true;
  ends_at = kNever;
  sessions.close_all(now);
  bulk.stop();
  links.stop(now);
  admin.stop();
}

Node::Node(NodeConfig config, Driver& driver, LogSink& sink, std::uint64_t seed, OrderObserver* observer)
    : layers_(std::make_unique<Layers>(std::move(config), driver, sink, seed, observer)) {}

Node::~Node() = default;

void Node::start(Time now) {
  layers_->links.start(now);
  layers_->overlay.start(now);
  layers_->view.start(now);
  layers_->admin.start(now);
}

Time Node::stop(Time now) {
  Layers& node = *layers_;
  const Time until = node.sessions.stop(now);
  node.ends_at = until;
  if (until <= now) node.end(now);
  return until;
}

bool Node::is_stopped() const {
  return layers_->is_ending && layers_->sessions.is_stopped() && layers_->links.is_stopped() &&
         layers_->admin.is_stopped();
}

void Node::reconfigure(Time now, const NodeConfig& config) {
  layers_->context.reconfigure(config);
  layers_->admission.reconsider();
  layers_->sessions.reconsider(now);
  layers_->overlay.reconsider(now);
  layers_->feeds.reconsider();
}

void Node::handle_accepted(Time now, ConnectionId connection, Port port, const Peer& peer) {
  layers_->connections.accepted(connection, port).handle_accepted(now, connection, peer);
}

void Node::handle_connected(Time now, ConnectionId connection, std::string_view identity) {
  layers_->connections.owner(connection).handle_connected(now, connection, identity);
}

std::span<std::uint8_t> Node::read_space(ConnectionId connection) {
  return layers_->connections.owner(connection).read_space(connection);
}

void Node::handle_read(Time now, ConnectionId connection, std::size_t bytes) {
  layers_->connections.owner(connection).handle_read(now, connection, bytes);
}

void Node::handle_writable(Time now, ConnectionId connection) {
  layers_->connections.owner(connection).handle_writable(now, connection);
}

void Node::handle_closed(Time now, ConnectionId connection, std::string_view why) {
  layers_->connections.take(connection).handle_closed(now, connection, why);
}

void Node::handle_datagrams(Time now, std::span<const IncomingDatagram> datagrams) {
  layers_->links.handle_datagrams(now, datagrams);
}

void Node::handle_revoked(Time now, ConnectionId connection) { layers_->sessions.handle_revoked(now, connection); }

void Node::handle_time(Time now) {
  layers_->wake_at = kNever;  // the driver has used up the deadline that it was given
  layers_->links.handle_time(now);
  layers_->overlay.handle_time(now);
  layers_->view.handle_time(now);
  layers_->order.handle_time(now);
  layers_->channels.handle_time(now);
  layers_->bulk.handle_time(now);
  layers_->feeds.handle_time(now);
  layers_->sessions.handle_time(now);
  layers_->admin.handle_time(now);
  if (layers_->ends_at <= now) layers_->end(now);
}

void Node::end_turn(Time now) {
  Layers& node = *layers_;
  node.context.memory.set(MemoryBudget::Use::connections, node.connections.memory_bytes());
  node.context.memory.set(MemoryBudget::Use::groups, node.groups.table().memory_bytes());
  node.context.memory.set(MemoryBudget::Use::parts, node.groups.delivery().partial_bytes());
  node.context.memory.set(MemoryBudget::Use::feeds, node.feeds.heap_bytes());
  // What clients have sent enters, the order is gone through, and only then is everything written: one write a
  // connection and turn.
  node.sessions.resume_waiting(now);
  node.sessions.remove_lost(now);
  node.order.flush(now);
  node.feeds.flush(now);
  node.links.flush(now);
  node.sessions.flush(now);
  if (node.admission.observe(now)) node.links.flush(now);
  node.bulk.flush(now);  // ordered messages go first
  node.admin.flush(now);

  // What this turn had no room for is done in the next, when what has come meanwhile was read.
  const Time unfinished = node.order.is_held_up() || node.order.is_lagging() ? now : kNever;
  node.context.turn.end_turn();
  if (node.ends_at != kNever && node.has_waited()) node.ends_at = now;
  const Time next = earliest(unfinished, node.ends_at, node.links.next_deadline(), node.overlay.next_deadline(),
                             node.view.next_deadline(), node.order.next_deadline(), node.channels.next_deadline(),
                             node.bulk.next_deadline(), node.feeds.next_deadline(), node.admission.next_deadline(),
                             node.sessions.next_deadline(), node.admin.next_deadline());
  // One that comes too early costs less than setting it anew in every turn.
  if (next >= node.wake_at) return;
  node.wake_at = next;
  node.connections.wake_at(next);
}

const View& Node::view() const { return layers_->view.installed(); }

bool Node::is_settled() const { return !layers_->view.is_frozen() && layers_->groups.is_ready(); }

const Counters& Node::counters() const { return layers_->context.counters; }

std::optional<LinkInfo> Node::link_to(std::string_view neighbour) const {
  const std::optional<LinkId> link = layers_->links.established_with(neighbour);
  if (!link) return std::nullopt;
  return layers_->links.info(*link);
}

NodeMemory Node::memory() const {
  const Order& order = layers_->order;
  NodeMemory memory;
  memory.own_stream = own_stream_bytes();
  memory.foreign_stream = order.foreign_bytes_max();
  memory.view_ends = !order.is_open();
  memory.retained = order.retained_bytes();
  memory.unordered = order.unordered_bytes();
  memory.own_unordered = order.own_unordered_bytes();
  memory.pushed = order.pushed_bytes();
  memory.partial = layers_->groups.delivery().partial_bytes();
  memory.held_up = order.held_up_bytes() + layers_->groups.delivery().early_bytes();
  for (const LinkId link : layers_->links.established()) {
    memory.link_control = std::max(memory.link_control, layers_->links.queued_bytes(link, FramePriority::control));
    memory.link_data = std::max(memory.link_data, layers_->links.queued_bytes(link, FramePriority::data));
  }
  layers_->sessions.table().for_each([&](const Session& session) {
    memory.session_queue = std::max(memory.session_queue, session.queue().bytes());
    const bool is_limited = session.watch().policy() != SlowPolicy::price;
    const std::size_t limited = session.watch().unexcused(session.queue().bytes_without_feeds());
    if (is_limited) memory.limited_queue = std::max(memory.limited_queue, limited);
    memory.session_held = std::max(memory.session_held, session.ingress().held_bytes());
    memory.session_kept = std::max(memory.session_kept, session.queue().kept_bytes());
  });
  const SessionMemory sum = layers_->sessions.memory();
  memory.sessions_unfinished = sum.unfinished;
  memory.sessions_definitions = sum.definitions;
  memory.sessions_held = sum.held;
  memory.sessions_queued = sum.queued;
  memory.feeds = layers_->feeds.memory_bytes();
  memory.feeds_waiting = feeds_waiting_bytes();
  memory.bulk_rings = layers_->bulk.status().rings_bytes();
  memory.bulk_channels = layers_->bulk.status().channels();
  memory.slabs = layers_->context.slabs.bytes_in_use();
  memory.used = layers_->context.memory.used();
  memory.groups = layers_->groups.table().size();
  for (const Group& group : layers_->groups.table()) memory.memberships += group.members.size();
  memory.sessions = sessions();
  return memory;
}

NodeWork Node::work() const {
  const TurnWork& turn = layers_->context.turn;
  return {turn.so_far(),       turn.last_turn(),  turn.largest_turn(),
          turn.largest_step(), turn.last_input(), turn.largest_input()};
}

std::size_t Node::waiting_clients() const {
  std::size_t count = 0;
  layers_->sessions.table().for_each(
      [&](const Session& session) { count += session.is_waiting() || session.ingress().holds_messages() ? 1 : 0; });
  return count;
}

std::size_t Node::sessions() const { return layers_->sessions.table().size(); }

std::size_t Node::feeds_waiting_bytes() const { return layers_->feeds.sources().waiting_bytes(); }

std::size_t Node::own_stream_bytes() const { return layers_->order.unstable_bytes(); }

const ChannelRelay* Node::bulk_relay(const spindle::bulk::BulkChannelId& channel) const {
  return layers_->bulk.relay_of(channel);
}

std::string Node::dump() const {
  const Layers& node = *layers_;
  std::string text =
      fmt::format("daemon {} incarnation {:x}\nview {} phase {}\n", node.context.config.name,
                  node.context.config.incarnation, to_string(node.view.installed().id), to_string(node.view.phase()));
  for (const DaemonId& member : node.view.installed().members) text += fmt::format("  member {}\n", member.name);
  for (const LinkId link : node.links.established()) {
    const LinkInfo info = node.links.info(link);
    text += fmt::format("link {} queued {} bytes, round trip {} us\n", info.peer.name, info.queued_bytes,
                        info.round_trip.count() / 1000);
  }
  text += fmt::format("order: open {} processed {} of {}, unstable {} bytes, retained {} bytes\n", node.order.is_open(),
                      node.order.log().processed(), node.order.log().end(), node.order.unstable_bytes(),
                      node.order.retained_bytes());
  text += fmt::format("groups: ready {}, {} in the table\n", node.groups.is_ready(), node.groups.table().size());
  for (const BulkStatus::RelayInfo& relay : node.bulk.status().relays({})) {
    text += fmt::format("channel {}: parent {}\n", spindle::bulk::to_string(relay.id),
                        relay.position.parent.value_or("none"));
    for (const BulkStatus::ReceiverInfo& receiver : relay.children) {
      const ChannelRelay::ChildInfo& child = receiver.child;
      text += fmt::format("  child {}: lacks from block {} on, {} begun, given {} symbols, missed {}{}{}, {}\n",
                          child.daemon.empty() ? "here" : child.daemon, child.need.complete.first_missing(),
                          child.need.begun.size(), child.given, child.missed, child.is_behind ? ", behind" : "",
                          child.has_stream ? ", has a stream" : "", receiver.limited_by);
    }
  }
  text += fmt::format("feeds: {} open, {} pass or were here lately, {} bytes kept\n", node.feeds.directory().size(),
                      node.feeds.repair().feeds(), node.feeds.memory_bytes());
  for (const auto& [handle, source] : node.feeds.sources().all()) {
    text += fmt::format("  feed {} of {} to {}: {} packets, {} bytes wait, {} daemons, {:.0f} bytes/s{}\n", handle,
                        source->owner().client, source->terms().group, source->packets(), source->waiting_bytes(),
                        source->destinations().members.count(), source->rate() ? source->rate()->rate() : 0,
                        source->is_closing() ? ", closing" : "");
  }
  text += fmt::format("sessions: {}, of which {} wait\n", node.sessions.table().size(), waiting_clients());
  return text;
}

Feeds& Node::feeds() { return layers_->feeds; }

std::optional<std::uint64_t> Node::session_of(std::string_view client) const {
  return layers_->sessions.clients().find_client(client);
}

}  // namespace spindled
