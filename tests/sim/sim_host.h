// One simulated host: a daemon, and the driver that runs it on the virtual clock.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/node/node.h"
#include "tests/sim/daemon_recorder.h"
#include "tests/sim/network.h"
#include "tests/sim/peer_lies.h"
#include "tests/sim/peer_watch.h"
#include "tests/sim/sim_log.h"
#include "tests/sim/trace.h"

namespace spindled::sim {

/// What all parts of a simulation share.
struct World {
  EventQueue& events;
  Network& network;
  Trace& trace;
  SimLog& log;
  MemberLists& member_lists;
  bool keep_histories = true;
};

/// How the incarnations of a daemon's lives follow each other.
enum class Incarnations : std::uint8_t { rising, falling, drawn, equal };
inline constexpr std::size_t kIncarnations = 4;

/// Inputs gather for a drawn while, as they do for a process that is not scheduled at once, and are then handled in one
/// turn of the node.
class SimHost final : private Driver, private StreamOwner, private StreamListener, private DatagramReceiver {
 public:
  /// `config.name` and `address` are unique; the incarnation in `config` is drawn anew at each start.
  SimHost(World world, NodeConfig config, std::string address, std::uint64_t seed);
  ~SimHost() override;
  SimHost(const SimHost&) = delete;
  SimHost& operator=(const SimHost&) = delete;

  /// Starts the daemon; not while it runs. Each start is a new incarnation.
  void start();
  /// Tells the daemon to stop; it is gone once it says so, or two seconds after it has waited for its
  /// clients to go.
  void stop();
  /// The process is killed: peers and clients see their connections reset. `silent`: the host lost power, nobody is
  /// told.
  void crash(bool silent = false);
  /// A stalled process: inputs wait, the clock goes on.
  void pause();
  void resume();

  bool is_running() const { return node_ != nullptr; }
  bool is_stopping() const { return stopping_; }
  bool is_paused() const { return paused_; }
  /// Only while running.
  const Node& node() const { return *node_; }
  const std::string& name() const { return config_.name; }
  const std::string& address() const { return address_; }
  HostIndex index() const { return index_; }
  /// How the incarnations of its lives follow each other from the next start on.
  void set_incarnations(Incarnations how) { incarnations_ = how; }
  /// From its next connections on it gives peers in meshes what is wrong.
  void lie_to_peers() { lies_to_peers_ = true; }
  std::uint64_t incarnation() const { return config_.incarnation; }
  /// Another number for each life of its daemon, and for the time after each.
  std::uint64_t life() const { return life_; }
  std::uint64_t turns() const { return turns_; }
  /// How many turns of any of its lives came one behind the other that the clock alone brought about, in which the
  /// daemon did nothing, and after which it wanted the next one at once. Beyond kSpinMax a deadline stays in the past:
  /// a real daemon would take all of a processor.
  std::size_t longest_spin() const { return longest_spin_; }
  static constexpr std::size_t kSpinMax = 100;
  /// What the daemon did, life by life.
  const std::vector<checkers::DaemonHistory>& histories() const { return recorder_.lives(); }
  /// What it did as a peer in meshes, life by life.
  std::vector<checkers::PeerHistory> peers() const {
    return watch_ ? watch_->histories() : std::vector<checkers::PeerHistory>();
  }
  /// Takes effect at the next start, or with `reload`.
  NodeConfig& config() { return config_; }
  /// The daemon goes by `config` from its next turn on, as it does on SIGHUP.
  void reload();
  /// The rules that it went by, from when on.
  const std::vector<checkers::RulesInForce>& rules() const { return rules_; }
  /// Has the daemon do something in its next turn, as if it were an input.
  using Act = std::function<void(Node& node, Time now)>;
  void act(Act act);
  /// Who is at the other end of a connection that is to be accepted.
  void expect(StreamRef end, std::vector<std::string> identities);

 private:
  enum class InputKind : std::uint8_t { accepted, connected, readable, writable, closed, hang_up, datagram, act };
  struct Input {
    InputKind kind{};
    StreamRef end;
    Port port{};
    std::string text;  // the peer, or why
    DatagramAddress from{};
    std::vector<std::uint8_t> datagram{};
    Act act{};
  };
  struct Connection {
    StreamRef end;
    bool connected = false;  // the node knows that it is open
    bool reading = true;
    bool read_pending = false;  // a `readable` input waits
    std::optional<PeerLies> lies{};
  };

