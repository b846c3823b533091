// The simulated network: byte streams between hosts over paths that have capacity, delay and queues, and that fail.
#pragma once

#include <compare>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/driver.h"
#include "daemon/base/random.h"
#include "tests/sim/byte_fifo.h"
#include "tests/sim/datagram_network.h"
#include "tests/sim/event_queue.h"
#include "tests/sim/segment_flow.h"

namespace spindled::sim {

/// One direction of the path between two hosts. All streams between the two share it.
struct PathProperties {
  std::uint64_t bytes_per_second = 0;  // 0: unlimited
  Duration delay = 100us;
  Duration jitter = 20us;                 // drawn from [0, jitter] and added to the delay; never reorders
  std::size_t send_buffer = 64u << 10;    // bytes that a write may leave unsent: a small TCP_NOTSENT_LOWAT
  std::size_t receive_window = 1u << 20;  // bytes of one stream in flight or unread, at first
  /// Where this is more, the window grows up to it as Linux' dynamic right sizing lets it: to twice what its reader has
  /// read in a round trip.
  std::size_t receive_window_max = 0;
  /// Anything but `none`: streams consist of segments, which are lost and sent again, and keep to a congestion window.
  /// A stream that has once been so stays so.
  CongestionControl congestion_control = CongestionControl::none;
  double loss = 0;  // probability for each segment
  /// Where this is more than 0, what the sender may send waits in front of the path instead of in the sender, and what
  /// exceeds so many bytes is lost.
  std::size_t queue_bytes = 0;

  bool operator==(const PathProperties&) const = default;
};

/// One end of a stream.
struct StreamRef {
  std::uint64_t stream = 0;
  std::uint8_t side = 0;  // 0: who opened it

  StreamRef peer() const { return {stream, static_cast<std::uint8_t>(1 - side)}; }
  /// As a connection id: unique among all ends of the simulation.
  std::uint64_t key() const { return stream * 2 + side; }
  auto operator<=>(const StreamRef&) const = default;
};

/// Who holds an end: a host's daemon, a client or a stranger. All calls come from events, none from within a call that
/// the owner makes.
class StreamOwner {
 public:
  virtual ~StreamOwner() = default;
  virtual void stream_connected(StreamRef end) = 0;
  /// Bytes, or the end of the stream, can be read.
  virtual void stream_readable(StreamRef end) = 0;
  /// There is room again after a short write.
  virtual void stream_writable(StreamRef end) = 0;
  /// The dial failed or the stream was reset: the end is gone, unread bytes with it.
  virtual void stream_closed(StreamRef end, std::string_view why) = 0;
};

/// What a host does about streams opened to it.
class StreamListener {
 public:
  virtual ~StreamListener() = default;
  /// The owner of the new end; nullptr refuses it.
  virtual StreamOwner* stream_accepted(StreamRef end, Port port, std::string_view peer) = 0;
};

class Network {
 public:
  Network(EventQueue& events, std::uint64_t seed)
      : events_(&events),
        random_(seed),
        datagrams_(events, ~seed, [this](HostIndex from, HostIndex to) { return is_blocked(from, to); }) {}
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// A host that others dial at `address`; the listener outlives the network's last event.
  HostIndex add_host(std::string name, std::string address, StreamListener& listener);

  // Paths.

