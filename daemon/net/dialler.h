// Opens connections to other daemons: name resolution, then all addresses in turn, again and again.
//
// The kernel repeats the packet that asks for a connection after 1 s, 3 s and 7 s. While a network is cut they are
// lost, and when it is whole again nothing happens for as long. So a new attempt starts beside those that wait for an
// answer, every 250 ms, and whichever connects first is taken. The first one at each address stays to the end, for
// peers whose round trip is long; of the others there are a few at a time.
#pragma once

#include <asio/ip/tcp.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/net/socket.h"

namespace spindled {

class Dialler {
 public:
  /// The outcome, from a handler of Asio and never from within `dial`.
  using Done = std::function<void(ConnectionId id, Result<FileDescriptor> socket)>;

  Dialler(asio::io_context& io, Done done) : io_(io), resolver_(io), done_(std::move(done)) {}

  /// `address` is "host:port".
  void dial(ConnectionId id, std::string_view address);
  /// Forgets the attempt, if there is one; its outcome is not told.
  bool cancel(ConnectionId id) { return attempts_.erase(id) != 0; }
  /// How many names the system is looking up now, which cannot be interrupted.
  std::size_t lookups() const { return waiting_.size(); }

 private:
  /// A socket that asks one address for a connection.
  struct Probe {
    std::uint64_t number = 0;
    SocketAddress address;
    bool patient = false;  // the first one at its address
    std::chrono::steady_clock::time_point started;
    asio::posix::stream_descriptor socket;
  };
  struct Attempt {
    explicit Attempt(asio::io_context& io) : timeout(io), repeat(io) {}
    std::vector<SocketAddress> addresses;  // those that have not refused
    std::size_t started = 0;               // probes; they go round the addresses
    std::size_t patient_left = 0;          // addresses that have not been tried
    std::vector<Probe> probes;             // those that wait, oldest first
    asio::steady_timer timeout;
    asio::steady_timer repeat;
    std::string failure = "the name has no address";
  };

  void resolve(ConnectionId id, const Address& address);
  void begin(ConnectionId id, std::vector<SocketAddress> addresses);
  /// Starts another probe, or finishes where no address is left.
  void probe(ConnectionId id);
  /// Why the address cannot be asked; 0 where it is being asked.
  int start_probe(ConnectionId id, Attempt& attempt, const SocketAddress& address);
  void check_connected(ConnectionId id, std::uint64_t number);
  static void give_up_address(Attempt& attempt, const SocketAddress& address);
  static void drop_probes(Attempt& attempt, const SocketAddress& address);
  void finish(ConnectionId id, Result<FileDescriptor> outcome);
  Attempt* find(ConnectionId id);

  asio::io_context& io_;
  asio::ip::tcp::resolver resolver_;
  const Done done_;
  std::map<ConnectionId, std::unique_ptr<Attempt>> attempts_;  // handlers look them up, as they may be gone
  /// Who waits for a name. Asio looks one up after the other, so that each is asked for once at a time: otherwise one
  /// whose server does not answer would hold up all others for good.
  std::map<std::string, std::vector<ConnectionId>> waiting_;
  std::uint64_t last_probe_ = 0;
};

}  // namespace spindled
