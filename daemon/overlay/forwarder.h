// The way of frames of a view: in, on to the next hops, up to this daemon's layers, and out.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/link/links.h"
#include "daemon/overlay/forwarding_table.h"
#include "daemon/overlay/frame_handler.h"
#include "daemon/overlay/stream_transport.h"
#include "daemon/overlay/view_transport.h"

namespace spindled {

/// Knows the routes of the installed view, and of the one that recovery goes on for. What arrives of the installed view
/// is relayed to members whose paths lead on, and handed to whoever handles its type where this daemon is a member it
/// is for. A `view` frame on each link names the view that what follows is of.
///
/// While frozen nothing of the installed view is sent, relayed or handed up.
class Forwarder final : public StreamTransport {
 public:
  Forwarder(Context& context, Links& links);
  /// Before anything else: whom pushes go up to.
  void attach(ViewFrames& view) { view_ = &view; }
  /// That all types have a handler, but those that links keep to themselves.
  void check_handlers() const;

  void link_up(LinkId link, const DaemonId& peer);
  void link_down(LinkId link);
  bool is_up(LinkId link) const { return neighbours_[static_cast<std::size_t>(link)].up; }
  void frame_received(Time now, LinkId link, LinkFrame type, Slice content);

  // The life of a view; `view_transport.h` says what each does.
  void freeze();
  void use_recovery_routes(const View& view) { recovery_.emplace(view, neighbours_by_id()); }
  void send_push(const Push& push, const MemberSet& to, const Slice& head, const Slice& tail);
  void install(const View& view);

  bool is_frozen() const { return frozen_; }
  /// Of the installed view.
  const ForwardingTable& routes() const { return routes_; }
  /// Whether frames to the neighbour are lost for good in this view, or the one that is being recovered.
  bool has_given_up(const DaemonId& neighbour) const {
    return routes_.has_given_up(neighbour) || (recovery_ && recovery_->has_given_up(neighbour));
  }

  /// Of clients' messages, that the link has been given ever.
  std::uint64_t message_packets(LinkId link) const {
    return neighbours_[static_cast<std::size_t>(link)].message_packets;
  }

  // StreamTransport. Nothing is sent while frozen.
  void handle(LinkFrame type, FrameHandler handler) override;
  void multicast(const MemberSet& to, const Slice& head, const Slice& tail) override;
  void multicast_unreliable(const MemberSet& to, const Slice& head, const Slice& tail) override;
  void send(LinkFrame type, const MemberSet& to, ByteView content) override;

 private:
  /// What the frames that come in on a link are sent in.
  enum class Incoming : std::uint8_t {
    unnamed,  // nothing yet: no `view` frame has come
    current,  // the installed view
    other,    // an earlier view, or one that this daemon does not install
  };
  struct Neighbour {
    bool up = false;
    DaemonId peer;
    bool marked = false;  // a `view` frame has named the installed view on the link
    Incoming incoming = Incoming::unnamed;
    ViewId incoming_view;
    std::uint64_t message_packets = 0;
  };

  /// Of a link that has been up.
  Neighbour& at(LinkId link) { return neighbours_[static_cast<std::size_t>(link)]; }
  std::map<DaemonId, LinkId> neighbours_by_id() const;
  const FrameHandler& handler_of(LinkFrame type) const { return handlers_[static_cast<std::size_t>(type) - 1]; }

  /// False where the content is malformed.
  bool view_named(LinkId link, const Slice& content);
  Incoming relation_to(const ViewId& view) const;
  void view_frame_received(Time now, LinkId link, LinkFrame type, Slice content);
  void route(Time now, LinkId link, LinkFrame type, Slice content);
  void hand_up(Time now, LinkId link, LinkFrame type, Slice content);
  bool push_received(Time now, LinkId link, const Slice& body);
  void close_as_too_large(Time now, LinkId link, LinkFrame type);
  /// The routes that pushes under `proposal` take; nullptr where it is neither being recovered nor installed.
  const ForwardingTable* routes_of(const ViewId& proposal) const;
  void relay(const ForwardingTable& routes, LinkId from, LinkFrame type, const MemberSet& to, const Slice& payload);
  /// Whether a link takes an unreliable message at present; counts those that it does not.
  bool takes_unreliable(LinkId link);
  void send_routed(LinkId link, LinkFrame type, const MemberSet& to, ByteView payload, const Slice& head,
                   const Slice& tail);
  void mark(LinkId link);

  Context& context_;
  Links& links_;
  ViewFrames* view_ = nullptr;
  std::array<FrameHandler, kFrameTypes> handlers_;  // by type, from 1
  std::vector<Neighbour> neighbours_;               // by LinkId

  bool frozen_ = true;
  ForwardingTable routes_;
  std::vector<std::uint8_t> view_marker_;    // the `view` frame of the installed view
  std::optional<ForwardingTable> recovery_;  // of the view that recovery goes on for
};

}  // namespace spindled
