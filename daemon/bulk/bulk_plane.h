// The content of bulk channels on its way between clients and daemons.
//
// A newcomer reads this class first, and then its parts: RelayedChannel and its ChannelRelay for the way of one
// channel's symbols through this daemon; ChannelTrees for who relays to whom; Hops for the connections to other
// daemons; BulkConnection for one of them, or of a client's; BulkOutput for what goes out on them, and Paths for how
// fast it may; BulkStatus for what the administrator is told. What daemons agree on is elsewhere (daemon/channel).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "daemon/base/connection_taker.h"
#include "daemon/base/context.h"
#include "daemon/base/port_handler.h"
#include "daemon/base/timers.h"
#include "daemon/bulk/bulk_connections.h"
#include "daemon/bulk/bulk_output.h"
#include "daemon/bulk/bulk_status.h"
#include "daemon/bulk/channel_trees.h"
#include "daemon/bulk/driver_hasher.h"
#include "daemon/bulk/hops.h"
#include "daemon/bulk/paths.h"
#include "daemon/bulk/relayed_channel.h"
#include "daemon/channel/channels.h"
#include "daemon/channel/session_tokens.h"
#include "daemon/overlay/stream_transport.h"

namespace spindled {

/// Content belongs to no view: it goes on while daemons agree on the next. Each daemon that has a place in the tree of
/// a channel asks its parent for what it and those below it lack, and relays what comes; a client is one more child, or
/// holds content. The root, which is the daemon of the source, plans the tree and tells the others; nobody has to
/// agree.
class BulkPlane final : public PortHandler, public ConnectionTaker, public ChannelEvents {
 public:
  struct Layers {
    Links& links;
    Overlay& overlay;
    const Groups& groups;
    Channels& channels;
    const SessionTokens& tokens;
  };
  BulkPlane(Context& context, Driver& driver, ConnectionBroker& broker, Layers layers);
  ~BulkPlane() override;

  // ConnectionTaker
  bool takes(Port port, const spindle::FrameHead& first_frame) const override;
  void take_over(Time now, ConnectionId connection, Port port, const Peer& peer, InputBuffer unread) override;

  // PortHandler, of connections that were taken over, and of those that this dials.
  void handle_accepted(Time, ConnectionId, const Peer&) override {}
  void handle_connected(Time now, ConnectionId connection, std::string_view identity) override;
  std::span<std::uint8_t> read_space(ConnectionId connection) override;
  void handle_read(Time now, ConnectionId connection, std::size_t bytes) override;
  void handle_writable(Time now, ConnectionId connection) override;
  void handle_closed(Time now, ConnectionId connection, std::string_view why) override;

  // ChannelEvents
  void channel_offered(Time now, const Channel& channel) override;
  void receivers_changed(Time now, const Channel& channel) override;
  void client_left(Time now, const Channel& channel, SessionId session) override;
  void channel_sealed(Time now, const Channel& channel) override;
  void source_changed(Time now, const Channel& channel) override;
  void channel_ended(Time now, const BulkChannelId& id) override;
  void session_closed(Time now, SessionId session) override;

  void handle_time(Time now);
  Time next_deadline() const {
    return std::min({timers_.next(), trees_.next_deadline(), paths_.next_deadline(), relayed_.next_deadline(),
                     output_.next_deadline()});
  }
  /// The end of a turn: writes what there is, or as much as a turn may.
  void flush(Time now) { output_.flush(now); }
  /// The daemon stops: all connections end.
  void stop();

  /// For the administrator.
  const BulkStatus& status() const { return status_; }
  /// Null: nothing of the channel goes through here.
  const ChannelRelay* relay_of(const BulkChannelId& id) const {
    const RelayedChannel* relayed = relayed_.find(id);
    return relayed == nullptr ? nullptr : &relayed->relay;
  }

 private:
  using BulkFrame = spindle::bulk::BulkFrame;

  enum class Timer : std::uint8_t { hops, handshakes, idle, count_ };

  BulkConnection& add(Time now, ConnectionId connection, BulkConnection::Phase phase);
  /// Both sides' frames until the connection is open.
  std::optional<Error> greet(Time now, BulkConnection& connection, const BulkConnection::Frame& frame);
  std::optional<Error> greet_daemon(Time now, BulkConnection& connection, ByteView body);
  std::optional<Error> greet_client(Time now, BulkConnection& connection, ByteView body);
  void welcome(Time now, BulkConnection& connection);
  std::optional<Error> handle_frame(Time now, BulkConnection& connection, const BulkConnection::Frame& frame);
  std::optional<Error> handle_open(Time now, BulkConnection& connection, ByteView body);
  std::optional<Error> handle_mesh_frame(Time now, const BulkConnection& connection,
                                         const BulkConnection::Frame& frame);
  template <typename Frame, typename Handle>
  std::optional<Error> with_channel(const BulkConnection& connection, const std::optional<Frame>& frame,
                                    Handle&& handle);
  /// A frame of a child came: whether the other side may be one.
  bool ensure_child(Time now, RelayedChannel& channel, BulkConnection& connection);
  void process(Time now, BulkConnection& connection);
  /// Tells the other side why, and closes.
  void close(Time now, BulkConnection& connection, const Error& reason);
  void forget(Time now, ConnectionId connection);
  /// It is none of the connections any more.
  void hop_lost(Time now, const std::string& daemon);

  /// A parent is silent since before the link to it was lost: what was sent on the hop may stand still for long.
  void close_outlived_hops(Time now, const RelayedChannel& relayed);
  /// Asks the parent, and the backup beside it where the parent is not there or is silent.
  void update_upstreams(Time now, RelayedChannel& relayed);
  /// Whether the hop to the parent is waited for: it has to be opened, and what has not begun is not missed. With the
  /// backup asked meanwhile both would send all, as both are granted it before any of it has come.
  bool is_parent_awaited(Time now, RelayedChannel& relayed);
  /// By a new place in the tree.
  void update_mesh(Time now, RelayedChannel& relayed);
  /// Who is going to ask here.
  void update_awaited(Time now, RelayedChannel& relayed);
  /// The same at the end of the turn, or of kAwaitedInterval.
  void update_awaited_soon(Time now, RelayedChannel& relayed);
  /// The client is there now, or is not any more.
  void attachment_changed(Time now, SessionId session);
  std::optional<ConnectionId> open_hop(std::string_view daemon) const;
  /// The daemons that this one shares channels with, by the trees that it knows of.
  std::set<std::string, std::less<>> wanted_hops(Time now) const;
  void look_for_hops(Time now);
  void close_idle_hops(Time now);
  void enter_open(Time now, BulkConnection& connection);

  Context& context_;
  Log log_;
  Driver& driver_;
  ConnectionBroker& broker_;
  Layers layers_;
  Hops hops_;
  Paths paths_;
  BulkConnections connections_;
  DriverHasher hasher_;
  RelayedChannels relayed_;
  BulkOutput output_;
  ChannelTrees trees_;
  BulkStatus status_;
  std::map<SessionId, ConnectionId> attachments_;
  Timers<Timer> timers_;
};

}  // namespace spindled
