// The sans-I/O boundary: what a Node asks of the world around it. Two drivers exist, `daemon/net` with real sockets and
// `tests/sim` with a virtual clock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "daemon/base/datagram.h"
#include "daemon/base/result.h"
#include "daemon/base/slab.h"
#include "daemon/base/time.h"

namespace spindled {

/// Names one connection for as long as the driver lives; never reused.
enum class ConnectionId : std::uint64_t {};

/// What a connection that somebody opened to this daemon is for, told by the point that it arrived at. Those of `bulk`
/// arrive at the points of links and clients, and are told by their first frame (connection_taker.h).
enum class Port : std::uint8_t { link, client, admin, bulk };
inline constexpr std::size_t kPorts = 4;

/// What came of connections that had to prove who they are before the Node hears of them.
struct HandshakeCounts {
  std::uint64_t done = 0;
  std::uint64_t refused = 0;
};

/// Implemented by the driver, called by the Node from within its `handle_*` functions. No call may call back into the
/// Node; what follows from it comes as a later input.
class Driver {
 public:
  virtual ~Driver() = default;

  /// Starts to open a link to `address` ("host:port"). The outcome comes as `handle_connected` or `handle_closed`.
  virtual ConnectionId dial(std::string_view address) = 0;

  /// Writes from the front of `buffers` what can be written without waiting; returns how many bytes were taken. Where
  /// that is fewer than given, `handle_writable` follows once there is room. A connection that fails takes nothing;
  /// `handle_closed` follows.
  virtual std::size_t write(ConnectionId connection, std::span<const ByteView> buffers) = 0;

  /// Closes once what `write` took is on its way. The Node hears of this connection no more.
  virtual void close(ConnectionId connection) = 0;

  /// Stops or resumes reading; a connection starts with reading on.
  virtual void set_reading(ConnectionId connection, bool on) = 0;

  /// The shortest round trip of lately below the connection, without the time that processes take to answer; zero where
  /// that is not known.
  virtual Duration shortest_round_trip(ConnectionId /*connection*/) { return Duration::zero(); }

  /// The same of now, smoothed: what waits on the way is in it.
  virtual Duration round_trip(ConnectionId /*connection*/) { return Duration::zero(); }

  /// Bytes written that the other end has not acknowledged; 0 where that is not known.
  virtual std::size_t unacknowledged_bytes(ConnectionId /*connection*/) { return 0; }

  /// What it holds of connections in memory, in bytes, roughly: to protect them takes more than a client does.
  virtual std::size_t memory_bytes() const { return 0; }

  virtual HandshakeCounts handshakes() const { return {}; }

  /// Who sends `token`, which may be any bytes, on a connection of Port::client, as rules name it: "token:web". Or why
  /// nobody may: token_unknown, token_expired. `Node::handle_revoked` follows where the token counts no longer.
  virtual Result<std::string> identify(ConnectionId /*connection*/, std::string_view /*token*/) {
    return fail(Errc::token_unknown);
  }

  /// Bytes that nobody can guess. Nothing: there is no source of such, and what would need them is not to be had.
  using Secret = std::array<std::uint8_t, 16>;
  virtual std::optional<Secret> draw_secret() { return std::nullopt; }

  /// SHA-256 (FIPS 180-4) of the bytes. Nothing: it is not to be had, and what it would prove counts as wrong.
  using Digest = std::array<std::uint8_t, 32>;
  virtual std::optional<Digest> sha256(ByteView /*bytes*/) const { return std::nullopt; }

  // Datagrams, beside the connections of links.

  /// The port of this host that datagrams of the peer of `connection` are to go to; 0: there is none.
  virtual std::uint16_t datagram_port(ConnectionId /*connection*/) { return 0; }
  /// Where datagrams go that are for `port` of the host at the other end of `connection`. Nothing: none can.
  virtual std::optional<DatagramAddress> datagram_address(ConnectionId /*connection*/, std::uint16_t /*port*/) {
    return std::nullopt;
  }
  /// By keys of `connection`, which is open; null where it is not protected. It may outlive the connection.
  virtual std::unique_ptr<DatagramCipher> datagram_cipher(ConnectionId /*connection*/) { return nullptr; }
  /// Sends what it can without waiting, from the front; returns how many. Those may be lost, and are never cut in
  /// pieces on their way: one that is too long for it is lost.
  virtual std::size_t send_datagrams(std::span<const OutgoingDatagram> /*datagrams*/) { return 0; }
  virtual DatagramCounts datagram_counts() const { return {}; }

  /// Call `handle_time` at `deadline` or soon after. Replaces the deadline given before; kNever for none.
  virtual void wake_at(Time deadline) = 0;
};

}  // namespace spindled
