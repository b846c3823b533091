// What was written to a client that may come back on another connection, and would have to get again.
#pragma once

#include <array>
#include <span>

#include "daemon/base/output_queue.h"
#include "daemon/base/ring.h"
#include "libclient/common/framing.h"

namespace spindled {

/// What a turn may well put into a queue and write. A queue that was longer once, as where thousands join a group,
/// does not hold more for ever: there are many queues.
inline constexpr std::size_t kFramesRoomKept = 512;

/// What is written until the client says that it has come. Where its frames end is looked up when it has to: until then
/// it is some thousand bytes at a time that are kept, and let go of when the last frame of them is acknowledged.
struct KeptFrames {
  explicit KeptFrames(SlabPool& pool) : bytes(pool, OutputQueue::kLongBytes) {}

  /// Of `bytes` so many are a frame that is whole now.
  void note_frame(std::uint32_t size, bool is_of_feed) {
    ++written;
    Batch& batch = batches.empty() || batches.back().bytes >= kBatchBytes ? batches.push_back() : batches.back();
    ++batch.frames;
    batch.bytes += size;
    if (!is_of_feed) return;
    batch.feed_bytes += size;
    feed_bytes += size;
  }
  /// As those of SessionQueue.
  [[nodiscard]] bool acknowledge(std::uint64_t frames);
  bool may_go_on_behind(std::uint64_t frames) const { return frames >= acknowledged && frames <= written; }

  struct Batch {
    std::uint32_t frames = 0;
    std::uint32_t bytes = 0;
    std::uint32_t feed_bytes = 0;  // of these
  };
  static constexpr std::uint32_t kBatchBytes = 8u << 10;

  OutputQueue bytes;  // of whole frames, and of one that is partly written
  Ring<Batch, kFramesRoomKept> batches;
  std::size_t feed_bytes = 0;      // of whole frames of feeds
  std::uint64_t first = 0;         // so many whole frames are no longer in `bytes`,
  std::uint64_t written = 0;       // so many were written,
  std::uint64_t acknowledged = 0;  // and so many the client is known to have got
};

/// What was written on connections that are lost and is written again, in the same order. There may be millions of
/// small frames, of clients that come back at the same moment: they go from one connection to the next as one piece,
/// and where they end is found out as they are written.
class FramesAgain {
 public:
  explicit FramesAgain(SlabPool& pool) : bytes_(pool) {}

  bool empty() const { return bytes_.empty(); }
  std::size_t bytes() const { return bytes_.bytes(); }
  std::uint64_t frames() const { return frames_; }
  /// Of all frames of feeds, what is written of the first one included.
  std::size_t feed_bytes() const { return feed_bytes_; }
  std::size_t gather(std::span<ByteView> buffers) const { return bytes_.gather(buffers); }

  /// Goes on with what is kept, but for what is acknowledged, in front of what is here; nothing is kept then. Of a
  /// frame that is partly written the beginning is kept and the rest is here.
  void go_back(KeptFrames& kept);
  /// The first `bytes` were written. They are kept, unless `kept` is null. How many bytes of the first frame are
  /// written then.
  std::size_t consume(std::size_t bytes, KeptFrames* kept);

  struct First {
    std::uint32_t bytes = 0;  // in all
    bool is_of_feed = false;
  };
  /// Moves what is left of the first frame, which is partly written, to the end of `to`.
  First move_first(OutputQueue& to);
  /// As SessionQueue::drop does of its parts.
  bool drop(bool is_begun);

 private:
  /// Goes through bytes that are written.
  void cut(ByteView bytes, KeptFrames* kept);
  /// The first one, which is written whole or goes elsewhere.
  void end_frame(const First& frame);
  /// The first frame, of which at least the head is here or written.
  First first() const;

  OutputQueue bytes_;
  std::uint64_t frames_ = 0;
  std::size_t feed_bytes_ = 0;
  // The first frame: how much of it is written, of that its head, and what that says once it is whole.
  std::size_t written_ = 0;
  std::array<std::uint8_t, spindle::kFrameHeadBytes> head_{};
};

}  // namespace spindled
