// Datagrams between daemons, as the core and its driver speak of them.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

#include "libclient/common/bytes.h"

namespace spindled {

using spindle::ByteView;

/// What the longest datagram of a cluster may have, as UDP carries it: every network carries 1,280 bytes of IPv6, and
/// none more than 65,535.
inline constexpr std::size_t kDatagramBytesMin = 1200;
inline constexpr std::size_t kDatagramBytesMax = 65'000;

/// Where datagrams go to and come from. A value: nothing is kept of addresses beside it.
struct DatagramAddress {
  std::array<std::uint8_t, 16> host{};  // IPv6, or IPv4 as ::ffff:a.b.c.d
  std::uint32_t scope = 0;              // of a host that is local to a network
  std::uint16_t port = 0;
  std::uint16_t socket = 0;  // of this daemon, where the driver has several

  auto operator<=>(const DatagramAddress&) const = default;
};

struct OutgoingDatagram {
  DatagramAddress to;
  ByteView bytes;
};

struct IncomingDatagram {
  DatagramAddress from;
  std::span<std::uint8_t> bytes;  // which may be changed in place
};

/// What the driver's sockets do, for people.
struct DatagramCounts {
  bool is_segmenting = false;  // several datagrams go to the kernel as one (GSO)
  std::uint64_t too_long = 0;  // datagrams that the kernel did not take for their length
  std::uint64_t failed = 0;    // and for other reasons
};

/// Protects the datagrams of one link by keys that only its two ends know, another one in each direction. The number of
/// a datagram is never used twice.
class DatagramCipher {
 public:
  /// By which what is sealed is longer.
  static constexpr std::size_t kTagBytes = 16;

  virtual ~DatagramCipher() = default;
  /// Encrypts all but the last kTagBytes of `body`, which get the tag. `head` goes in the clear, and cannot be changed.
  virtual void seal(std::uint64_t number, ByteView head, std::span<std::uint8_t> body) = 0;
  /// Decrypts `body` in place; its last kTagBytes are the tag. False: it is not what the other end has sealed under
  /// that number, and what is in `body` means nothing.
  virtual bool open(std::uint64_t number, ByteView head, std::span<std::uint8_t> body) = 0;
};

}  // namespace spindled