  void set_default_path(const PathProperties& properties) { default_path_ = properties; }
  /// Both directions.
  void set_path(HostIndex a, HostIndex b, const PathProperties& properties);
  const PathProperties& path(HostIndex from, HostIndex to);
  /// From the next dial on, streams between the second two hosts are on the path between the first two, in the same
  /// direction: they share its capacity, queue and loss, and are cut with it.
  void share_path(HostIndex a, HostIndex b, HostIndex other_a, HostIndex other_b);
  /// The same for one direction: what goes from `other_from` to `other_to` is on the path from `from` to `to`.
  void share_way(HostIndex from, HostIndex to, HostIndex other_from, HostIndex other_to);
  /// Of what programs on a host itself have to its daemon, from the next one that dials.
  void set_local_path(const PathProperties& properties) { local_path_ = properties; }
  /// Called with all bytes as they leave in this direction, and the end that sent them.
  using Tap = std::function<void(StreamRef from, ByteView bytes)>;
  void set_tap(HostIndex from, HostIndex to, Tap tap) { wire(from, to).tap = std::move(tap); }
  /// Nothing leaves in this direction, and nobody is told; dials hang and time out.
  void set_stalled(HostIndex from, HostIndex to, bool stalled);
  /// Both directions.
  void set_cut(HostIndex a, HostIndex b, bool cut);
  /// Hosts in different groups do not reach each other; hosts in no group form one of their own.
  void partition(const std::vector<std::vector<HostIndex>>& groups);
  /// Ends partitions, stalls and cuts. Streams that they held up go on, or are reset where `reset_streams`: what a host
  /// sees that gave up retransmitting.
  void heal(bool reset_streams = false);
  bool is_blocked(HostIndex from, HostIndex to);
  /// Resets every stream between two hosts, at both ends at once.
  void reset_between(HostIndex a, HostIndex b);
  /// Resets the ends that `at` has of its streams to `other`, which hears of it only where it sends something: what a
  /// router does that has forgotten them.
  void reset_at(HostIndex at, HostIndex other);
  /// Slips bytes that nobody wrote into every open stream between the two, in this direction, behind what was written
  /// so far. Returns into how many.
  std::size_t inject(HostIndex from, HostIndex to, ByteView bytes);

  /// Beside the streams.
  DatagramNetwork& datagrams() { return datagrams_; }

  // Hosts.

  /// The host's ends are gone. Peers see a reset after the delay of their path, or, where `silent` (power failure),
  /// nothing.
  void crash(HostIndex host, bool silent);
  /// The daemon of a host is gone: dials are refused. A host that crashed silently stays silent.
  void process_ended(HostIndex host) { hosts_[host].up = false; }
  void restart(HostIndex host);

  // Streams, for their owners.

  StreamRef dial(HostIndex from, std::string_view address, StreamOwner& owner);
  /// From a program on the host itself, over a path of its own.
  StreamRef dial_local(HostIndex host, Port port, std::string peer, StreamOwner& owner);
  std::size_t write(StreamRef end, std::span<const ByteView> buffers);
  std::size_t read(StreamRef end, std::span<std::uint8_t> out);
  std::size_t readable(StreamRef end) const;
  /// Of the daemon at the other end.
  HostIndex peer_host(StreamRef end) const { return find(end.peer())->host; }
  /// As the system measures it: both ways, and what waits in front of the path.
  Duration round_trip(StreamRef end) const;
  /// The same with nothing in front of the path.
  Duration shortest_round_trip(StreamRef end) const;
  /// Written, and not read by the peer yet.
  std::size_t unacknowledged_bytes(StreamRef end) const;
  /// The peer closed and everything was read.
  bool at_end(StreamRef end) const;
  /// Gives the end up; what was written still goes out.
  void close(StreamRef end);
  /// Gives the end up at once and lets the peer see a reset.
  void abort(StreamRef end, std::string_view why);
  /// Gives the end up at once, and the peer sees nothing of it.
  void vanish(StreamRef end);

  /// Bytes that have travelled between hosts.
  std::uint64_t bytes_carried() const { return bytes_carried_; }

 private:
  static constexpr HostIndex kLocal = ~HostIndex{0};
  static constexpr std::size_t kChunkBytesMax = 64u << 10;
  static constexpr Duration kLinger = 1s;  // an end closed in order swallows what still arrives for this long
  static constexpr Duration kDialRetry = 1s;
  static constexpr int kDialAttempts = 4;