  static constexpr std::size_t kReadBytesPerTurn = 256u << 10;  // of one connection, so that all have their turn
  static constexpr Duration kStopPatience = 2s;
  static constexpr std::size_t kDatagramsWaitingMax = 1000;  // more are lost, as in a socket that nobody reads

  // Driver
  ConnectionId dial(std::string_view address) override;
  std::size_t write(ConnectionId connection, std::span<const ByteView> buffers) override;
  void close(ConnectionId connection) override;
  void set_reading(ConnectionId connection, bool on) override;
  Duration shortest_round_trip(ConnectionId connection) override;
  Duration round_trip(ConnectionId connection) override;
  std::size_t unacknowledged_bytes(ConnectionId connection) override;
  Result<std::string> identify(ConnectionId connection, std::string_view token) override;
  std::optional<Secret> draw_secret() override;
  std::optional<Digest> sha256(ByteView bytes) const override;
  std::uint16_t datagram_port(ConnectionId connection) override;
  std::optional<DatagramAddress> datagram_address(ConnectionId connection, std::uint16_t port) override;
  std::unique_ptr<DatagramCipher> datagram_cipher(ConnectionId connection) override;
  std::size_t send_datagrams(std::span<const OutgoingDatagram> datagrams) override;
  void wake_at(Time deadline) override;

  // DatagramReceiver
  void datagram_arrived(const DatagramAddress& from, std::vector<std::uint8_t> bytes) override;

  // StreamOwner, StreamListener
  void stream_connected(StreamRef end) override;
  void stream_readable(StreamRef end) override;
  void stream_writable(StreamRef end) override;
  void stream_closed(StreamRef end, std::string_view why) override;
  StreamOwner* stream_accepted(StreamRef end, Port port, std::string_view peer) override;

  std::size_t write_lies(Connection& connection, std::span<const ByteView> buffers);
  Time node_time() const { return world_.events.now() + clock_offset_; }
  void push(Input input);
  void push_readable(Connection& connection);
  void schedule_turn();
  Duration busy_time() const;
  void schedule_wake();
  void turn();
  void note_spin(bool is_idle);
  Peer peer_of(const Input& input);
  void note_rules();
  void handle(Time now, const Input& input);
  void read(Time now, StreamRef end);
  void end_process();
  std::uint64_t draw_incarnation();

  World world_;
  NodeConfig config_;
  std::uint64_t lives_ = 0;
  Incarnations incarnations_ = Incarnations::rising;
  std::string address_;
  Random random_;
  Random secrets_;  // of its own, so that what else is drawn does not change with them
  HostLog log_;
  HostIndex index_ = 0;
  Duration clock_offset_{};  // no two hosts' monotonic clocks agree
  DaemonRecorder recorder_;

  std::unique_ptr<Node> node_;
  std::uint64_t life_ = 0;  // counts starts; events of an earlier life are void
  bool paused_ = false;
  bool catching_up_ = false;  // the next turn is the first after a pause
  bool stopping_ = false;
  bool lies_to_peers_ = false;
  std::optional<PeerWatch> watch_;  // where it has had the mesh
  bool turn_scheduled_ = false;
  bool in_turn_ = false;
  std::uint64_t turns_ = 0;
  bool has_acted_ = false;  // in this turn
  std::size_t spin_ = 0;    // turns up to the last one, as in `longest_spin`
  std::size_t longest_spin_ = 0;
  Time deadline_ = kNever;        // asked for, on the node's clock
  Time scheduled_wake_ = kNever;  // the earliest wake event that is scheduled
  std::vector<Input> inputs_;
  std::vector<Input> handled_;         // in this turn; between turns it is empty, and keeps its room
  std::size_t datagrams_waiting_ = 0;  // in `inputs_`
  std::map<StreamRef, Connection> connections_;
  std::map<StreamRef, std::vector<std::string>> expected_;  // identities, where there are some
  std::vector<checkers::RulesInForce> rules_;
};

}  // namespace spindled::sim
