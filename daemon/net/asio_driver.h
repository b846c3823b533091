// Runs one Node on real sockets, real time and signals, on the thread that calls `run`.
//
// One turn: wait until something is ready; run what is ready; read from every connection that has bytes, each up to a
// bound; then let the node write out what all that has led to, with one gathered write a connection.
#pragma once

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "daemon/config/daemon_config.h"
#include "daemon/net/dialler.h"
#include "daemon/net/listener.h"
#include "daemon/net/socket_connection.h"
#include "daemon/node/node.h"

namespace spindled {

class AsioDriver final : public Driver {
 public:
  /// `hang_up` is called on SIGHUP, and may call `reconfigure`. SIGTERM and SIGINT are taken from here on.
  AsioDriver(LogSink& sink, std::function<void()> hang_up);
  ~AsioDriver() override;

  /// Binds every address; all or none. The error names the address.
  Result<void> listen(const DaemonConfig& config);
  /// Starts `node`, which outlives `run`, and begins to accept.
  void start(Node& node);
  /// The node goes by this from now on (Node::reconfigure).
  void reconfigure(const NodeConfig& config) { node_->reconfigure(now(), config); }
  /// Returns when the node has stopped, after SIGTERM or SIGINT: within two seconds, or at once on a second signal.
  void run();

  /// Closes the listening sockets and removes their files, after `run`. The destructor does the same.
  void stop_listening() { listeners_.clear(); }

  /// The addresses that are bound for `port`, separated by spaces.
  std::string addresses(Port port) const;
  /// Whether a thread of Asio is inside the system's name resolution, which destroying this would wait for.
  bool is_resolving() const { return dialler_.is_resolving(); }

  // Driver
  ConnectionId dial(std::string_view address) override;
  std::size_t write(ConnectionId connection, std::span<const ByteView> buffers) override;
  void close(ConnectionId connection) override;
  void set_reading(ConnectionId connection, bool on) override;
  Duration shortest_round_trip(ConnectionId connection) override;
  void wake_at(Time deadline) override;

 private:
  struct Lingering {
    Time until;
    ConnectionId id;
  };

  Result<void> add_tcp_listener(Port port, std::string_view what, const std::string& address);
  Result<void> add_unix_listener(Port port, std::string_view what, const std::string& path,
                                 UnixSocketFile::Access access);
  void accepted(FileDescriptor socket, Port port, const std::string& peer);
  void dialled(ConnectionId id, Result<FileDescriptor> socket);

  void turn();
  void read_all();
  std::size_t read_from(SocketConnection& connection);
  /// Ends a connection whose first bytes were meant for another port of this daemon. Whether it did.
  bool refuse_at_wrong_port(SocketConnection& connection, ByteView first_bytes);
  void throw_away(SocketConnection& connection);
  void wait_readable(SocketConnection& connection);
  void wait_writable(SocketConnection& connection);
  void read_soon(SocketConnection& connection);
  /// The connection is over, and the node hears of it.
  void lose(SocketConnection& connection, const std::string& why);
  void bury(SocketConnection& connection);
  void end_lingering();

  void wait_for_signal();
  void signalled(int number);
  bool is_finished() const;
  void arm_timer();
  /// The time of this turn; a turn that nobody asks for it has given the node nothing.
  Time now();

  SocketConnection& add(ConnectionId id, FileDescriptor socket, Port port);
  SocketConnection* find(ConnectionId id);
  ConnectionId next_id() { return ConnectionId{++last_id_}; }

  LogSink& sink_;
  Log log_;
  asio::io_context io_;
  std::function<void()> hang_up_;
  asio::signal_set signals_;
  Dialler dialler_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  Node* node_ = nullptr;
  std::string daemon_name_;

  // Handlers name a connection by its id and look it up here: it may be gone when they run.
  std::unordered_map<std::uint64_t, std::unique_ptr<SocketConnection>> connections_;
  std::uint64_t last_id_ = 0;
  std::vector<ConnectionId> to_read_;      // may have bytes; not in Asio's hands
  std::vector<ConnectionId> being_read_;   // the list that this turn works on
  std::vector<ConnectionId> buried_;       // to be destroyed at the end of the turn
  std::deque<Lingering> lingering_;        // by time
  std::vector<std::uint8_t> thrown_away_;  // where bytes of lingering connections go
  asio::steady_timer linger_timer_;
  bool linger_timer_set_ = false;

  bool time_is_known_ = false;
  Time now_{};
  asio::steady_timer timer_;
  Time deadline_ = kNever;   // the node's
  Time timer_set_ = kNever;  // may be earlier than the deadline, between turns never later

  asio::steady_timer stop_timer_;
  bool stopping_ = false;
  bool out_of_patience_ = false;
};

}  // namespace spindled
