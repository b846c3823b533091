// One connection between this daemon and another: framing, output, liveness, round-trip time. What frames mean, and
// which connection becomes the link of a pair, is decided elsewhere (`links.h`).
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "daemon/base/context.h"
#include "daemon/base/driver.h"
#include "daemon/base/input_buffer.h"
#include "daemon/base/result.h"
#include "daemon/link/link_id.h"
#include "daemon/link/link_phase.h"
#include "daemon/link/link_queue.h"
#include "daemon/link/neighbours.h"
#include "daemon/wire/control.h"
#include "daemon/wire/frame_traits.h"

namespace spindled {

class Link {
 public:
  struct Frame {
    LinkFrame type{};
    Slice body;
  };

  /// Where it stands in the tables.
  struct Marks {
    std::optional<LinkId> id;                    // from establishment until `link_down` has returned
    std::optional<Neighbours::Index> neighbour;  // whom this side dialled
    Time deadline = kNever;                      // as in LinkTable,
    bool dirty = false;                          // this, too
  };

  /// `dialled`: by this side. The phase is `dialling` then, else `handshake`.
  Link(Context& context, Driver& driver, ConnectionId connection, std::string address, bool dialled, Time now);

  ConnectionId connection() const { return connection_; }
  const std::string& address() const { return address_; }
  bool dialled() const { return dialled_; }

  LinkPhase phase() const { return phase_; }
  /// Checked against the table of allowed transitions.
  void enter(LinkPhase phase);
  bool is_established() const { return phase_ == LinkPhase::established; }

  const DaemonId& peer() const { return peer_; }
  void set_peer(DaemonId peer) { peer_ = std::move(peer); }
  /// Who is at the other end has proved to be (Peer); empty: nobody in particular.
  const std::string& identity() const { return identity_; }
  void set_identity(std::string_view identity) { identity_ = identity; }

  Marks marks;
  /// What the two sides have said of datagrams in the handshake.
  struct Offers {
    DatagramOffer own, peer;
  } offers;

  // Input. `read_space`, `handle_read`, then `next_frame` until it has none.

  std::span<std::uint8_t> read_space();
  void handle_read(Time now, std::size_t bytes);
  ByteView unread() const { return input_.unread(); }
  /// What was read and not taken, for another to go on with.
  InputBuffer take_input() { return std::exchange(input_, InputBuffer()); }
  /// Forgets what was read and not taken.
  void discard_input() {
    input_.clear();
    wanted_ = 0;
  }
  /// The next whole frame. An error for one that is too large, does not exist, or is out of place in this phase.
  Result<std::optional<Frame>> next_frame();

  // Output.

  /// Its content in three parts.
  void send(LinkFrame type, ByteView prefix, const Slice& head, const Slice& tail);
  void drop_queued(FramePriority priority) { queue_.drop(priority); }
  /// Replaces the data that waits by the last frame, whatever the length of the queue.
  void send_close(const LinkClose& close);
  /// Writes what can be written; true when nothing is left.
  bool write();
  void handle_writable() { blocked_ = false; }
  /// The queue exceeded kLinkQueueBytesMax: frames are dropped from then on, and the link must be closed.
  bool overflowed() const { return overflowed_; }
  const LinkQueue& queue() const { return queue_; }
  /// The connection takes no more at present: what is queued has to wait for others, not just for the end of the turn.
  bool is_blocked() const { return blocked_; }

  // Liveness.

  void send_ping(Time now);
  /// Takes a sample of the round-trip time, if the token can be one of ours.
  bool handle_pong(Time now, const Ping& pong);
  /// When bytes last came, apart from what is excused.
  Time last_heard() const { return last_heard_; }
  /// Nothing was heard for a liveness timeout. Whether that is said for the first time since something was.
  bool note_stall() { return std::exchange(stalled_since_, last_heard_) != last_heard_; }
  /// This side was not listening for `lapse`: that is not the peer's silence.
  void excuse(Time now, Duration lapse);
  /// Smoothed; zero until measured.
  Duration round_trip() const { return round_trip_; }

  /// Of the path alone, where the driver knows it; otherwise as above.
  Duration path_round_trip() const;
  /// What the system measures now, without the time that daemons take; zero: it does not say.
  Duration current_round_trip() const { return driver_.round_trip(connection_); }
  /// The shortest of those lately.
  Duration shortest_round_trip() const { return driver_.shortest_round_trip(connection_); }

  Time up_since() const { return up_since_; }
  void set_up_since(Time now) { up_since_ = now; }
  std::uint64_t bytes_in() const { return bytes_in_; }
  std::uint64_t bytes_out() const { return bytes_out_; }
  std::uint64_t frames_in() const { return frames_in_; }
  std::uint64_t frames_out() const { return frames_out_; }

 private:
  Result<void> check_head(const FrameHead& head) const;
  bool make_room(std::size_t body_bytes);

  Context& context_;
  Driver& driver_;
  const ConnectionId connection_;
  const std::string address_;
  const bool dialled_;
  LinkPhase phase_;
  std::string identity_;
  DaemonId peer_;

  InputBuffer input_;
  std::size_t wanted_ = 0;  // bytes of the frame at the front of `input_`, 0: not known
  LinkQueue queue_;
  bool blocked_ = false;  // the last write was short
  bool overflowed_ = false;

  Time last_heard_;
  Time stalled_since_{};  // `last_heard_` when a stall was noted
  Time first_ping_ = kNever;
  Duration round_trip_{};

  Time up_since_{};
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0;
  std::uint64_t frames_in_ = 0, frames_out_ = 0;
};

}  // namespace spindled
