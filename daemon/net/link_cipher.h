// Datagrams of a link protected by TLS.
#pragma once

#include <array>
#include <memory>

#include "daemon/base/datagram.h"

namespace spindled {

/// ChaCha20-Poly1305 (RFC 8439), which stays safe for as many datagrams as a link can have numbers, with keys that the
/// TLS of the link's connection exports (RFC 8446, section 7.5). The nonce is the exported one XOR the number of the
/// datagram, as in the records of TLS.
class LinkCipher final : public DatagramCipher {
 public:
  static constexpr char kLabel[] = "EXPERIMENTAL-spindle-datagrams";
  /// For each direction a key and a nonce; first what the side sends that has dialled.
  static constexpr std::size_t kKeyBytes = 32;
  static constexpr std::size_t kNonceBytes = 12;
  using Keys = std::array<std::uint8_t, 2 * (kKeyBytes + kNonceBytes)>;

  LinkCipher(const Keys& keys, bool has_dialled);
  ~LinkCipher() override;

  void seal(std::uint64_t number, ByteView head, std::span<std::uint8_t> body) override;
  bool open(std::uint64_t number, ByteView head, std::span<std::uint8_t> body) override;

 private:
  struct Direction;

  std::unique_ptr<Direction> out_;
  std::unique_ptr<Direction> in_;
};

}  // namespace spindled
