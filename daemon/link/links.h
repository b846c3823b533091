// The links to the neighbouring daemons.
//
// A newcomer reads this class first. Links dials the configured neighbours, accepts those that dial this daemon, and
// keeps one Link a neighbour; a Link does the handshake, the framing, the output queue, liveness and round-trip time of
// one connection.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/base/driver.h"
#include "daemon/base/port_handler.h"
#include "daemon/link/imposed_partition.h"
#include "daemon/link/link.h"
#include "daemon/link/link_id.h"
#include "daemon/link/neighbours.h"
#include "daemon/link/refusal_log.h"
#include "daemon/wire/control.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

/// What links hand up, to the overlay.
class LinkEvents {
 public:
  virtual ~LinkEvents() = default;
  /// The handshake with the neighbour is complete; frames may be sent.
  virtual void link_up(Time now, LinkId link) = 0;
  /// An established link is gone; the id is free for another after this call.
  virtual void link_down(Time now, LinkId link, const Error& reason) = 0;
  /// A frame arrived: control, view, data, report, stable, ready, push or price. `body` is what follows the frame head,
  /// within the size limit of its type, and not otherwise checked.
  virtual void frame_received(Time now, LinkId link, LinkFrame type, Slice body) = 0;
  /// The smoothed round-trip time of the link was measured anew.
  virtual void round_trip_changed(Time now, LinkId link) = 0;
  /// A handshake, whether it ends in a link or not, told of this order.
  virtual void partition_learned(Time now, const PartitionOrder& order) = 0;
};

struct LinkInfo {
  DaemonId peer;
  std::string address;                  // as dialled, or as the driver told it for an accepted connection
  std::string identity;                 // who the peer has proved to be (Peer); empty: nobody in particular
  bool dialled = false;                 // by this side
  std::uint32_t configured_weight = 0;  // 0: derive it from the round-trip time
  Duration round_trip{};                // smoothed; zero until measured
  Time up_since{};
  std::size_t queued_bytes = 0;    // in both queues
  std::size_t queued_packets = 0;  // data frames in the queue, counted in packets of up to 1,400 bytes
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::uint64_t frames_in = 0, frames_out = 0;
};

/// What the administrator sees of a configured neighbour that has no link now.
struct NeighbourInfo {
  std::string address;
  std::string last_error;  // why the last attempt failed; empty before the first failure
  Time next_dial{};
};

class Links final : public PortHandler {
 public:
  Links(Context& context, Driver& driver);
  ~Links() override;
  /// Before `start`: where frames and events go up to.
  void attach(LinkEvents& events);
  void start(Time now);
  /// Tells every neighbour that this daemon stops, and closes.
  void stop(Time now);
  bool is_stopped() const;

  // PortHandler, for connections of Port::link and those that this class dialled.
  void handle_accepted(Time now, ConnectionId connection, const Peer& peer) override;
  void handle_connected(Time now, ConnectionId connection, std::string_view identity = {});
  std::span<std::uint8_t> read_space(ConnectionId connection) override;
  void handle_read(Time now, ConnectionId connection, std::size_t bytes) override;
  void handle_writable(Time now, ConnectionId connection) override;
  void handle_closed(Time now, ConnectionId connection, std::string_view why) override;
  void handle_time(Time now);
  Time next_deadline() const;
  /// Writes what this turn queued: one gathered write a link.
  void flush(Time now);

  // Output on an established link. Frames of an earlier priority leave first; those of one leave in the order given.

  /// An encoded ControlMessage: in parts where it is longer than a control frame may be.
  void send_control(LinkId link, const Slice& message);
  void send(LinkId link, LinkFrame type, const Slice& content);
  /// Its content in three parts, any of which may be empty; the first is copied.
  void send(LinkId link, LinkFrame type, ByteView prefix, const Slice& head, const Slice& tail);
  /// Drops what waits at that priority, the rest of a frame that is partly written aside.
  void drop_queued(LinkId link, FramePriority priority);
  /// Closes the link for a reason that both logs and the counter show. `link_down` is called before this returns.
  void close(Time now, LinkId link, Error reason);
  /// Follows an order that is news: from the next turn on there is no link to another side.
  void impose(Time now, const PartitionOrder& order);

