// What lets a client take its session up again on another connection.
#pragma once

#include "daemon/base/time.h"
#include "libclient/protocol/client_handshake.h"

namespace spindled {

/// Of one session. Both sides count the frames that have come of the other, the handshakes left out, and tell each
/// other how many they are: the client what need not be kept for it (SessionQueue), the daemon likewise. On another
/// connection each goes on from what the other has got.
class Resumption {
 public:
  explicit Resumption(spindle::protocol::SessionKey key) : key_(key) {}

  const spindle::protocol::SessionKey& key() const { return key_; }
  /// Takes as long whatever is wrong with it.
  bool is_opened_by(const spindle::protocol::SessionKey& key) const;

  /// Of what has come `frames`, and `bytes` in all, are taken. Those that only keep the connection alive are no news.
  void note_taken(Time now, std::uint64_t frames, std::uint64_t bytes, bool is_news);
  /// When the client is to be told; kNever: it knows, or need not know.
  Time tell_at() const;
  /// How many frames it is to be told of; it knows then.
  std::uint64_t tell();

  /// The client is to be told of so much at the latest, or after this time.
  static constexpr std::size_t kToldBytes = 64u << 10;
  static constexpr Duration kToldPeriod = 200ms;

 private:
  spindle::protocol::SessionKey key_;
  std::uint64_t frames_ = 0, bytes_ = 0;
  std::uint64_t told_bytes_ = 0;
  bool has_news_ = false;
  Time news_since_{};
};

}  // namespace spindled
