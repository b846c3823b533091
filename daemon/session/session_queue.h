// The frames that wait to be written to a client.
#pragma once

#include "daemon/base/output_queue.h"
#include "daemon/base/ring.h"

namespace spindled {

/// An OutputQueue that knows where its frames end, so that a last word can follow a frame that is partly written.
class SessionQueue {
 public:
  explicit SessionQueue(SlabPool& pool) : queue_(pool) {}

  /// One whole frame, in pieces.
  void append_frame(std::span<const Slice> pieces);
  void append_frame(ByteView frame);
  /// Room for a frame of `bytes`, which the caller fills before anything else.
  std::uint8_t* append_frame_space(std::size_t bytes);

  std::size_t bytes() const { return queue_.bytes(); }
  bool empty() const { return queue_.empty(); }
  std::size_t gather(std::span<ByteView> buffers) const { return queue_.gather(buffers); }
  void consume(std::size_t bytes);
  /// Drops all but the rest of a frame that is partly written.
  void drop_unwritten();

 private:
  void end_frame() { ends_.push_back(written_ + queue_.bytes()); }

  OutputQueue queue_;
  std::uint64_t written_ = 0;   // bytes ever consumed
  Ring<std::uint64_t> ends_;    // where the queued frames end, on the same count
  std::uint64_t last_end_ = 0;  // where the last frame that was consumed whole ended
};

}  // namespace spindled