  // What is known.
  std::vector<LinkId> established() const;  // ascending
  bool is_established(LinkId link) const;
  std::optional<LinkId> established_with(std::string_view peer) const;
  LinkInfo info(LinkId link) const;
  const DaemonId& peer(LinkId link) const;
  Duration round_trip(LinkId link) const;
  /// Without the time that the daemons take to answer, as far as that is known: what a path is worth.
  Duration path_round_trip(LinkId link) const;
  std::size_t queued_bytes(LinkId link, FramePriority priority) const;
  /// What a price is made of.
  struct QueueLength {
    std::size_t packets = 0;             // that wait, of data frames; 0 where they wait for the end of the turn only
    std::uint64_t departed = 0;          // that have ever been written,
    std::uint64_t departed_squares = 0;  // and, summed over their frames, the squares of packets in a frame
  };
  QueueLength queue_length(LinkId link) const;
  std::vector<NeighbourInfo> unconnected() const;
  const ImposedPartition& partition() const { return partition_; }

  // Output to a link that is not established, as during `link_down` and once `stop` was called, goes nowhere. What is
  // known of a link stays so until `link_down` returns.

 private:
  struct Entry;
  /// Who ends a connection.
  enum class Ending { here, by_peer, lost };

  Entry* find(ConnectionId connection) const;
  /// The link in a slot that is taken.
  const Link& at(LinkId link) const;
  /// The link in the slot if frames may be sent on it now.
  Entry* sendable(LinkId link) const;
  Entry* established_to(const DaemonId& peer) const;
  /// Of the daemons of that name, or the lives of one, the one whose link came up last.
  Entry* established_to(std::string_view name) const;
  /// Queues a frame that leaves before all data. Whether there is a link to send it on.

  Entry& add(Time now, ConnectionId connection, std::string_view address, bool dialled);
  void touch(Entry& entry);
  void set_deadline(Entry& entry, Time deadline);
  void dial_due(Time now);
  void send_hello(Time now, Entry& entry);

  void handle_frame(Time now, Entry& entry, Link::Frame frame);
  void handle_first_frame(Time now, Entry& entry, const Link::Frame& frame);
  void handle_echo(Time now, Entry& entry, const Link::Frame& frame);
  void handle_hello(Time now, Entry& entry, const LinkHello& hello);
  /// Decides between the connection, whose handshake is complete, and the link to the same daemon that there may be.
  void resolve(Time now, Entry& entry);
  void establish(Time now, Entry& entry);

  void end(Time now, Entry& entry, const Error& reason, Ending ending);
  void end_established(Time now, Entry& entry, const Error& reason);
  void count_end(LinkPhase phase, const Error& reason, Ending ending);
  void log_end(Time now, Entry& entry, const Error& reason, Ending ending);
  void send_close(Time now, Entry& entry, const Error& reason);
  void remove(Entry& entry);

  void handle_deadlines(Time now);
  void handle_partition_time(Time now);
  void tick(Time now);
  void close_silent(Time now);

  Context& context_;
  Driver& driver_;
  const Log log_;
  const LinkHello hello_;
  LinkEvents* events_ = nullptr;
  Neighbours neighbours_;
  RefusalLog refusals_;
  ImposedPartition partition_;
  bool stopping_ = false;

  std::map<ConnectionId, std::unique_ptr<Entry>> entries_;  // every connection
  std::vector<Entry*> slots_;                               // by LinkId: established, or just ended
  std::map<DaemonId, Entry*> by_peer_;                      // the established ones
  std::set<std::pair<Time, ConnectionId>> deadlines_;       // of connections that are not established
  std::vector<ConnectionId> touched_;                       // those with something to write
  std::vector<std::unique_ptr<Entry>> removed_;  // kept to the end of the turn: their frames may be being handled
  bool overflow_ = false;                        // some link may have exceeded its queue

  // Shared by all established links.
  Time tick_at_ = kNever;    // when pings are sent
  Time silent_at_ = kNever;  // no link counts as silent before this

  Time enforce_at_ = kNever;  // when links across the partition are looked for
};

}  // namespace spindled
