// A UDP socket: many datagrams a system call, and many of one size to one place as one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/datagram.h"
#include "daemon/base/result.h"
#include "daemon/net/socket.h"

namespace spindled {

/// `socket` is what DatagramAddress has.
DatagramAddress to_datagram_address(const SocketAddress& address, std::uint16_t socket);

/// Never waits, and never has a datagram cut in pieces: who learns of a path that takes less, by a forged message, say,
/// changes nothing here.
///
/// Datagrams that follow each other, go to the same address and are of one size (the last may be shorter) are given to
/// the kernel as one, which cuts it up again as late as it can (GSO). What came as such may be read as such (GRO).
class DatagramSocket {
 public:
  /// `number` is DatagramAddress::socket.
  static Result<DatagramSocket> bind(const Address& address, std::uint16_t number);
  DatagramSocket(DatagramSocket&& other) noexcept;
  ~DatagramSocket();

  int descriptor() const { return socket_.get(); }
  const SocketAddress& bound() const { return bound_; }
  std::uint16_t port() const;

  /// How many were taken, from the front.
  std::size_t send(std::span<const OutgoingDatagram> datagrams);
  /// From now on each datagram is a message of its own.
  void stop_segmenting() { is_segmenting_ = false; }
  const DatagramCounts& counts() const;

 private:
  struct Batch;

  DatagramSocket(FileDescriptor socket, std::uint16_t number);
  std::size_t fill(Batch& batch, std::span<const OutgoingDatagram> datagrams) const;
  /// How many from the front are one message.
  std::size_t segments(std::span<const OutgoingDatagram> datagrams) const;

  FileDescriptor socket_;
  SocketAddress bound_;
  std::uint16_t number_;
  bool is_segmenting_ = false;
  mutable DatagramCounts counts_;
  std::unique_ptr<Batch> batch_;
};

/// Where datagrams are read to. All sockets of a thread can share one.
class DatagramReader {
 public:
  /// Messages of one system call.
  static constexpr std::size_t kMessages = 32;

  struct Batch {
    std::span<const IncomingDatagram> datagrams;
    std::size_t messages = 0;  // that they came in; kMessages: there may be more
  };

  DatagramReader();
  ~DatagramReader();
  /// What has come to `socket`, up to a bound; valid until the next call. `number` is DatagramAddress::socket.
  Batch read(int socket, std::uint16_t number);

 private:
  struct Messages;

  std::unique_ptr<Messages> messages_;
  std::vector<IncomingDatagram> datagrams_;
};

}  // namespace spindled
