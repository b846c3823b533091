// The overlay: knows the daemons and links that exist (link state), and moves frames over them.
//
// A newcomer reads this class first. Underneath are LinkStateDatabase (what is known), ShortestPaths and
// ForwardingTable (where frames go), and `link/` (one neighbour each).
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/link/links.h"
#include "daemon/overlay/forwarding_table.h"
#include "daemon/overlay/link_state_database.h"
#include "daemon/overlay/link_weight.h"
#include "daemon/overlay/price_frames.h"
#include "daemon/overlay/stream_frames.h"
#include "daemon/overlay/stream_transport.h"
#include "daemon/overlay/topology.h"
#include "daemon/overlay/view.h"
#include "daemon/overlay/view_transport.h"

namespace spindled {

/// Takes the content of a frame that came over the link; of one that reaches a view, without the members in front of
/// it. False where it is malformed: the link is closed then.
using FrameHandler = std::function<bool(Time now, LinkId from, Slice content)>;

class Overlay final : public LinkEvents, public StreamTransport, public ViewTransport {
 public:
  Overlay(Context& context, Links& links);
  /// Before `start`: where frames go up to. All outlive the overlay.
  void attach(ViewFrames& view, StreamFrames& streams, PriceFrames& prices);
  /// Before `start`: whom frames of a type go up to. In the end all types have a handler, but those that links keep to
  /// themselves.
  void handle(LinkFrame type, FrameHandler handler);
  void start(Time now);

  // ViewTransport, for view agreement; `view_transport.h` says what each does.
  void flood(const ControlMessage& message, std::optional<LinkId> except) override;
  void send(LinkId link, const ControlMessage& message) override;
  Topology reachable() const override;
  Duration longest_round_trip() const override;
  void freeze() override;
  void use_recovery_routes(const View& view) override;
  void send_push(const Push& push, const MemberSet& to, const Slice& head, const Slice& tail) override;
  void install(Time now, const View& view) override;

  // StreamTransport, for the streams; `stream_transport.h` says what each does. Nothing happens while frozen.
  void multicast(const MemberSet& to, const Slice& head, const Slice& tail) override;
  void multicast_unreliable(const MemberSet& to, const Slice& head, const Slice& tail) override;
  void send_report(MemberIndex to, const Report& report) override;
  void send_stable(const MemberSet& to, const Stable& stable) override;
  void send_ready(MemberIndex to, const Ready& ready) override;

  /// Tells all daemons of the view what a link of this one costs, or what its clients do; `from` and `view` are filled
  /// in. Prices leave before all data, and not over the link that they are of. While frozen nothing happens: false.
  bool flood_price(Price price);

  // Partitions for field tests.

  /// Has all daemons keep to the sides that are named, and those that are not named on one more, for that time. An
  /// error where the order makes no sense: nothing has happened then.
  Result<void> impose_partition(Time now, PartitionSides sides, Duration duration);
  /// Ends, everywhere, what is imposed.
  Result<void> heal_partition(Time now);
  /// All that this daemon has heard of lately, itself included, by name.
  std::vector<std::string> known_daemons() const;

  // Input from the driver's clock.
  void handle_time(Time now);
  Time next_deadline() const;

  // What the administrator sees.
  const LinkStateDatabase& database() const { return database_; }
  const ForwardingTable& routes() const { return routes_; }

  // LinkEvents
  void link_up(Time now, LinkId link) override;
  void link_down(Time now, LinkId link, const Error& reason) override;
  void frame_received(Time now, LinkId link, LinkFrame type, Slice body) override;
  void round_trip_changed(Time now, LinkId link) override;
  void partition_learned(Time now, const PartitionOrder& order) override;

 private:
  /// What the frames that come in on a link are sent in.
  enum class Incoming : std::uint8_t {
    unnamed,  // nothing yet: no `view` frame has come
    current,  // the installed view
    other,    // an earlier view, or one that this daemon does not install
  };

  /// A link that is up, by LinkId.
  struct Neighbour {
    bool up = false;
    bool in_step = false;  // it has sent all that this daemon lacked of what it knows: the link may be advertised
    DaemonId peer;
    LinkWeight weight;
    std::vector<std::uint8_t> parts;  // what has come of a control message that comes in parts
    bool marked = false;              // a `view` frame has named the installed view on the link
    Incoming incoming = Incoming::unnamed;
    ViewId incoming_view;
  };

