// What lets a client take its session up again on another connection.
#pragma once

#include <algorithm>

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

/// How much a client may be written that it is not known to have got. All of that is in memory twice, here and on its
/// way: for a client that is near there is no more of it than it can use. One that is far away gets more.
class ResumeWindow {
 public:
  /// Never more than `limit`.
  std::size_t bytes(std::size_t limit) const { return std::min(bytes_, limit); }
  /// It is full with the frame of this number, counted from the first.
  void note_full(Time now, std::uint64_t frames);
  /// The client has got so many frames.
  void note_got(Time now, std::uint64_t frames, std::size_t limit);

  static constexpr std::size_t kLeastBytes = 256u << 10;
  /// A client is far away where it takes so long until it is known to have got what filled the window.
  static constexpr Duration kFar = 10ms;

 private:
  std::size_t bytes_ = kLeastBytes;
  Time full_since_ = kNever;
  std::uint64_t full_with_ = 0;
};

}  // namespace spindled
