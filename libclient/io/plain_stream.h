// Bytes as they are, on a TCP connection or a Unix socket.
#pragma once

#include "libclient/io/byte_stream.h"

namespace spindle {

class PlainStream final : public ByteStream {
 public:
  /// `socket` stays open as long as this is used.
  explicit PlainStream(int socket) : socket_(socket) {}

  bool is_established() const override { return true; }
  IoResult read(std::span<std::uint8_t> space) override;
  IoResult write(std::span<const std::span<const std::uint8_t>> buffers, std::size_t bytes_max) override;
  std::size_t unsent() const override { return 0; }
  IoResult flush() override { return {}; }
  void finish_writing() override;
  void shut_down() override;
  /// The user at the other end of a Unix socket, and its groups.
  std::vector<std::string> identities() const override;
  std::string protection_failure() const override { return {}; }

 private:
  int socket_;
};

}  // namespace spindle
