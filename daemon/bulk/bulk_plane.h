// The content of bulk channels on its way between clients and daemons.
//
// A newcomer reads this class first, and then its parts: ChannelRelay for the way of one channel's symbols through this
// daemon; TreePlan for who relays to whom; Hops for the connections to other daemons; Paths for how fast these may
// send; BulkConnection for one of them, or of a client's. What daemons agree on is elsewhere (daemon/channel).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/base/connection_taker.h"
#include "daemon/base/context.h"
#include "daemon/base/port_handler.h"
#include "daemon/base/timers.h"
#include "daemon/bulk/bulk_connection.h"
#include "daemon/bulk/hops.h"
#include "daemon/bulk/paths.h"
#include "daemon/bulk/tree_plan.h"
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
  bool takes(Port port, std::uint8_t first_frame) const override;
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
  void channel_sealed(Time now, const Channel& channel) override;
  void source_changed(Time now, const Channel& channel) override;
  void channel_ended(Time now, const BulkChannelId& id) override;
  void session_closed(Time now, SessionId session) override;

  void handle_time(Time now);
  Time next_deadline() const { return std::min({timers_.next(), flush_at_, paths_.next_deadline()}); }
  /// The end of a turn: writes what there is, or as much as a turn may.
  void flush(Time now);
  /// The daemon stops: all connections end.
  void stop();

  // For the administrator.
  struct ReceiverInfo {
    ChannelRelay::ChildInfo child;
    SessionId session = 0;   // of a local client
    std::string limited_by;  // empty: it has all, or nothing limits it
  };
  struct RelayInfo {
    BulkChannelId id;
    std::optional<std::string> parent;  // in the tree, where this daemon has one,
    std::optional<std::string> backup;
    std::uint8_t generation = 0;  // of the tree
    std::vector<ReceiverInfo> children;
    std::size_t ring_bytes = 0;
    std::size_t index_bytes = 0;
    ChannelRelay::Tally tally;
  };
  struct HopInfo {
    std::string daemon;
    bool is_open = false;
    Paths::Info path;
  };
  RelayInfo relay(Time now, const Channel& channel) const;
  std::vector<HopInfo> hops(Time now) const;
  /// Bytes a second of all that goes out and is no symbol, lately.
  std::uint64_t control_bytes_per_s(Time now) const;
  std::size_t ring_bytes() const { return ring_bytes_; }
  /// In which it has any part.
  std::vector<RelayInfo> relays(Time now) const;

 private:
  using BulkFrame = spindle::bulk::BulkFrame;

  /// One channel, as this daemon relays it.
  struct Relayed;
  enum class Timer : std::uint8_t { plan, replan, relays, hops, handshakes, idle, count_ };

  BulkConnection* find(ConnectionId connection) const;
  Relayed* find(const BulkChannelId& id) const;
  std::string limit_of(Time now, const Relayed& relayed, const ChannelRelay::ChildInfo& child) const;
  BulkConnection& add(Time now, ConnectionId connection, BulkConnection::Phase phase);
  /// Both sides' frames until the connection is open.
  std::optional<Error> greet(Time now, BulkConnection& connection, const BulkConnection::Frame& frame);
  std::optional<Error> greet_daemon(Time now, BulkConnection& connection, ByteView body);
  std::optional<Error> greet_client(Time now, BulkConnection& connection, ByteView body);
  void welcome(Time now, BulkConnection& connection);
  std::optional<Error> handle_frame(Time now, BulkConnection& connection, const BulkConnection::Frame& frame);
  std::optional<Error> handle_open(Time now, BulkConnection& connection, ByteView body);
  template <typename Frame, typename Handle>
  std::optional<Error> with_channel(const BulkConnection& connection, const std::optional<Frame>& frame,
                                    Handle&& handle);
  /// A frame of a child came: whether the other side may be one.
  bool ensure_child(Time now, Relayed& channel, BulkConnection& connection);
  void process(Time now, BulkConnection& connection);
  /// Tells the other side why, and closes.
  void close(Time now, BulkConnection& connection, const Error& reason);
  void forget(Time now, ConnectionId connection);

  // Trees.
  bool is_root(const Channel& channel) const;
  void plan_due(Time now);
  TreeInput input_for(const Channel& channel, const std::vector<std::uint64_t>& capacities) const;
  /// Of the edges of the view, as far as they are known.
  std::vector<std::uint64_t> capacities() const;
  void plan(Time now, Relayed& relayed, const Channel& channel);
  /// Plans anew where some daemon would get the content much faster.
  void replan_due(Time now);
  void apply(Time now, Relayed& relayed, const TreePlan& plan);
  bool plan_received(Time now, ByteView content);
  void update_upstreams(Time now, Relayed& relayed);
  /// The daemons that this one shares channels with, by the trees that it knows of.
  std::set<std::string, std::less<>> wanted_hops() const;
  void look_for_hops(Time now);
  void close_idle_hops(Time now);
  /// Shares what there is of memory among the rings, and counts what they and the indexes take.
  void share_memory();
  void count(Relayed& relayed);
  void enter_open(Time now, BulkConnection& connection);
  bool may_send(Time now, const BulkConnection& connection);

  // Output.
  void mark_dirty(BulkConnection& connection);
  /// The number of the channel in this direction, which is told first where it is new; nothing: there is none free.
  std::optional<std::uint32_t> number_for(BulkConnection& connection, const Relayed& relayed);
  void shut(BulkConnection& connection, const BulkChannelId& id);
  void fill(Time now, BulkConnection& connection);

  Context& context_;
  Log log_;
  Driver& driver_;
  ConnectionBroker& broker_;
  Layers layers_;
  Hops hops_;
  Paths paths_;
  std::unordered_map<ConnectionId, std::unique_ptr<BulkConnection>> connections_;
  std::map<BulkChannelId, std::unique_ptr<Relayed>> relayed_;
  /// Of a channel that is not known yet. In another view it means nothing.
  struct EarlyPlan {
    ViewId view;
    TreePlan plan;
  };
  std::map<BulkChannelId, EarlyPlan> early_plans_;
  std::map<SessionId, ConnectionId> attachments_;
  std::vector<ConnectionId> dirty_;
  Timers<Timer> timers_;
  Time flush_at_ = kNever;
  std::size_t written_ = 0;  // bytes, in this turn
  std::size_t ring_bytes_ = 0;
  std::uint64_t control_bytes_ = 0;  // that were queued in this turn
  spindle::bulk::RateMeter control_out_;
};

}  // namespace spindled
