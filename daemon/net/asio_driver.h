// Runs one Node on real sockets, real time and signals, on the thread that calls `run`.
//
// One turn: wait until something is ready, and see what is; accept connections and read datagrams, and read from every
// connection that has bytes, all of these up to bounds; then let the node write out what all that has led to, with one
// gathered write a connection.
#pragma once

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "daemon/config/daemon_config.h"
#include "daemon/net/datagram_sockets.h"
#include "daemon/net/dialler.h"
#include "daemon/net/listener.h"
#include "daemon/net/pending_handshakes.h"
#include "daemon/net/protection.h"
#include "daemon/net/socket_connection.h"
#include "daemon/net/tokens.h"
#include "daemon/node/node.h"

namespace spindled {

class AsioDriver final : public Driver {
 public:
  /// `hang_up` is called on SIGHUP, and may call `reconfigure`. SIGTERM and SIGINT are taken from here on.
  AsioDriver(LogSink& sink, std::function<void()> hang_up);
  ~AsioDriver() override;

  /// Connections that begin from now on are protected by this. Those whose certificate it calls revoked end. Whether
  /// links are protected at all is settled by `listen`.
  void protect(Protection protection);
  /// Clients that begin from now on are held to these. Connections of clients whose token is none of them end. Whether
  /// a client may come by TLS without a certificate is a matter of `protect`.
  void set_tokens(const std::vector<TokenConfig>& tokens);
  /// `look` is called once a minute while this runs, and may call `protect`.
  void watch_certificates(std::function<void()> look);
  /// Binds every address; all or none. The error names the address.
  Result<void> listen(const DaemonConfig& config);
  /// Starts `node`, which outlives `run`, and begins to accept.
  void start(Node& node);
  /// The node goes by this from now on (Node::reconfigure).
  void reconfigure(const NodeConfig& config) { node_->reconfigure(now(), config); }
  /// Returns when the node has stopped, after SIGTERM or SIGINT: within two seconds and the time that clients have to
  /// go, or at once on a second signal.
  void run();

  /// Closes the listening sockets and removes their files, after `run`. The destructor does the same.
  void stop_listening() {
    listeners_.clear();
    datagram_sockets_.close();
  }

  /// The addresses that are bound for `port`, separated by spaces.
  std::string addresses(Port port) const;
  /// Whether another thread is at something that destroying this would wait for: the system's name resolution, or what
  /// `run_beside` was given.
  bool is_held_up() const { return dialler_.lookups() != 0 || is_beside_busy_; }

  /// What `run_beside` is to do, and what is done with the outcome.
  using Finish = std::function<void()>;
  using Work = std::function<Finish()>;
  /// Has `work` done by a thread of its own, as it may take long. What it returns is called on the driver's thread as
  /// long as the driver runs. One at a time.
  void run_beside(Work work);

  // Driver
  ConnectionId dial(std::string_view address) override;
  std::size_t write(ConnectionId connection, std::span<const ByteView> buffers) override;
  void close(ConnectionId connection) override;
  void set_reading(ConnectionId connection, bool on) override;
  Duration shortest_round_trip(ConnectionId connection) override;
  Duration round_trip(ConnectionId connection) override;
  std::size_t unacknowledged_bytes(ConnectionId connection) override;
  std::size_t memory_bytes() const override;
  HandshakeCounts handshakes() const override { return handshakes_; }
  Result<std::string> identify(ConnectionId connection, std::string_view token) override;
  std::optional<Secret> draw_secret() override;
  std::optional<Digest> sha256(ByteView bytes) const override;
  std::uint16_t datagram_port(ConnectionId connection) override;
  std::optional<DatagramAddress> datagram_address(ConnectionId connection, std::uint16_t port) override;
  std::unique_ptr<DatagramCipher> datagram_cipher(ConnectionId connection) override;
  std::size_t send_datagrams(std::span<const OutgoingDatagram> datagrams) override;
  DatagramCounts datagram_counts() const override { return datagram_sockets_.counts(); }
  void wake_at(Time deadline) override;

 private:
  struct Lingering {
    Time until;
    ConnectionId id;
  };

  Result<void> add_tcp_listener(Port port, std::string_view what, const std::string& address);
  /// Beside the last listener, on the same port. Where that cannot be had the daemon goes without.
  void add_datagram_socket();
  Result<void> add_unix_listener(Port port, std::string_view what, const std::string& path,
                                 UnixSocketFile::Access access);
  void accepted(FileDescriptor socket, Port port, const std::string& peer, bool is_protected);
  void dialled(ConnectionId id, Result<FileDescriptor> socket);
  /// The node hears of a connection that is ready to be used.
  void open_accepted(SocketConnection& connection, const std::string& peer);
  void open_dialled(SocketConnection& connection);

  /// Of connections that are accepted there.
  const std::shared_ptr<const spindle::TlsContext>& context_of(Port port) const;
  void protect(SocketConnection& connection, const std::shared_ptr<const spindle::TlsContext>& context);
  void end_protection(SocketConnection& connection);
  void start_handshakes(Port port);
  /// Goes on with those of which there is something new, for a part of the turn.
  void shake_hands();
  void shake_hands(SocketConnection& connection);
  void handshake_done(SocketConnection& connection);
  /// Whether the peer's certificate is in the lists that count now.
  bool is_revoked(const SocketConnection& connection) const;
  void handshake_failed(SocketConnection& connection, const std::string& why);
  /// One that was still to send a token has sent it, or is gone: another may come in its place.
  void leave_line(SocketConnection& connection);
  void watch_handshakes();
  void end_overdue_handshakes();
  void arm_certificate_timer();
  bool has_handshakes_to_do() const;

  void turn();
  bool is_left_over() const;
  void read_all();
  std::size_t read_from(SocketConnection& connection);
  /// Ends a connection whose first bytes were meant for another port of this daemon. Whether it did.
  bool refuse_at_wrong_port(SocketConnection& connection, ByteView first_bytes);
  void throw_away(SocketConnection& connection);
  void wait_readable(SocketConnection& connection);
  void wait_writable(SocketConnection& connection);
  void read_soon(SocketConnection& connection);
  /// The connection is over, and the node hears of it.
  void lose(SocketConnection& connection, const IoResult& failure);
  void lose(SocketConnection& connection, const std::string& why);
  /// The peer is to see the end of what was written before the connection goes.
  void linger(SocketConnection& connection);
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
  DatagramSockets datagram_sockets_;
  Node* node_ = nullptr;
  std::string daemon_name_;

  // Handlers name a connection by its id and look it up here: it may be gone when they run.
  std::unordered_map<std::uint64_t, std::unique_ptr<SocketConnection>> connections_;
  std::uint64_t last_id_ = 0;
  Protection protection_;
  Tokens tokens_;
  std::size_t protected_ = 0;                  // connections that are
  std::size_t unsent_ = 0;                     // bytes of those that wait to be written
  PendingHandshakes pending_;                  // of accepted connections
  std::deque<ConnectionId> to_shake_[kPorts];  // handshakes of which there may be something new
  HandshakeCounts handshakes_;
  asio::steady_timer handshake_timer_;
  bool handshake_timer_set_ = false;
  std::vector<ConnectionId> overdue_;  // that are yet to be ended
  std::function<void()> look_at_certificates_;
  asio::steady_timer certificate_timer_;
  std::thread beside_;
  bool is_beside_busy_ = false;

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
