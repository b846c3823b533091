// How a connection between a client and its daemon begins: `hello`, and `welcome`.
//
// Both end in options. Who does not know an option skips it, so that later versions can add some.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "libclient/common/bytes.h"

namespace spindle::protocol {

inline constexpr std::uint32_t kHelloMagic = 0x4c445053;  // "SPDL" on the wire
inline constexpr std::uint16_t kClientVersionMin = 1;
inline constexpr std::uint16_t kClientVersionMax = 1;

/// In `Hello::flags`: messages of one destination set do not wait for those of another.
inline constexpr std::uint8_t kIndependentFlowsBit = 0x01;
/// In `Hello::flags`: what the client wishes the daemon to do when it does not keep up, a spindle::SlowPolicy.
inline constexpr unsigned kSlowPolicyShift = 1;
inline constexpr std::uint8_t kSlowPolicyMask = 0x03 << kSlowPolicyShift;
/// In `Hello::flags`: the client wants to be told how many of its messages have entered the network.
inline constexpr std::uint8_t kTellTakenBit = 0x08;

/// By which a client takes its session up again: one that has lost its connection shows it to the same daemon.
struct SessionKey {
  static constexpr std::size_t kSecretBytes = 16;
  std::uint64_t session = 0;
  std::array<std::uint8_t, kSecretBytes> secret{};
  bool operator==(const SessionKey&) const = default;
};

/// The session that a client wants to take up again, and how many frames of the daemon it has got in it.
struct Resume {
  SessionKey key;
  std::uint64_t received = 0;
  bool operator==(const Resume&) const = default;
};

struct Hello {
  std::uint16_t version_min = kClientVersionMin;
  std::uint16_t version_max = kClientVersionMax;
  std::uint8_t flags = 0;  // the bits above; all others are zero
  std::string_view name;   // empty: the daemon chooses one
  /// By which the client proves who it is, libclient/common/token.h; empty: none. Of whatever form, 255 bytes at most.
  std::string_view token{};
  /// The session is to wait for the client where its connection is lost.
  bool is_resumable = false;
  /// Where the daemon knows that session no more, a new one begins.
  std::optional<Resume> resume{};
  /// The client sends something at least as often, in milliseconds; 0: it promises nothing.
  std::uint32_t keepalive_ms = 0;
  /// It goes on elsewhere, in a new session, where it is told that the daemon is `going`.
  bool moves = false;
  /// It wants to hear of bulk channels (bulk_requests.h), and may ask for what there is to ask about them.
  bool wants_channels = false;
};

/// The session can be taken up again by this key, within that time after its connection was lost.
struct Resumable {
  SessionKey key;
  std::uint32_t timeout_ms = 0;
  bool operator==(const Resumable&) const = default;
};

struct Welcome {
  std::uint16_t version = 0;
  std::string_view private_name;  // "#name#daemon"
  std::optional<Resumable> resumable{};
  /// The session that the client asked for goes on, and so many frames of the client had come in it. Both sides send
  /// what the other has not got, from there on. Nothing: this is a new session.
  std::optional<std::uint64_t> resumed{};
};

// Each `write_*` appends one frame, head included, to `out`; each `read_*` takes the bytes behind the frame head, and
// gives nothing for bytes that are not exactly one well-formed frame. The name in `hello` is for the daemon to judge,
// which answers a bad one with a reason. Views point into `body`.
void write_hello(std::vector<std::uint8_t>& out, const Hello& hello);
void write_welcome(std::vector<std::uint8_t>& out, const Welcome& welcome);
std::optional<Hello> read_hello(ByteView body);
std::optional<Welcome> read_welcome(ByteView body);

}  // namespace spindle::protocol
