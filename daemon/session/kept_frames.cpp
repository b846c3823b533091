#include "daemon/session/kept_frames.h"

#include <algorithm>
#include <utility>

#include "libclient/protocol/client_frames.h"

namespace spindled {

using spindle::kFrameHeadBytes;
using spindle::protocol::ClientFrame;

namespace {
/// What FeedQueue and FeedDelivery append; answers to requests are none of them.
constexpr auto kFeedFrameMin = static_cast<std::uint8_t>(ClientFrame::feed_opened);
constexpr auto kFeedFrameMax = static_cast<std::uint8_t>(ClientFrame::feed_end);

/// The frame that has this head, which is whole.
FramesAgain::First frame_of(ByteView head) {
  const spindle::FrameHead known = *spindle::read_frame_head(head);
  return {static_cast<std::uint32_t>(kFrameHeadBytes) + known.length,
          known.type >= kFeedFrameMin && known.type <= kFeedFrameMax};
}
}  // namespace

bool KeptFrames::acknowledge(std::uint64_t frames) {
  if (frames <= acknowledged) return true;
  if (!may_go_on_behind(frames)) return false;
  acknowledged = frames;
  std::size_t whole = 0;
  while (!batches.empty() && first + batches.front().frames <= frames) {
    const Batch batch = batches.pop_front();
    first += batch.frames;
    whole += batch.bytes;
    feed_bytes -= batch.feed_bytes;
  }
  bytes.consume(whole);
  return true;
}

// The first batch may be acknowledged in part.
void FramesAgain::go_back(KeptFrames& kept) {
  for (; kept.first < kept.acknowledged; ++kept.first) {
    std::array<std::uint8_t, kFrameHeadBytes> head;
    kept.bytes.copy_front(head);
    const First frame = frame_of(head);
    kept.bytes.consume(frame.bytes);
    if (frame.is_of_feed) kept.feed_bytes -= frame.bytes;
  }
  bytes_.prepend(kept.bytes);
  frames_ += kept.written - kept.acknowledged;
  feed_bytes_ += std::exchange(kept.feed_bytes, 0);
  written_ = 0;
  kept.written = kept.acknowledged;
  kept.batches.clear();
}

std::size_t FramesAgain::consume(std::size_t bytes, KeptFrames* kept) {
  while (bytes != 0) {
    const ByteView piece = bytes_.front().first(std::min(bytes, bytes_.front().size()));
    const std::size_t size = piece.size();
    cut(piece, kept);
    if (kept != nullptr) {
      bytes_.move_front(size, kept->bytes);
    } else {
      bytes_.consume(size);
    }
    bytes -= size;
  }
  return written_;
}

void FramesAgain::cut(ByteView bytes, KeptFrames* kept) {
  while (!bytes.empty()) {
    if (written_ < kFrameHeadBytes) {
      const std::size_t count = std::min(kFrameHeadBytes - written_, bytes.size());
      std::copy_n(bytes.begin(), count, head_.begin() + static_cast<std::ptrdiff_t>(written_));
      written_ += count;
      bytes = bytes.subspan(count);
      if (written_ < kFrameHeadBytes) return;
    }
    const First frame = frame_of(head_);
    const std::size_t count = std::min(frame.bytes - written_, bytes.size());
    written_ += count;
    bytes = bytes.subspan(count);
    if (written_ != frame.bytes) return;
    if (kept != nullptr) kept->note_frame(frame.bytes, frame.is_of_feed);
    end_frame(frame);
  }
}

void FramesAgain::end_frame(const First& frame) {
  if (frame.is_of_feed) feed_bytes_ -= frame.bytes;
  --frames_;
  written_ = 0;
}

FramesAgain::First FramesAgain::first() const {
  std::array<std::uint8_t, kFrameHeadBytes> head = head_;
  if (written_ < kFrameHeadBytes) bytes_.copy_front(std::span(head).subspan(written_));
  return frame_of(head);
}

FramesAgain::First FramesAgain::move_first(OutputQueue& to) {
  const First frame = first();
  bytes_.move_front(frame.bytes - written_, to);
  end_frame(frame);
  return frame;
}

bool FramesAgain::drop(bool is_begun) {
  if (empty()) return is_begun;
  const First frame = is_begun ? first() : First();
  bytes_.truncate(is_begun ? frame.bytes - written_ : 0);
  frames_ = is_begun ? 1 : 0;
  feed_bytes_ = frame.is_of_feed ? frame.bytes : 0;
  return false;
}

}  // namespace spindled
