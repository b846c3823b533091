// The links to the neighbouring daemons.
//
// A newcomer reads this class first, and then its parts: Handshakes for how connections become links, Liveness for
// whether the other side is there, PartitionEnforcement for who is held apart, Teardown for how connections end. They
// share a LinkLayer with its LinkTable. A Link does the framing, the output queue and the round-trip time of one
// connection; LinkEvents is what the layer above hears.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/connection_taker.h"
#include "daemon/base/port_handler.h"
#include "daemon/link/handshakes.h"
#include "daemon/link/link_layer.h"
#include "daemon/link/liveness.h"
#include "daemon/link/partition_enforcement.h"
#include "daemon/link/teardown.h"
#include "daemon/wire/frame_traits.h"

namespace spindled {

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
  DatagramInfo datagrams;
};

/// What the administrator sees of a configured neighbour that has no link now.
struct NeighbourInfo {
  std::string address;
  std::string last_error;  // why the last attempt failed; empty before the first failure
  Time next_dial{};
};

/// Owns the parts of the layer, and hands them what happens: frames and the loss of connections by their phase, and
/// time. What is sent on links goes through here, and is written at the end of the turn.
class Links final : public PortHandler {
 public:
  Links(Context& context, Driver& driver) : layer_(context, driver) {}
  /// Before `start`: where frames and events go up to.
  void attach(LinkEvents& events) { layer_.events = &events; }
  /// Who takes connections to the port of links that are none.
  void attach(ConnectionTaker& taker) { taker_ = &taker; }
  /// Who takes the frames of feeds.
  void attach(FeedFrames& feeds) { layer_.datagrams.attach(feeds); }
  void start(Time now);
  /// Tells every neighbour that this daemon stops, and closes.
  void stop(Time now);
  bool is_stopped() const { return layer_.stopping && layer_.table.empty(); }

  // PortHandler, for connections of Port::link and those that this class dialled.
  void handle_accepted(Time now, ConnectionId connection, const Peer& peer) override;
  void handle_connected(Time now, ConnectionId connection, std::string_view identity = {}) override;
  std::span<std::uint8_t> read_space(ConnectionId connection) override;
  void handle_read(Time now, ConnectionId connection, std::size_t bytes) override;
  void handle_writable(Time now, ConnectionId connection) override;
  void handle_closed(Time now, ConnectionId connection, std::string_view why) override;
  void handle_datagrams(Time now, std::span<const IncomingDatagram> datagrams);
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
  /// A frame of a feed, its body in two parts: by datagram where that gets through and has room for it, else over the
  /// connection. Whether it is on its way: it may be lost there, too.
  bool send_feed_frame(Time now, LinkId link, std::uint8_t type, ByteView head, ByteView tail);
  /// The longest body of one that this daemon makes.
  std::size_t feed_frame_bytes_max() const { return layer_.datagrams.frame_bytes_max(); }
  /// Drops what waits at that priority, the rest of a frame that is partly written aside.
  void drop_queued(LinkId link, FramePriority priority);
  /// Closes the link for a reason that both logs and the counter show. `link_down` is called before this returns.
  void close(Time now, LinkId link, Error reason);
  /// Follows an order that is news: from the next turn on there is no link to another side.
  void impose(Time now, const PartitionOrder& order) { partition_.impose(now, order); }
  void give_up_partition(Time now) { partition_.give_up(now); }

  // What is known.
  std::vector<LinkId> established() const;  // ascending
  bool is_established(LinkId link) const { return layer_.table.is_established(link); }
  std::optional<LinkId> established_with(std::string_view peer) const;
  LinkInfo info(LinkId link) const;
  /// As LinkInfo has it.
  std::uint32_t configured_weight(LinkId link) const {
    return layer_.neighbours.weight_of(layer_.table.at(link).peer().name);
  }
  const DaemonId& peer(LinkId link) const { return layer_.table.at(link).peer(); }
  Duration round_trip(LinkId link) const { return layer_.table.at(link).round_trip(); }
  /// Without the time that the daemons take to answer, as far as that is known: what a path is worth.
  Duration path_round_trip(LinkId link) const { return layer_.table.at(link).path_round_trip(); }
  /// The same of now; zero: not known.
  Duration current_round_trip(LinkId link) const { return layer_.table.at(link).current_round_trip(); }
  /// The shortest of those lately.
  Duration shortest_round_trip(LinkId link) const { return layer_.table.at(link).shortest_round_trip(); }
  std::size_t queued_bytes(LinkId link, FramePriority priority) const {
    return layer_.table.at(link).queue().bytes(priority);
  }
  /// What a price is made of.
  struct QueueLength {
    std::size_t packets = 0;             // that wait, of data frames; 0 where they wait for the end of the turn only
    std::uint64_t departed = 0;          // that have ever been written,
    std::uint64_t departed_squares = 0;  // and, summed over their frames, the squares of packets in a frame
  };
  QueueLength queue_length(LinkId link) const;
  /// Written to the connection ever.
  std::uint64_t bytes_out(LinkId link) const { return layer_.table.at(link).bytes_out(); }
  /// As DatagramInfo has it.
  Duration datagram_round_trip(LinkId link) const { return layer_.datagrams.round_trip(link); }
  std::vector<NeighbourInfo> unconnected() const;
  DatagramCounts datagram_counts() const { return layer_.driver.datagram_counts(); }
  const ImposedPartition& partition() const { return partition_.partition(); }

  // Output to a link that is not established, as during `link_down` and once `stop` was called, goes nowhere. What is
  // known of a link stays so until `link_down` returns.

 private:
  void handle_frame(Time now, Link& link, Link::Frame frame);
  /// Whether the connection has turned out to be none of a link: it is another's now, or will be with the next bytes.
  bool hand_over(Time now, Link& link);
  /// The link if frames may be sent on it now.
  Link* sendable(LinkId link) const { return layer_.stopping ? nullptr : layer_.table.find_established(link); }
  void end_overflowed(Time now);

  LinkLayer layer_;
  ConnectionTaker* taker_ = nullptr;
  Teardown teardown_{layer_};
  Liveness liveness_{layer_, teardown_};
  PartitionEnforcement partition_{layer_, teardown_};
  Handshakes handshakes_{layer_, partition_.partition(), liveness_, teardown_};
};

}  // namespace spindled
