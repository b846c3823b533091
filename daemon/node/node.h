// The daemon as one deterministic state machine: wires the layers together and owns them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "daemon/base/counters.h"
#include "daemon/base/driver.h"
#include "daemon/base/log.h"
#include "daemon/base/node_config.h"
#include "daemon/base/peer.h"
#include "daemon/base/time.h"
#include "daemon/overlay/view.h"

namespace spindle::bulk {
struct BulkChannelId;
}

namespace spindled {

struct LinkInfo;
class ChannelRelay;
class Feeds;
class OrderObserver;

/// What a node keeps at the moment, of messages in bytes, for who holds it to its limits.
struct NodeMemory {
  std::size_t own_stream = 0;      // its own messages, until they are stable
  std::size_t foreign_stream = 0;  // those of another daemon until they are stable: the most of any
  bool view_ends = false;          // what is stable is not heard, and what others push comes on top
  std::size_t retained = 0;        // of all streams
  std::size_t unordered = 0;       // of ordered messages that wait for their place, stable or not
  std::size_t own_unordered = 0;   // of these its own
  std::size_t pushed = 0;          // of what recovery has brought, until it counts as received
  std::size_t held_up = 0;         // of messages that the group layer has yet to take, or to deliver
  std::size_t partial = 0;         // of payload that went ahead of its messages
  std::size_t link_control = 0;    // what waits on a link, the most of any: of control frames and prices
  std::size_t link_data = 0;       // and of all others
  std::size_t session_queue = 0;   // what waits for a client: the most of any,
  std::size_t limited_queue = 0;   // and of those that senders do not pay for, without feeds
  std::size_t session_held = 0;    // what waits of a client with independent flows: the most of any
  std::size_t session_kept = 0;    // what a client may have to get again on another connection: the most of any
  // What all clients hold: of messages and frames that are not complete or may not enter, of definitions of sets of
  // destinations, of messages of independent flows, and of what they have yet to read.
  std::size_t sessions_unfinished = 0;
  std::size_t sessions_definitions = 0;
  std::size_t sessions_held = 0;
  std::size_t sessions_queued = 0;
  std::size_t feeds = 0;          // packets that are kept or wait, and what their sources have handed over
  std::size_t feeds_waiting = 0;  // of these, what waits for the rate
  std::size_t bulk_rings = 0;     // what relays keep of the contents of channels,
  std::size_t bulk_channels = 0;  // and of how many
  std::size_t slabs = 0;          // that are in use, for all that is read or written
  std::size_t used = 0;           // of MemoryBudget::limit
  // The group table, and the clients of this daemon, in numbers.
  std::size_t groups = 0;
  std::size_t memberships = 0;  // of a client in a group
  std::size_t sessions = 0;
};

/// What a node did in one turn, and in all of them, in units of TurnWork, for who holds it to its limits.
struct NodeWork {
  std::uint64_t so_far = 0;
  std::size_t last_turn = 0;
  std::size_t largest_turn = 0;
  std::size_t largest_step = 0;
  // Of what was taken of clients.
  std::size_t last_input = 0;
  std::size_t largest_input = 0;
};

/// Owns no socket, thread, clock or source of randomness: the same calls give the same effects. All calls come from one
/// thread, none from within a Driver call. `now` never goes back.
///
/// A turn is any number of `handle_*` calls with the same `now` and then `end_turn`, which writes out what the turn has
/// queued and sets the next wake-up.
class Node {
 public:
  /// `driver`, `sink` and `observer` outlive the node. `seed` is all the randomness it gets. `observer`, for tests, is
  /// told of what the order layer does.
  Node(NodeConfig config, Driver& driver, LogSink& sink, std::uint64_t seed, OrderObserver* observer = nullptr);
  ~Node();

  /// Begins: dials neighbours, forms a view of its own. Call once, followed by `end_turn`.
  void start(Time now);
  /// A clean stop: clients that can go elsewhere are waited for, until the time that this returns; then clients and
  /// neighbours are told why. The connections close one after the other; the driver destroys the node when
  /// `is_stopped`, or when its patience ends, which begins at that time.
  Time stop(Time now);
  bool is_stopped() const;
  /// Goes by another configuration from now on, of which only the live keys may differ (config/reload.h).
  void reconfigure(Time now, const NodeConfig& config);

  // Inputs.

  /// `peer` opened `connection` to this daemon's `port`.
  void handle_accepted(Time now, ConnectionId connection, Port port, const Peer& peer);
  /// A `Driver::dial` succeeded. Who is there has proved to be `identity`, as Peer has it.
  void handle_connected(Time now, ConnectionId connection, std::string_view identity = {});
  /// Where to put the next bytes of `connection`: never empty, valid until any other call. Follow with `handle_read`.
  std::span<std::uint8_t> read_space(ConnectionId connection);
  /// `bytes` were put into `read_space`.
  void handle_read(Time now, ConnectionId connection, std::size_t bytes);
  /// `connection` takes bytes again after a short write.
  void handle_writable(Time now, ConnectionId connection);
  /// `connection` is gone, or a dial failed; `why` is for people to read. Not called for those that the Node closed.
  void handle_closed(Time now, ConnectionId connection, std::string_view why);
  /// Datagrams that have come, from whomever.
  void handle_datagrams(Time now, std::span<const IncomingDatagram> datagrams);
  /// The token that the client of `connection` was identified by (Driver::identify) counts no longer.
  void handle_revoked(Time now, ConnectionId connection);
  /// The deadline given to `Driver::wake_at` has come.
  void handle_time(Time now);
  void end_turn(Time now);

  /// The view that this daemon is in.
  const View& view() const;
  /// Whether no view change is going on and the group table is complete: messages may be sent.
  bool is_settled() const;
  const Counters& counters() const;
  NodeMemory memory() const;
  NodeWork work() const;
  /// Clients that have sent something that may not enter yet.
  std::size_t waiting_clients() const;
  /// What `memory` says of sessions, of what waits in feeds and of its own messages, for who asks again and again.
  std::size_t sessions() const;
  std::size_t feeds_waiting_bytes() const;
  std::size_t own_stream_bytes() const;
  /// The established link to this neighbour.
  std::optional<LinkInfo> link_to(std::string_view neighbour) const;
  /// Of a bulk channel, for tests that watch what daemons give each other; null: nothing of it goes through here.
  const ChannelRelay* bulk_relay(const spindle::bulk::BulkChannelId& channel) const;
  /// The state of every layer as text, for people.
  std::string dump() const;

  // For tests that are clients of feeds in place of sessions; in a turn, as inputs are.

  Feeds& feeds();
  /// Of the client with that name, if it is here.
  std::optional<std::uint64_t> session_of(std::string_view client) const;

 private:
  struct Layers;
  std::unique_ptr<Layers> layers_;
};

}  // namespace spindled
