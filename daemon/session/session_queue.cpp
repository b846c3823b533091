#include "daemon/session/session_queue.h"

#include <algorithm>
#include <array>

#include "daemon/base/check.h"
#include "libclient/common/framing.h"
#include "libclient/protocol/client_frames.h"

namespace spindled {

using spindle::protocol::ClientFrame;

namespace {
/// What FeedQueue and FeedDelivery append; answers to requests are none of them.
constexpr auto kFeedFrameMin = static_cast<std::uint8_t>(ClientFrame::feed_opened);
constexpr auto kFeedFrameMax = static_cast<std::uint8_t>(ClientFrame::feed_end);
}  // namespace

// --- Frames in ---

void SessionQueue::append_frame(std::span<const Slice> pieces, FrameKind kind, std::size_t copy_max) {
  const std::size_t before = waiting_.bytes.bytes();
  for (const Slice& piece : pieces) waiting_.bytes.append(piece, copy_max);
  end_frame(waiting_, waiting_.bytes.bytes() - before, kind);
}

void SessionQueue::append_frame(ByteView frame) {
  waiting_.bytes.append_copy(frame);
  end_frame(waiting_, frame.size(), FrameKind::other);
}

std::uint8_t* SessionQueue::append_message_space(std::span<const std::uint32_t> frame_sizes) {
  std::size_t bytes = 0;
  for (const std::uint32_t size : frame_sizes) {
    end_frame(waiting_, size, FrameKind::message);
    bytes += size;
  }
  return waiting_.bytes.append_space(bytes);
}

void SessionQueue::append_feed_frame(OutputQueue& from, std::size_t bytes) {
  from.move_front(bytes, waiting_.bytes);
  end_frame(waiting_, bytes, FrameKind::feed);
}

void SessionQueue::append_feed_frame(ByteView frame) {
  waiting_.bytes.append_copy(frame);
  end_frame(waiting_, frame.size(), FrameKind::feed);
}

void SessionQueue::push_urgent(ByteView frame) {
  Part& part = detour().part;
  Part others(pool_);
  std::swap(part, others);
  Part& first = others.frames.empty() ? waiting_ : others;
  if (written_ != 0) move_frame(first, part, written_);
  while (!others.frames.empty() && others.frames.front().kind >= FrameKind::urgent) move_frame(others, part, 0);
  part.bytes.append_copy(frame);
  end_frame(part, frame.size(), FrameKind::urgent);
  // A loss that is written goes on growing only while it is the last on the detour.
  if (others.frames.empty() && detour_->lost_is_written) close_lost(*detour_);
  while (!others.frames.empty()) move_frame(others, part, 0);
}

void SessionQueue::end_frame(Part& part, std::size_t bytes, FrameKind kind) {
  part.frames.push_back({static_cast<std::uint32_t>(bytes), kind});
  if (kind == FrameKind::feed) feed_bytes_ += bytes;
}

SessionQueue::Frame SessionQueue::take_frame(Part& part) {
  const Frame frame = part.frames.pop_front();
  if (frame.kind == FrameKind::feed) feed_bytes_ -= frame.bytes;
  return frame;
}

SessionQueue::Detour& SessionQueue::detour() {
  if (!detour_) detour_ = std::make_unique<Detour>(pool_);
  return *detour_;
}

// --- Bytes out ---

std::size_t SessionQueue::gather(std::span<ByteView> buffers) {
  if (!detour_) return waiting_.bytes.gather(buffers);
  if (detour_->lost_frame_bytes != 0) {
    // The loss goes on growing until what stands before it is gone.
    if (!detour_->part.frames.empty()) return detour_->part.bytes.gather(buffers);
    write_lost(*detour_);
  }
  const std::size_t count = detour_->part.bytes.gather(buffers);
  return count + waiting_.bytes.gather(buffers.subspan(count));
}

void SessionQueue::consume(std::size_t bytes) {
  if (detour_) {
    const std::size_t first = std::min(bytes, detour_->part.bytes.bytes());
    consume_from(detour_->part, first);
    bytes -= first;
    if (detour_->bytes() == 0) detour_.reset();
  }
  if (bytes != 0) consume_from(waiting_, bytes);
}

void SessionQueue::consume_from(Part& part, std::size_t bytes) {
  if (bytes == 0) return;
  written_ += bytes;
  if (kept_) return keep_from(part, bytes);
  part.bytes.consume(bytes);
  if (part.bytes.empty() && feed_bytes_ == 0) {  // most is written at once
    written_ = 0;
    while (!part.frames.empty()) part.frames.pop_front();
    return;
  }
  while (!part.frames.empty() && written_ >= part.frames.front().bytes) written_ -= take_frame(part).bytes;
}

// --- What a client may have to get again ---

void SessionQueue::keep_from(Part& part, std::size_t bytes) {
  if (part.frames.front().kind == FrameKind::preface) {
    const std::size_t size = part.frames.front().bytes, before = written_ - bytes;
    const std::size_t of_preface = std::min(bytes, size - before);
    part.bytes.consume(of_preface);
    bytes -= of_preface;
    if (written_ >= size) written_ -= part.frames.pop_front().bytes;
  }
  part.bytes.move_front(bytes, kept_->bytes);
  while (!part.frames.empty() && written_ >= part.frames.front().bytes) {
    const std::uint32_t size = take_frame(part).bytes;
    written_ -= size;
    kept_->note_frame(size);
  }
}

void SessionQueue::push_preface(ByteView frame) {
  SPINDLE_CHECK(written_ == 0);
  Part& part = detour().part;
  Part others(pool_);
  std::swap(part, others);
  part.bytes.append_copy(frame);
  end_frame(part, frame.size(), FrameKind::preface);
  while (!others.frames.empty()) move_frame(others, part, 0);
}

bool SessionQueue::acknowledge(std::uint64_t frames) {
  if (frames <= kept_->acknowledged) return true;
  if (!may_go_on_behind(frames)) return false;
  kept_->acknowledged = frames;
  std::size_t bytes = 0;
  while (!kept_->batches.empty() && kept_->first + kept_->batches.front().frames <= frames) {
    const Kept::Batch batch = kept_->batches.pop_front();
    kept_->first += batch.frames;
    bytes += batch.bytes;
  }
  kept_->bytes.consume(bytes);
  return true;
}

std::uint64_t SessionQueue::frames() const {
  std::uint64_t waiting = waiting_.frames.size();
  if (detour_) waiting += detour_->part.frames.size() + (detour_->lost_frame_bytes != 0 ? 1 : 0);
  const Part& first = detour_ && !detour_->part.frames.empty() ? detour_->part : waiting_;
  const bool has_preface = !first.frames.empty() && first.frames.front().kind == FrameKind::preface;
  return kept_->written + waiting - (has_preface ? 1 : 0);
}

void SessionQueue::rewind() {
  Part& part = detour().part;
  Part others(pool_);
  std::swap(part, others);
  Part& first = others.frames.empty() ? waiting_ : others;
  if (written_ != 0 && first.frames.front().kind == FrameKind::preface) {
    first.bytes.consume(first.frames.pop_front().bytes - written_);
  } else if (written_ != 0) {
    // Its beginning is the last of what is kept.
    const Frame frame = take_frame(first);
    first.bytes.move_front(frame.bytes - written_, kept_->bytes);
    kept_->note_frame(frame.bytes);
  } else if (!first.frames.empty() && first.frames.front().kind == FrameKind::preface) {
    first.bytes.consume(first.frames.pop_front().bytes);
  }
  written_ = 0;
  write_again(part);
  while (!others.frames.empty()) move_frame(others, part, 0);
  if (detour_->bytes() == 0) detour_.reset();
}

void SessionQueue::write_again(Part& to) {
  Kept& kept = *kept_;
  for (std::uint64_t number = kept.first; number < kept.written; ++number) {
    std::array<std::uint8_t, spindle::kFrameHeadBytes> head;
    kept.bytes.copy_front(head);
    const spindle::FrameHead known = *spindle::read_frame_head(head);
    const std::size_t size = spindle::kFrameHeadBytes + known.length;
    const bool is_of_feed = known.type >= kFeedFrameMin && known.type <= kFeedFrameMax;
    if (number < kept.acknowledged) {
      kept.bytes.consume(size);
    } else {
      kept.bytes.move_front(size, to.bytes);
      end_frame(to, size, is_of_feed ? FrameKind::feed : FrameKind::other);  // what is written again is not dropped
    }
  }
  kept.batches.clear();
  kept.first = kept.written = kept.acknowledged;
}

// --- Dropping ---

SessionQueue::Dropped SessionQueue::drop_oldest(std::size_t keep) {
  Dropped dropped;
  if (bytes() <= keep || waiting_.frames.empty()) return dropped;
  Detour& to = detour();
  reopen_lost(to);
  while (bytes() > keep && !waiting_.frames.empty()) {
    const bool partly_written = written_ != 0 && to.part.frames.empty();
    if (waiting_.frames.front().kind == FrameKind::message && !partly_written) {
      dropped.bytes += drop_message(to.lost);
      ++dropped.messages;
    } else {
      if (to.lost.any()) write_lost(to);
      close_lost(to);
      move_frame(waiting_, to.part, partly_written ? written_ : 0);
    }
  }
  if (to.lost.any()) to.lost_frame_bytes = to.lost.frame().size();
  return dropped;
}

std::uint64_t SessionQueue::drop_message(LostMessages& lost) {
  const std::uint64_t before = lost.bytes();
  lost.add(waiting_.bytes.front());
  do {
    waiting_.bytes.consume(waiting_.frames.pop_front().bytes);
  } while (!waiting_.frames.empty() && waiting_.frames.front().kind == FrameKind::message_more);
  return lost.bytes() - before;
}

void SessionQueue::move_frame(Part& from, Part& to, std::size_t written) {
  const Frame frame = from.frames.pop_front();
  from.bytes.move_front(frame.bytes - written, to.bytes);
  to.frames.push_back(frame);
}

void SessionQueue::write_lost(Detour& detour) {
  const std::vector<std::uint8_t> frame = detour.lost.frame();
  detour.part.bytes.append_copy(frame);
  end_frame(detour.part, frame.size(), FrameKind::other);
  detour.lost_frame_bytes = 0;
  detour.lost_is_written = true;
}

void SessionQueue::reopen_lost(Detour& detour) {
  if (!detour.lost_is_written) return;
  Part& part = detour.part;
  const bool partly_written = written_ != 0 && part.frames.size() == 1;
  if (partly_written) return close_lost(detour);
  part.bytes.truncate(part.bytes.bytes() - part.frames.back().bytes);
  part.frames.pop_back();
  detour.lost_is_written = false;
}

void SessionQueue::close_lost(Detour& detour) {
  detour.lost.clear();
  detour.lost_frame_bytes = 0;
  detour.lost_is_written = false;
}

void SessionQueue::drop_unwritten() {
  if (detour_ && !detour_->part.frames.empty()) {
    close_lost(*detour_);
    keep_first_if_written(detour_->part);
    waiting_.bytes.clear();
    while (!waiting_.frames.empty()) take_frame(waiting_);
  } else {
    keep_first_if_written(waiting_);
  }
  if (detour_ && detour_->part.frames.empty()) detour_.reset();
}

void SessionQueue::keep_first_if_written(Part& part) {
  const bool keep = written_ != 0;
  part.bytes.truncate(keep ? part.frames.front().bytes - written_ : 0);
  while (part.frames.size() > (keep ? 1u : 0u)) {
    if (part.frames.back().kind == FrameKind::feed) feed_bytes_ -= part.frames.back().bytes;
    part.frames.pop_back();
  }
}

}  // namespace spindled
