// Two ends of a protected connection, and between them streams of bytes that the test cuts.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libclient/tls/tls_engine.h"
#include "tests/support/tls_certificates.h"

namespace spindle::test {

using State = TlsEngine::State;
using SteadyTime = std::chrono::steady_clock::time_point;
using Kind = CertificateName::Kind;

inline constexpr TlsRole kLinkAccepting{TlsPort::link, TlsSide::accepting};
inline constexpr TlsRole kLinkDialling{TlsPort::link, TlsSide::dialling};
inline constexpr TlsRole kClientAccepting{TlsPort::client, TlsSide::accepting};
inline constexpr TlsRole kClientDialling{TlsPort::client, TlsSide::dialling};
inline constexpr TlsRole kAnyClientAccepting{TlsPort::client, TlsSide::accepting, false};

/// Head, type and tag of a record.
inline constexpr std::size_t kRecordOverhead = 5 + 1 + 16;

inline CertificateContents daemon_contents(const std::string& name) {
  return {.uri = to_uri({"trading", Kind::daemon, name})};
}
inline CertificateContents client_contents(const std::string& name) {
  return {.uri = to_uri({"trading", Kind::client, name}), .usage = "clientAuth"};
}

/// A context that can be made.
inline std::shared_ptr<const TlsContext> make_context(const TlsRole& role, const std::string& bundle,
                                                      const std::string& revocation_lists = {}) {
  std::string error;
  auto context = TlsContext::make(role, bundle, revocation_lists, kToday, error);
  EXPECT_NE(context, nullptr) << error;
  return context;
}

/// Has `engine` take the ciphertext at the front of `bytes`, in pieces as it has space for them. Gives how many it
/// took.
inline std::size_t feed(TlsEngine& engine, ByteView bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const std::span<std::uint8_t> space = engine.receive_space();
    const std::size_t size = std::min(space.size(), bytes.size() - taken);
    if (size == 0) break;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(taken), size, space.begin());
    engine.received(size);
    taken += size;
  }
  return taken;
}

/// Moves up to `bytes_max` of ciphertext.
inline std::size_t move_bytes(TlsEngine& from, TlsEngine& to, std::size_t bytes_max = SIZE_MAX) {
  const ByteView bytes = from.unsent();
  const std::size_t taken = feed(to, bytes.first(std::min(bytes.size(), bytes_max)));
  if (taken > 0) from.sent(taken);
  return taken;
}

inline std::string read_some(TlsEngine& engine, std::size_t bytes_max = 64u << 10, SteadyTime now = {}) {
  std::string text(bytes_max, '\0');
  text.resize(engine.read(now, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  return text;
}

inline std::size_t write_some(TlsEngine& engine, std::string_view text, SteadyTime now = {}) {
  const ByteView buffer = as_bytes(text);
  GatheredBytes bytes(std::span(&buffer, 1), text.size());
  engine.write(now, bytes);
  return bytes.taken();
}

struct TlsPair {
  TlsPair(std::shared_ptr<const TlsContext> dials, std::shared_ptr<const TlsContext> accepts,
          WallTime dialling_now = kToday, WallTime accepting_now = kToday, KeyLifetime lifetime = {})
      : dialling(std::move(dials), dialling_now, lifetime), accepting(std::move(accepts), accepting_now, lifetime) {}

  /// Until neither has anything more to say. Both have read what came; what they read is in `at_...`.
  void settle() {
    for (bool moved = true; moved;) {
      moved = settle_one(dialling, accepting, at_accepting);
      moved |= settle_one(accepting, dialling, at_dialling);
    }
  }

  static bool settle_one(TlsEngine& from, TlsEngine& to, std::string& at_to) {
    const std::size_t moved = move_bytes(from, to);
    const std::string text = read_some(to);
    at_to += text;
    return moved > 0 || !text.empty();
  }

  TlsEngine dialling, accepting;
  std::string at_dialling, at_accepting;
};

/// A link between two daemons of one cluster.
class TlsLinkTest : public testing::Test {
 protected:
  std::unique_ptr<TlsPair> make_pair(KeyLifetime lifetime = {}) {
    return std::make_unique<TlsPair>(make_context(kLinkDialling, make_bundle(authority_, daemon_contents("alpha"))),
                                     make_context(kLinkAccepting, make_bundle(authority_, daemon_contents("beta"))),
                                     kToday, kToday, lifetime);
  }
  std::unique_ptr<TlsPair> make_open_pair(KeyLifetime lifetime = {}) {
    auto pair = make_pair(lifetime);
    pair->settle();
    EXPECT_EQ(pair->dialling.state(), State::open) << pair->dialling.fault().text;
    EXPECT_EQ(pair->accepting.state(), State::open) << pair->accepting.fault().text;
    return pair;
  }

  TestAuthority authority_;
};

}  // namespace spindle::test
