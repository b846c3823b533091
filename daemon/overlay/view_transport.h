// What view agreement asks of the overlay underneath it, and what the overlay hands up to it.
#pragma once

#include <optional>

#include "daemon/base/slab.h"
#include "daemon/base/time.h"
#include "daemon/link/link_id.h"
#include "daemon/overlay/topology.h"
#include "daemon/overlay/view.h"
#include "daemon/wire/control.h"

namespace spindled {

/// Moves the messages of a view change, and opens and closes views for data frames (implemented by `Overlay`).
class ViewTransport {
 public:
  virtual ~ViewTransport() = default;

  // Control messages. On each link they arrive in the order sent, and before any push that is sent after them.

  /// Sends to every neighbour, `except` one.
  virtual void flood(const ControlMessage& message, std::optional<LinkId> except) = 0;
  /// Nothing happens where the link is down by now.
  virtual void send(LinkId link, const ControlMessage& message) = 0;
  /// The daemons that this one reaches over links that both ends report, itself included, and those links.
  virtual Topology reachable() const = 0;
  /// An estimate of the longest round trip from here to any reachable daemon.
  virtual Duration longest_round_trip() const = 0;

  // The life of a view, in the order of the calls; a later proposal goes back from any of them to `freeze`.

  /// Stops originating, forwarding and accepting frames of the installed view; drops those still queued. Idempotent.
  virtual void freeze() = 0;
  /// From now on `send_push` and relayed pushes of `view.id` follow the routes of this view, not yet installed.
  virtual void use_recovery_routes(const View& view) = 0;
  /// Under recovery routes; `to` are indices in that view, other than this daemon.
  virtual void send_push(const Push& push, const MemberSet& to, const Slice& head, const Slice& tail) = 0;
  /// Opens the view: its frames are sent, forwarded and handed up. None has come before: see `Forwarder::relation_to`.
  virtual void install(Time now, const View& view) = 0;
};

/// What the overlay hands up to view agreement (implemented by `ViewAgreement`). `topology_changed` and
/// `link_changed` may be called from within a call to the transport, the others not.
class ViewFrames {
 public:
  virtual ~ViewFrames() = default;
  /// The answer of `ViewTransport::reachable()` may have changed.
  virtual void topology_changed(Time now) = 0;
  /// A Propose, MemberState, Refuse, Commit, Done, Counts, Received or Install arrived over `from`.
  virtual void control_received(Time now, LinkId from, ControlMessage message) = 0;
  /// A push reached this daemon, one of its destinations.
  virtual void push_received(Time now, const Push& push, Slice body) = 0;
  /// `from` is up, or down: state about the neighbour starts afresh.
  virtual void link_changed(Time now, LinkId from, bool up) = 0;
};

}  // namespace spindled
