// Three daemons in a line and their clients, joined by nothing but memory.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/micro/instructions/meter.h"
#include "bench/micro/surroundings.h"
#include "daemon/node/node.h"
#include "libclient/protocol/client_engine.h"

namespace spindled::bench {

/// Takes whatever the node writes, and keeps it for who is at the other end.
class WireDriver final : public Driver {
 public:
  explicit WireDriver(Meter& meter) : meter_(meter) {}

  ConnectionId dial(std::string_view address) override;
  std::size_t write(ConnectionId connection, std::span<const ByteView> buffers) override;
  void close(ConnectionId) override { SPINDLE_CHECK(false); }
  void set_reading(ConnectionId, bool) override {}
  void wake_at(Time deadline) override { deadline_ = deadline; }

  ConnectionId new_connection() { return ConnectionId{++last_connection_}; }
  Time deadline() const { return deadline_; }
  /// Whether it has come, and is over then.
  bool take_due(Time now) {
    if (deadline_ > now) return false;
    deadline_ = kNever;
    return true;
  }

  struct Dial {
    ConnectionId connection;
    std::string address;
  };
  std::vector<Dial> dials;
  std::map<ConnectionId, std::vector<std::uint8_t>> written;

 private:
  Meter& meter_;
  std::uint64_t last_connection_ = 0;
  Time deadline_ = kNever;
};

/// What of a round is counted.
struct CountedParts {
  bool writer = false;            // the client library of the one that sends
  std::array<bool, 3> daemons{};  // the first has the writer, the last the readers
  bool readers = false;           // the client library of those who receive
};

/// Daemons a, b and c; links a-b and b-c, so that b orders. One client at a sends to a group whose members are clients
/// at c.
class DaemonLine {
 public:
  static constexpr std::size_t kBatch = 32;  // messages that the writer sends in one round

  DaemonLine(Meter& meter, const CountedParts& counted, std::size_t readers, std::size_t bytes,
             spindle::Service service);

  /// The writer sends a batch, and every reader gets it.
  void round();

 private:
  struct Daemon {
    Daemon(Meter& meter, NodeConfig config, LogSink& sink) : driver(meter), node(std::move(config), driver, sink, 1) {}
    WireDriver driver;
    Node node;
  };
  struct Link {
    std::size_t from, to;  // daemons
    ConnectionId at_from, at_to;
  };
  struct Client {
    std::size_t daemon;
    ConnectionId connection;
    spindle::protocol::ClientEngine engine;
  };

  NodeConfig config(std::size_t daemon) const;
  Client& open_client(std::size_t daemon, const std::string& name);
  void pass_time(Duration duration);
  void send(std::size_t messages);
  /// Each daemon once, `step` later: first its clients' bytes go to it, then those of its links, and its turn ends.
  void turn(Duration step);
  void answer_dials(std::size_t daemon);
  void read_links(std::size_t daemon);
  void read_clients(std::size_t daemon);
  void put(std::size_t daemon, ConnectionId connection, std::vector<std::uint8_t>& bytes);
  void give_readers();
  /// Runs `work`, counted where that daemon is.
  template <typename Work>
  void at(std::size_t daemon, Work&& work) {
    if (counted_.daemons[daemon]) return meter_.counted(work);
    work();
  }

  Meter& meter_;
  const CountedParts counted_;
  const spindle::Service service_;
  const std::vector<std::uint8_t> payload_;
  Silence silence_;
  Time now_{Duration(1'000'000'000)};
  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::deque<Link> links_;
  std::deque<Client> clients_;
  Client* writer_ = nullptr;
  std::size_t received_ = 0;  // messages, at all readers
};

}  // namespace spindled::bench
