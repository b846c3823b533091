// The overlay: knows the daemons and links that exist (link state), and moves frames over them.
//
// A newcomer reads this class first, and then its parts: LinkStateFlooding for what is known, Forwarder for where
// frames of a view go, ControlChannel for control messages. Underneath are LinkStateDatabase, ShortestPaths and
// ForwardingTable, and `link/` (one neighbour each).
#pragma once

#include <optional>

#include "daemon/base/context.h"
#include "daemon/link/links.h"
#include "daemon/overlay/control_channel.h"
#include "daemon/overlay/forwarder.h"
#include "daemon/overlay/link_state_flooding.h"
#include "daemon/overlay/partition_orders.h"
#include "daemon/overlay/price_flooding.h"
#include "daemon/overlay/view_transport.h"

namespace spindled {

/// Owns the parts of the layer, and tells each of them what happens to links and views.
class Overlay final : public LinkEvents, public ViewTransport, private LinkStateEvents {
 public:
  Overlay(Context& context, Links& links);
  /// Before `start`: where frames go up to. All outlive the overlay.
  void attach(ViewFrames& view, PriceFrames& prices);
  void start(Time now);

  /// Frames of the installed view, for the layers above.
  StreamTransport& streams() { return forwarder_; }
  PriceFlooding& prices() { return prices_; }
  PartitionOrders& partitions() { return partitions_; }
  const LinkStateFlooding& link_state() const { return link_state_; }
  /// LinkStateFlooding::set_capacity.
  bool set_capacity(Time now, std::string_view neighbour, std::uint64_t bytes_per_second) {
    return link_state_.set_capacity(now, neighbour, bytes_per_second);
  }
  /// The configuration has changed.
  void reconsider(Time now) {
    link_state_.reconsider(now);
    partitions_.reconsider(now);
  }
  const ForwardingTable& routes() const { return forwarder_.routes(); }
  /// Of clients' messages, that the link has been given ever.
  std::uint64_t message_packets(LinkId link) const { return forwarder_.message_packets(link); }

  void handle_time(Time now) { link_state_.handle_time(now); }
  Time next_deadline() const { return link_state_.next_deadline(); }

  // ViewTransport, for view agreement; `view_transport.h` says what each does.
  void flood(const ControlMessage& message, std::optional<LinkId> except) override { channel_.flood(message, except); }
  void send(LinkId link, const ControlMessage& message) override { channel_.send(link, message); }
  Topology reachable() const override { return link_state_.reachable(); }
  Duration longest_round_trip() const override { return link_state_.longest_round_trip(); }
  void freeze() override { forwarder_.freeze(); }
  void use_recovery_routes(const View& view) override { forwarder_.use_recovery_routes(view); }
  void send_push(const Push& push, const MemberSet& to, const Slice& head, const Slice& tail) override {
    forwarder_.send_push(push, to, head, tail);
  }
  void install(Time now, const View& view) override;

  // LinkEvents
  void link_up(Time now, LinkId link) override;
  void link_down(Time now, LinkId link, const Error& reason) override;
  void frame_received(Time now, LinkId link, LinkFrame type, Slice content) override {
    forwarder_.frame_received(now, link, type, std::move(content));
  }
  void round_trip_changed(Time now, LinkId link) override { link_state_.round_trip_changed(now, link); }
  void partition_learned(Time now, const PartitionOrder& order) override {
    partitions_.received(now, order, std::nullopt);
  }

 private:
  // LinkStateEvents
  void reachable_changed(Time now) override { view_->topology_changed(now); }
  bool has_given_up(const DaemonId& neighbour) const override { return forwarder_.has_given_up(neighbour); }

  void handle_control();
  void control_received(Time now, LinkId link, const Slice& message);

  Links& links_;
  ViewFrames* view_ = nullptr;
  ControlChannel channel_;
  LinkStateFlooding link_state_;
  Forwarder forwarder_;
  PriceFlooding prices_;
  PartitionOrders partitions_;
};

}  // namespace spindled
