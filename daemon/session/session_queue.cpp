#include "daemon/session/session_queue.h"

#include <algorithm>

#include "daemon/base/check.h"

namespace spindled {

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
  Detour& to = detour();
  if (written_ != 0 && to.front.frames.empty()) {
    if (!to.again.empty()) {
      const FramesAgain::First first = to.again.move_first(to.front.bytes);
      end_frame(to.front, first.bytes, first.is_of_feed ? FrameKind::feed : FrameKind::other);
    } else {
      move_frame(first_part(), to.front, written_);
      // A loss that is written goes on growing only while it is the last on the detour.
      if (to.passed.frames.empty() && to.lost_is_written) close_lost(to);
    }
  }
  to.front.bytes.append_copy(frame);
  end_frame(to.front, frame.size(), FrameKind::urgent);
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

SessionQueue::Part& SessionQueue::first_part() {
  if (!detour_) return waiting_;
  if (!detour_->front.frames.empty()) return detour_->front;
  return detour_->passed.frames.empty() ? waiting_ : detour_->passed;
}

// --- Bytes out ---

std::size_t SessionQueue::gather(std::span<ByteView> buffers) {
  if (!detour_) return waiting_.bytes.gather(buffers);
  // The loss goes on growing until what stands before it is gone.
  const bool grows = detour_->lost_frame_bytes != 0 && detour_->bytes() != detour_->lost_frame_bytes;
  if (detour_->lost_frame_bytes != 0 && !grows) write_lost(*detour_);
  std::size_t count = detour_->front.bytes.gather(buffers);
  count += detour_->again.gather(buffers.subspan(count));
  count += detour_->passed.bytes.gather(buffers.subspan(count));
  return grows ? count : count + waiting_.bytes.gather(buffers.subspan(count));
}

void SessionQueue::consume(std::size_t bytes) {
  if (detour_) {
    const auto take = [&bytes](std::size_t there) {
      const std::size_t taken = std::min(bytes, there);
      bytes -= taken;
      return taken;
    };
    consume_from(detour_->front, take(detour_->front.bytes.bytes()));
    const std::size_t again = take(detour_->again.bytes());
    if (again != 0) written_ = detour_->again.consume(again, kept_.get());
    consume_from(detour_->passed, take(detour_->passed.bytes.bytes()));
    if (detour_->bytes() == 0) detour_.reset();
  }
  consume_from(waiting_, bytes);
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
    const Frame frame = take_frame(part);
    written_ -= frame.bytes;
    kept_->note_frame(frame.bytes, frame.kind == FrameKind::feed);
  }
}

void SessionQueue::push_preface(ByteView frame) {
  SPINDLE_CHECK(written_ == 0);
  Part& part = detour().front;
  Part urgent(pool_);
  std::swap(part, urgent);
  part.bytes.append_copy(frame);
  end_frame(part, frame.size(), FrameKind::preface);
  while (!urgent.frames.empty()) move_frame(urgent, part, 0);
}

std::uint64_t SessionQueue::frames() const {
  std::uint64_t waiting = waiting_.frames.size();
  if (detour_) {
    const auto& front = detour_->front.frames;
    const bool has_preface = !front.empty() && front.front().kind == FrameKind::preface;
    waiting += front.size() - (has_preface ? 1 : 0) + detour_->again.frames() + detour_->passed.frames.size() +
               (detour_->lost_frame_bytes != 0 ? 1 : 0);
  }
  return kept_->written + waiting;
}

void SessionQueue::rewind() {
  Detour& to = detour();
  Part& first = first_part();
  if (!to.front.frames.empty() && to.front.frames.front().kind == FrameKind::preface) {
    to.front.bytes.consume(to.front.frames.pop_front().bytes - written_);
  } else if (written_ != 0 && (&first == &to.front || to.again.empty())) {
    // Its beginning is the last of what is kept.
    const Frame frame = take_frame(first);
    first.bytes.move_front(frame.bytes - written_, kept_->bytes);
    kept_->note_frame(frame.bytes, frame.kind == FrameKind::feed);
    if (to.passed.frames.empty() && to.lost_is_written) close_lost(to);
  }
  written_ = 0;
  to.again.go_back(*kept_);
  if (detour_->bytes() == 0) detour_.reset();
}

// --- Dropping ---

SessionQueue::Dropped SessionQueue::drop_oldest(std::size_t keep) {
  Dropped dropped;
  if (bytes() <= keep || waiting_.frames.empty()) return dropped;
  Detour& to = detour();
  reopen_lost(to);
  while (bytes() > keep && !waiting_.frames.empty()) {
    const bool partly_written = written_ != 0 && is_nothing_before_passed() && to.passed.frames.empty();
    if (waiting_.frames.front().kind == FrameKind::message && !partly_written) {
      dropped.bytes += drop_message(to.lost);
      ++dropped.messages;
    } else {
      if (to.lost.any()) write_lost(to);
      close_lost(to);
      move_frame(waiting_, to.passed, partly_written ? written_ : 0);
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
  detour.passed.bytes.append_copy(frame);
  end_frame(detour.passed, frame.size(), FrameKind::other);
  detour.lost_frame_bytes = 0;
  detour.lost_is_written = true;
}

void SessionQueue::reopen_lost(Detour& detour) {
  if (!detour.lost_is_written) return;
  Part& part = detour.passed;
  const bool partly_written = written_ != 0 && part.frames.size() == 1 && is_nothing_before_passed();
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
  bool is_begun = written_ != 0;
  feed_bytes_ = 0;
  if (detour_) {
    close_lost(*detour_);
    is_begun = drop(detour_->front, is_begun);
    is_begun = detour_->again.drop(is_begun);
    is_begun = drop(detour_->passed, is_begun);
  }
  drop(waiting_, is_begun);
  if (detour_ && detour_->bytes() == 0) detour_.reset();
}

bool SessionQueue::drop(Part& part, bool is_begun) {
  if (part.frames.empty()) return is_begun;
  const Frame first = part.frames.front();
  part.bytes.truncate(is_begun ? first.bytes - written_ : 0);
  part.frames.clear();
  if (is_begun) end_frame(part, first.bytes, first.kind);
  return false;
}

}  // namespace spindled