  /// Of a link that has been up.
  Neighbour& at(LinkId link) { return neighbours_[static_cast<std::size_t>(link)]; }
  template <typename Visit>
  void for_each_up(Visit&& visit) const;
  std::map<DaemonId, LinkId> neighbours_by_id() const;

  // Link state.
  void control_received(Time now, LinkId link, const Slice& body);
  void control_part_received(Time now, LinkId link, const Slice& body);
  void link_state_received(Time now, LinkId link, LinkState state, const Slice& encoded);
  void summary_received(Time now, LinkId link, const LinkStateSummary& summary);
  /// Tells the database what this daemon's links are now, but for those that the routes have given up.
  void update_own_links(Time now);
  /// Floods this daemon's advertisement if it is due.
  void advertise(Time now);
  void topology_changed(Time now);
  void forget_reachable();
  // Other daemons of this one's name, in overlay_namesakes.cpp.
  /// Decides whether this daemon takes part; call where what it reaches may have changed.
  void look_for_namesakes(Time now);
  /// Another daemon of this one's name has advertised anew that it stays out.
  void namesake_heard(Time now, const DaemonId& namesake);
  void remind_of_namesake(Time now);
  void send_encoded(LinkId link, const Slice& encoded, Counter kind);
  Slice encode(const ControlMessage& message);

  // Partitions, in overlay_partition.cpp.
  PartitionOrder next_partition() const;
  /// bad_argument where this daemon may give no orders.
  Result<void> may_give_partitions() const;
  /// Follows an order and passes it on, if it is news.
  void partition_received(Time now, const PartitionOrder& order, std::optional<LinkId> from);

  // Frames.
  FrameHandler& handler_of(LinkFrame type);
  void handle_own_frames();
  void handle_streams(StreamFrames& streams);
  void handle_prices(PriceFrames& prices);
  template <auto Read, typename Take>
  void handle_of_member(LinkFrame type, Take take);
  /// False where the content is malformed.
  bool view_named(LinkId link, const Slice& content);
  Incoming relation_to(const ViewId& view) const;
  void view_frame_received(Time now, LinkId link, LinkFrame type, Slice content);
  void route(Time now, LinkId link, LinkFrame type, Slice content);
  void hand_up(Time now, LinkId link, LinkFrame type, Slice content);
  void push_received(Time now, LinkId link, const Slice& body);
  void flood_encoded(const Price& price, const Slice& encoded, std::optional<LinkId> except);
  std::uint16_t view_tag() const { return static_cast<std::uint16_t>(routes_.view().number); }
  /// The routes that pushes under `proposal` take; nullptr where it is neither being recovered nor installed.
  const ForwardingTable* routes_of(const ViewId& proposal) const;
  void relay(const ForwardingTable& routes, LinkId from, LinkFrame type, const MemberSet& to, const Slice& payload);
  /// Whether a link takes an unreliable message at present; counts those that it does not.
  bool takes_unreliable(LinkId link);
  void send_small(LinkFrame type, MemberSet to, ByteView payload);
  void send_routed(LinkId link, LinkFrame type, const MemberSet& to, ByteView payload, const Slice& head,
                   const Slice& tail);
  void mark(LinkId link);
  void close_malformed(Time now, LinkId link, std::string_view what);

  Context& context_;
  Links& links_;
  const Log log_;
  ViewFrames* view_ = nullptr;
  std::array<FrameHandler, kFrameTypes> handlers_;  // by type, from 1

  LinkStateDatabase database_;
  std::vector<Neighbour> neighbours_;  // by LinkId
  // Computed when asked for.
  mutable std::optional<Topology> reachable_;
  mutable std::optional<Duration> longest_round_trip_;
  Time sweep_at_ = kNever;  // when old entries of the database are looked for
  // Because of whom this daemon stays out, and when the log is told of it next; of one that stays out because of this
  // daemon, until when the log has heard enough of that.
  std::optional<DaemonId> namesake_;
  Time namesake_due_ = kNever;
  Time other_namesake_quiet_until_ = Time::min();
  bool complained_of_size_ = false;
  bool complained_of_partition_ = false;

  bool frozen_ = true;
  ForwardingTable routes_;                   // of the installed view
  std::vector<std::uint8_t> view_marker_;    // its `view` frame
  std::optional<ForwardingTable> recovery_;  // of the view that recovery goes on for
};

}  // namespace spindled
