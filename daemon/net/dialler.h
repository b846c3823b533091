// Opens connections to other daemons: name resolution, then one address after the other.
#pragma once

#include <asio/ip/tcp.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
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
  /// Whether the system is looking up a name now, which cannot be interrupted.
  bool is_resolving() const { return resolving_ != 0; }

 private:
  struct Attempt {
    explicit Attempt(asio::io_context& io) : socket(io), timeout(io) {}
    std::vector<SocketAddress> candidates;
    std::size_t next = 0;  // of them to be tried
    asio::posix::stream_descriptor socket;
    asio::steady_timer timeout;
    std::string failure = "the name has no address";
  };

  void resolve(ConnectionId id, const Address& address);
  void try_next(ConnectionId id);
  /// Whether the outcome of this candidate is open.
  bool begin_connect(ConnectionId id, Attempt& attempt, const SocketAddress& candidate);
  void check_connected(ConnectionId id);
  void finish(ConnectionId id, Result<FileDescriptor> outcome);
  Attempt* find(ConnectionId id);

  asio::io_context& io_;
  asio::ip::tcp::resolver resolver_;
  const Done done_;
  std::map<ConnectionId, std::unique_ptr<Attempt>> attempts_;  // handlers look them up, as they may be gone
  std::size_t resolving_ = 0;
};

}  // namespace spindled
