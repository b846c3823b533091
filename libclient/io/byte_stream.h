// A stream of bytes to a peer, as the daemon and the client library read and write it.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace spindle {

/// What a read or a write without waiting did.
struct IoResult {
  std::size_t bytes = 0;
  int error = 0;  // an errno, or one of these
  static constexpr int kEndOfStream = -1;
  static constexpr int kProtectionFailed = -2;  // `protection_failure` says why

  bool would_block() const { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }
  /// The stream is over.
  bool is_failure() const { return error != 0 && !would_block(); }
};

/// On a connected socket that somebody else owns and waits for: nothing here waits. What protects the bytes on their
/// way, and says who the peer is, stands behind this interface; PlainStream is the one without protection.
///
/// One thread reads, one writes at a time; both may at once. Everything but `read` and `write` may be called by both.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// Whether it is settled who the peer is, and bytes can be written. As long as it is not, the owner reads when the
  /// socket is readable, possibly into no space at all, and flushes, see `unsent`: that makes it so, or fails.
  virtual bool is_established() const = 0;
  /// Fewer bytes than `space` has, and no failure: there are no more until the socket is readable. Where all of `space`
  /// was filled there may be more although the socket is not. Bytes and a failure may come together: they lay before
  /// it.
  virtual IoResult read(std::span<std::uint8_t> space) = 0;
  /// Takes from the front of `buffers`, and no more than `bytes_max`; fewer bytes than that and no failure means that
  /// there is no more room.
  virtual IoResult write(std::span<const std::span<const std::uint8_t>> buffers, std::size_t bytes_max) = 0;
  /// Bytes for the peer that wait in here for the socket to take them; reading, too, may bring some about. As long as
  /// there are any the owner waits for the socket to be writable and calls `flush`, or writes.
  virtual std::size_t unsent() const = 0;
  /// Gives the bytes that the socket has taken.
  virtual IoResult flush() = 0;
  /// The peer sees the end of the stream behind what was written.
  virtual void finish_writing() = 0;
  /// Neither direction goes on.
  virtual void shut_down() = 0;
  /// Who the peer has proved to be, the most particular first: "uid:1000", "gid:1000", or "cert:feed".
  virtual std::vector<std::string> identities() const = 0;
  /// For people; empty as long as nothing has given kProtectionFailed.
  virtual std::string protection_failure() const = 0;
};

}  // namespace spindle
