#include "daemon/session/session_queue.h"

namespace spindled {

void SessionQueue::append_frame(std::span<const Slice> pieces) {
  for (const Slice& piece : pieces) queue_.append(piece);
  end_frame();
}

void SessionQueue::append_frame(ByteView frame) {
  queue_.append_copy(frame);
  end_frame();
}

std::uint8_t* SessionQueue::append_frame_space(std::size_t bytes) {
  std::uint8_t* at = queue_.append_space(bytes);
  end_frame();
  return at;
}

void SessionQueue::consume(std::size_t bytes) {
  queue_.consume(bytes);
  written_ += bytes;
  while (!ends_.empty() && ends_.front() <= written_) last_end_ = ends_.pop_front();
}

void SessionQueue::drop_unwritten() {
  const bool inside_frame = last_end_ != written_ && !ends_.empty();
  const std::uint64_t keep = inside_frame ? ends_.front() - written_ : 0;
  queue_.truncate(keep);
  while (ends_.size() > (inside_frame ? 1u : 0u)) ends_.pop_back();
}

}  // namespace spindled
