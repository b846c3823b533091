// One open connection, as the driver keeps it.
#pragma once

#include <asio/posix/stream_descriptor.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/driver.h"
#include "daemon/net/socket.h"
#include "daemon/net/unsent_mark.h"
#include "libclient/io/byte_stream.h"
#include "libclient/tls/tls_stream.h"

namespace spindled {

using spindle::IoResult;

/// Readiness comes from Asio, which keeps the descriptor in its epoll set; the bytes are moved by a ByteStream,
/// straight from and to the buffers of the node.
class SocketConnection {
 public:
  enum class State : unsigned char {
    handshaking,  // of TLS; the node does not know of the connection, or dials it
    open,
    lingering,  // closed by the node; what the peer still sends is thrown away so that the last words reach it
    gone,       // to be destroyed at the end of the turn
  };

  SocketConnection(asio::io_context& io, ConnectionId connection, FileDescriptor socket, Port at);

  /// From now on by TLS; nothing has been read or written.
  void protect(std::shared_ptr<const spindle::TlsContext> context, spindle::WallTime now);
  /// Goes on with the handshake as far as that goes without waiting; `is_established` when it is done.
  IoResult shake_hands();
  bool is_established() const { return stream_->is_established(); }
  bool is_protected() const { return tls_ != nullptr; }
  /// By keys of its own; null where it is not protected, or not established.
  std::unique_ptr<DatagramCipher> datagram_cipher() const;
  int descriptor() { return descriptor_.native_handle(); }
  /// By which the peer has proved its identity; nothing without TLS.
  std::optional<spindle::CertificateRecord> certificate() const;

  /// Bytes may come together with a failure: they lay before it.
  IoResult read(std::span<std::uint8_t> space);
  /// Reads what nobody wants any more.
  IoResult discard(std::span<std::uint8_t> space);
  /// Takes from the front of `buffers`; fewer bytes than given and no failure means that there is no more room. A link
  /// says so early, see UnsentMark.
  IoResult write(Time now, std::span<const ByteView> buffers);
  /// Taken by `write`, or brought about by a read, and not yet by the socket: `flush` once that is writable.
  std::size_t unsent() const { return stream_->unsent(); }
  IoResult flush() { return stream_->flush(); }
  /// Why the connection is over, for people to read.
  std::string reason_of(const IoResult& result) const;
  Duration shortest_round_trip();
  Duration round_trip();
  std::size_t unacknowledged_bytes();
  std::vector<std::string> identities() const { return stream_->identities(); }
  /// Whether nobody else can read what goes over it.
  bool is_unix() const { return is_unix_; }
  bool is_private() const { return tls_ != nullptr || is_unix_; }
  /// There is room again.
  void drained(Time now);

  template <typename Handler>
  void wait_readable(Handler handler) {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, std::move(handler));
  }
  template <typename Handler>
  void wait_writable(Handler handler) {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_write, std::move(handler));
  }

  /// The peer sees the end of the stream behind what was written.
  void finish_writing();
  /// Nothing is read or written any more: the memory that TLS takes is given back, once all has been sent.
  void end_protection();
  void close();

  const ConnectionId id;
  const Port port;  // of this daemon; that of a link for one that it dialled
  State state = State::open;
  bool reading = true;        // as the node wants it
  bool is_new = false;        // accepted, and nothing has been read yet
  bool in_read_list = false;  // of the driver
  bool waits_readable = false;
  bool waits_writable = false;
  bool is_unproved = false;        // by TLS, but counts as one whose handshake is not done: a token is still to come
  std::string token;               // that it has sent: Tokens::Known::digest
  std::string write_failure;       // why writing failed; empty while it works
  std::size_t thrown_away = 0;     // bytes, while lingering
  std::size_t counted_unsent = 0;  // in what the driver holds

 private:
  IoResult write_on_link(Time now, std::span<const ByteView> buffers);
  std::size_t count_unsent();

  const bool is_unix_;
  UnsentMark mark_;                 // of a link
  std::size_t unsent_at_most_ = 0;  // of it, here and in the kernel; what the kernel has is costly to know
  asio::posix::stream_descriptor descriptor_;
  std::unique_ptr<spindle::ByteStream> stream_;  // on `descriptor_`
  const spindle::TlsStream* tls_ = nullptr;      // it, where that is what it is
};

}  // namespace spindled
