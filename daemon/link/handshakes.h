// How connections become links.
#pragma once

#include <string_view>

#include "daemon/base/peer.h"
#include "daemon/link/imposed_partition.h"
#include "daemon/link/liveness.h"
#include "daemon/link/teardown.h"
#include "daemon/wire/control.h"

namespace spindled {

/// Dials the neighbours that are due, takes the connections of those that dial this daemon, and exchanges a hello with
/// each (hello.h). Whoever does not fit, is on another side of a partition or takes too long is refused; of two
/// connections to one daemon one stays. The phases are those of link_phase.h up to `established`.
///
/// Order of calls: `dial_due` as time goes by, then `connected`; or `accepted`. After that `first_frame_received`, and,
/// where the connection waits thereafter, `used_by_peer`; `timed_out` in place of any of these.
class Handshakes {
 public:
  Handshakes(LinkLayer& layer, const ImposedPartition& partition, Liveness& liveness, Teardown& teardown);

  void dial_due(Time now);
  void connected(Time now, Link& link, std::string_view identity);
  void accepted(Time now, ConnectionId connection, const Peer& peer);
  void first_frame_received(Time now, Link& link, const Link::Frame& frame);
  /// A frame came on a connection that waits: the neighbour uses it rather than the one it had, and so do we.
  void used_by_peer(Time now, Link& link) { decide(now, link); }
  void timed_out(Time now, Link& link);

 private:
  Link& add(Time now, ConnectionId connection, std::string_view address, bool dialled);
  /// Accepted ones that are not links yet.
  std::size_t pending() const;
  void send_hello(Time now, Link& link);
  void hello_received(Time now, Link& link, const LinkHello& hello);
  /// Decides between the connection, whose handshake is complete, and the link to the same daemon that there may be.
  void decide(Time now, Link& link);
  void establish(Time now, Link& link);

  LinkLayer& layer_;
  const ImposedPartition& partition_;
  Liveness& liveness_;
  Teardown& teardown_;
  const LinkHello hello_;  // of this daemon
};

}  // namespace spindled
