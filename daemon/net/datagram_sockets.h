// The sockets for datagrams of this daemon: one beside each address at which it listens for links.
#pragma once

#include <asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/net/datagram_socket.h"

namespace spindled {

class DatagramSockets {
 public:
  /// Called with what has come, up to a bound each time.
  using Received = std::function<void(std::span<const IncomingDatagram>)>;

  DatagramSockets(asio::io_context& io, Received received) : io_(io), received_(std::move(received)) {}
  DatagramSockets(const DatagramSockets&) = delete;
  DatagramSockets& operator=(const DatagramSockets&) = delete;

  Result<void> add(const Address& address);
  /// Begins to wait for datagrams.
  void start();
  void close() { sockets_.clear(); }

  /// Whether there may be something to read: then nothing wakes the thread, which is to call `read_ready`.
  bool is_ready() const;
  /// Reads once from each socket that has something. Where a read takes as many messages as it can there may be more,
  /// which are for the next call.
  void read_ready();

  /// Of the socket that goes with a connection, which is open; 0: there is none.
  std::uint16_t port_of(int connection) const;
  /// Of that port at the other end of the connection.
  std::optional<DatagramAddress> address_of(int connection, std::uint16_t port) const;
  std::size_t send(std::span<const OutgoingDatagram> datagrams);
  DatagramCounts counts() const;

 private:
  struct Socket {
    Socket(asio::io_context& io, DatagramSocket bound) : socket(std::move(bound)), readiness(io, socket.descriptor()) {}
    ~Socket() { readiness.release(); }

    DatagramSocket socket;
    asio::posix::stream_descriptor readiness;  // of `socket`, which owns the descriptor
    bool is_ready = false;
  };

  /// The one that has the connection's own address, or else any of its family.
  const Socket* find(int connection) const;
  static void wait(Socket& socket);

  asio::io_context& io_;
  Received received_;
  std::vector<std::unique_ptr<Socket>> sockets_;  // by DatagramAddress::socket
  std::optional<DatagramReader> reader_;
};

}  // namespace spindled