  struct Wire {
    HostIndex from = kLocal;
    HostIndex to = kLocal;
    PathProperties properties;
    bool stalled = false;
    bool cut = false;
    bool busy = false;
    Time last_arrival{};
    Time free_at{};                 // with queue_bytes: when all has left that waits in front of it
    std::deque<StreamRef> waiting;  // ends with something to send, served in turn
    Tap tap;
  };
  struct End {
    StreamOwner* owner = nullptr;  // nullptr: given up
    HostIndex host = kLocal;
    Wire* out = nullptr;
    ByteFifo send;
    ByteFifo receive;
    std::size_t in_flight = 0;  // sent and not yet read by the peer
    std::size_t window = 0;     // what the peer's has grown to; 0: it has not
    std::size_t read_by_peer = 0;
    Time measured_since{};              // what its peer reads
    std::unique_ptr<SegmentFlow> flow;  // nullptr: no congestion control, no loss
    bool established = false;
    bool waiting = false;        // in out->waiting
    bool write_blocked = false;  // the owner had a short write
    bool fin_wanted = false;
    bool fin_sent = false;
    bool fin_received = false;
    bool crashed = false;
    Time closed_at{};
  };
  struct Stream {
    End ends[2];
    std::unique_ptr<Wire> local[2];  // the stream's own path, where it is local
  };
  struct Host {
    std::string name;
    std::string address;
    StreamListener* listener = nullptr;
    bool up = true;
    bool silent = false;  // down, and does not even refuse
    std::uint32_t side = 0;
  };

  Wire& wire(HostIndex from, HostIndex to);
  bool is_blocked(const Wire& wire) const;
  Duration delay(Wire& wire);
  /// A new one, with the next number.
  std::pair<StreamRef, Stream&> add_stream();
  End* find(StreamRef end) {
    Stream* stream = stream_of(end.stream);
    return stream == nullptr ? nullptr : &stream->ends[end.side];
  }
  const End* find(StreamRef end) const {
    const Stream* stream = stream_of(end.stream);
    return stream == nullptr ? nullptr : &stream->ends[end.side];
  }
  Stream* stream_of(std::uint64_t number) const { return number < numbered_.size() ? numbered_[number] : nullptr; }
  void add_waiting(StreamRef ref, End& end);
  void pump(Wire& wire);
  void pump_all();
  std::size_t draw_chunk(std::size_t available);
  /// Sends one chunk; whether the end has more to send now.
  bool transmit(Wire& wire, StreamRef ref, End& end);
  bool transmit_segment(Wire& wire, StreamRef ref, End& end);
  void send_segment(Wire& wire, StreamRef ref, SegmentFlow& flow, SegmentRef segment);
  void segment_arrived(StreamRef from, std::uint64_t number, const SegmentRef& segment);
  void watch_timeout(StreamRef ref, SegmentFlow& flow);
  /// Bytes that the receive window lets leave now.
  static std::size_t sendable(const Wire& wire, const End& end);
  /// Takes what leaves for the first time out of the send buffer.
  void take(Wire& wire, StreamRef ref, End& end, std::size_t bytes, bool fin);
  static Duration transmission_time(const Wire& wire, std::size_t bytes);
  /// Nothing else leaves over the wire of `ref` for so long.
  void hold(Wire& wire, StreamRef ref, Duration time);
  /// Tells the owner if there is room again after a short write.
  void call_writer(const Wire& wire, StreamRef ref, End& end);
  /// The peer of `sender` has read so many bytes.
  void grow_window(End& sender, const Wire& back, std::size_t bytes);
  void arrive(StreamRef to, std::vector<std::uint8_t> chunk, bool fin);
  void arrive_at_closed(StreamRef to, End& end, std::size_t bytes);
  void attempt_dial(StreamRef ref, HostIndex target, int attempt);
  void accept(StreamRef ref, HostIndex target, Port port, std::string_view peer);
  /// `stream_closed` for the end's owner after `after`, if it is still there by then.
  void fail_end(StreamRef ref, Duration after, std::string_view why);
  void forget_if_done(std::uint64_t stream);

  EventQueue* events_;
  Random random_;
  DatagramNetwork datagrams_;
  PathProperties default_path_;
  PathProperties local_path_{0, 10us, 5us, 256u << 10, 256u << 10};
  std::vector<Host> hosts_;
  std::map<std::pair<HostIndex, HostIndex>, Wire> wires_;
  std::map<std::pair<HostIndex, HostIndex>, std::pair<HostIndex, HostIndex>> shared_;  // whose wire it is
  std::map<std::uint64_t, Stream> streams_;
  std::vector<Stream*> numbered_{nullptr};  // by their numbers, from 1 on; nullptr: gone
  std::uint64_t bytes_carried_ = 0;
};

}  // namespace spindled::sim
