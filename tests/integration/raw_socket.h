// A connection whose bytes a test chooses itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libclient/common/bytes.h"
#include "libclient/src/socket.h"

namespace spindle::test {

using Bytes = std::vector<std::uint8_t>;

struct RawFrame {
  std::uint8_t type = 0;
  Bytes body;
};

Bytes make_frame(std::uint8_t type, spindle::ByteView body);
Bytes make_frame(std::uint8_t type, std::size_t bytes);
/// A head that promises more than there is.
Bytes make_frame_head(std::uint8_t type, std::size_t bytes);
/// What a daemon `name` of the cluster "spindle" says first on a link.
Bytes make_link_hello(const std::string& name);
Bytes join(const Bytes& first, const Bytes& second);
Bytes random_bytes(std::size_t count, std::uint32_t seed);

class RawSocket {
 public:
  /// "unix:PATH" or "HOST:PORT"; throws where nobody answers.
  explicit RawSocket(const std::string& address);

  /// Writes as much as the peer takes before it hangs up. Throws where it takes nothing for too long.
  void write(const Bytes& bytes);
  /// Waits for bytes; how many came, 0 where the peer has hung up. Throws where it does neither for too long.
  std::size_t read_some(std::span<std::uint8_t> space);
  /// The next frame; nothing where the peer has hung up. Throws where it does neither for too long.
  std::optional<RawFrame> read_frame();
  /// Reads to the end and returns the last whole frame.
  std::optional<RawFrame> read_last_frame();

 private:
  bool read_all(std::uint8_t* at, std::size_t size);

  Descriptor socket_;
};

/// What a close frame says.
struct CloseReason {
  std::uint16_t code = 0;
  std::string text;
};
/// Reads to the end; the reason that the last frame gives on a connection to one of the daemon's ports. Code 0 where
/// there is none.
CloseReason read_client_close(RawSocket& socket);
CloseReason read_link_close(RawSocket& socket);
CloseReason read_admin_close(RawSocket& socket);

}  // namespace spindle::test
