// The frames that wait to be written to a client.
#pragma once

#include <algorithm>
#include <memory>

#include "daemon/base/output_queue.h"
#include "daemon/base/ring.h"
#include "daemon/session/kept_frames.h"
#include "daemon/session/lost_messages.h"

namespace spindled {

/// What a frame is to one who drops messages: the beginning of one, the rest of one, or something that must not be
/// lost; what is of a feed has limits of its own (FeedQueue); urgent ones overtake others, and a preface stands before
/// all and belongs to the connection alone.
enum class FrameKind : std::uint8_t { other, message, message_more, feed, urgent, preface };

/// Knows where its frames end and which are messages, so that a last word can follow a frame that is partly written, an
/// urgent one can overtake others, and the oldest messages can be dropped.
///
/// What is out of the ordinary stands in front of the queue proper, on a *detour* that exists only while it is needed:
/// a preface, a frame that is partly written and urgent ones; what is written again; and what stays of that part of the
/// queue from which messages were dropped. The last loss, between the detour and the queue, becomes a frame only when
/// it is its turn to be written or something has to stand behind it: until then it grows with what is lost next.
///
/// For a client that may come back on another connection it keeps what is written until the client says that it has
/// come, and writes that again. However much that is, it costs the daemon no more at that moment than its last part.
class SessionQueue {
 public:
  explicit SessionQueue(SlabPool& pool) : pool_(pool), waiting_(pool) {}

  /// One whole frame, in pieces. The first piece of a message has all that is in front of its payload. Pieces of up to
  /// `copy_max` bytes are copied.
  void append_frame(std::span<const Slice> pieces, FrameKind kind = FrameKind::other,
                    std::size_t copy_max = OutputQueue::kCopyBytesMax);
  void append_frame(ByteView frame);
  /// Room for whole messages with frames of these sizes, side by side, which the caller fills before anything else.
  std::uint8_t* append_message_space(std::span<const std::uint32_t> frame_sizes);
  /// A frame of a feed: the first `bytes` of `from`, or a copy.
  void append_feed_frame(OutputQueue& from, std::size_t bytes);
  void append_feed_frame(ByteView frame);
  /// A frame that overtakes all others but one that is partly written, and urgent ones before it.
  void push_urgent(ByteView frame);

  std::size_t bytes() const { return waiting_.bytes.bytes() + (detour_ ? detour_->bytes() : 0); }
  bool empty() const { return bytes() == 0; }
  /// Of these, those that are of no feed.
  std::size_t bytes_without_feeds() const {
    const std::size_t again = detour_ ? detour_->again.feed_bytes() : 0;
    return bytes() - std::min(bytes(), feed_bytes_ + again);
  }
  /// Buffers for a gathered write; empty only where the queue is. There may be more behind them than fits.
  std::size_t gather(std::span<ByteView> buffers);
  void consume(std::size_t bytes);

  struct Dropped {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;  // of payload
  };
  /// Drops the oldest messages until no more than `keep` bytes are left, or no message of which nothing is written. A
  /// `gap` frame stands where they were.
  Dropped drop_oldest(std::size_t keep);
  /// Drops all but the rest of a frame that is partly written.
  void drop_unwritten();

  // For a client that may come back.

  /// From now on frames count, and what is written is kept.
  void start_keeping() { kept_ = std::make_unique<KeptFrames>(pool_); }
  void stop_keeping() { kept_.reset(); }
  bool is_keeping() const { return kept_ != nullptr; }
  /// A frame that does not count and goes before all others, none of which is partly written.
  void push_preface(ByteView frame);
  /// The client has got the first `frames` of those that count, which need not be kept any longer. False where so many
  /// were never written. Old news is none.
  [[nodiscard]] bool acknowledge(std::uint64_t frames) { return kept_->acknowledge(frames); }
  /// Whether the queue can go on behind the first `frames`: no more were acknowledged, and so many were written.
  bool may_go_on_behind(std::uint64_t frames) const { return kept_->may_go_on_behind(frames); }
  /// How many frames that count there are by now, those that wait included.
  std::uint64_t frames() const;
  /// Whether the client is known to have got the first `frames` of those that count.
  bool is_acknowledged(std::uint64_t frames) const { return frames <= kept_->acknowledged; }
  /// The connection is gone: what is kept is to be written again, and so is a frame that is partly written. A preface
  /// is not.
  void rewind();
  /// How many frames that count were written whole.
  std::uint64_t frames_written() const { return kept_->written; }
  std::size_t kept_bytes() const { return kept_ ? kept_->bytes.bytes() : 0; }

 private:
  struct Frame {
    std::uint32_t bytes = 0;  // in all, what is written of it included
    FrameKind kind = FrameKind::other;
  };
  struct Part {
    explicit Part(SlabPool& pool) : bytes(pool, OutputQueue::kLongBytes) {}
    OutputQueue bytes;
    Ring<Frame, kFramesRoomKept> frames;
  };
  struct Detour {
    explicit Detour(SlabPool& pool) : front(pool), again(pool), passed(pool) {}
    std::size_t bytes() const { return front.bytes.bytes() + again.bytes() + passed.bytes.bytes() + lost_frame_bytes; }
    Part front;                        // a preface, a frame that is partly written, urgent ones
    FramesAgain again;                 // what is written again
    Part passed;                       // what stays where messages were dropped
    LostMessages lost;                 // what stood behind `passed`
    std::size_t lost_frame_bytes = 0;  // that it will take; 0 where it is written into `passed`, or nothing
    bool lost_is_written = false;      // as the last frame of `passed`
  };

  Detour& detour();
  void end_frame(Part& part, std::size_t bytes, FrameKind kind);
  /// The first frame of `part` is not there any more; its bytes are for the caller.
  Frame take_frame(Part& part);
  void consume_from(Part& part, std::size_t bytes);
  void keep_from(Part& part, std::size_t bytes);
  /// The part whose first frame is partly written; not where that is written again.
  Part& first_part();
  /// Whether nothing is written before what stands on the detour behind what is written again.
  bool is_nothing_before_passed() const { return detour_->front.frames.empty() && detour_->again.empty(); }
  /// Moves the first frame of `from`, of which `written_` bytes may be written, to the end of `to`.
  void move_frame(Part& from, Part& to, std::size_t written);
  /// Drops the message at the front of `waiting_`; the bytes of its payload.
  std::uint64_t drop_message(LostMessages& lost);
  void write_lost(Detour& detour);
  /// Has the next loss added to the last one, where that is still there and nothing stands behind it.
  void reopen_lost(Detour& detour);
  void close_lost(Detour& detour);
  /// Drops all, but for the rest of the first frame where that `is_begun`. Whether there was nothing to drop, and one
  /// behind it is.
  bool drop(Part& part, bool is_begun);

  SlabPool& pool_;
  std::unique_ptr<KeptFrames> kept_;
  std::unique_ptr<Detour> detour_;  // written before `waiting_`
  Part waiting_;
  std::size_t written_ = 0;     // bytes of the first frame that are written
  std::size_t feed_bytes_ = 0;  // of frames of feeds that are not written again, what is written of the first included
};

}  // namespace spindled
