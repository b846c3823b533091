// The bytes that wait to be written on a connection.
#pragma once

#include <deque>
#include <span>

#include "daemon/base/slab.h"

namespace spindled {

/// Small pieces are packed side by side into the queue's own slab, so that many frames leave in few buffers; large ones
/// are referenced. An empty queue holds no memory.
class OutputQueue {
 public:
  /// Pieces up to this size are copied: cheaper than a buffer of their own in a gathered write, and a small piece never
  /// keeps a whole slab alive.
  static constexpr std::size_t kCopyBytesMax = 2048;

  /// One of many, which should take little where little waits, has medium slabs until so many bytes do.
  static constexpr std::size_t kLongBytes = 8 * SlabPool::kLargeBytes;

  /// From `long_bytes` on slabs are large.
  explicit OutputQueue(SlabPool& pool, std::size_t long_bytes = 0) : pool_(&pool), long_bytes_(long_bytes) {}

  /// Copied where it has no more than `copy_max` bytes.
  void append(const Slice& slice, std::size_t copy_max = kCopyBytesMax);
  void append_copy(ByteView bytes);
  /// Room for `bytes` at the end of the queue, counted as queued at once; the caller fills it before anything else.
  /// Null for none.
  std::uint8_t* append_space(std::size_t bytes);

  std::size_t bytes() const { return bytes_; }
  bool empty() const { return bytes_ == 0; }

  /// The front of the queue as buffers for a gathered write; how many were filled in.
  std::size_t gather(std::span<ByteView> buffers) const;
  /// What is contiguous in memory at the front: all of what was appended in one piece, as far as it was not consumed.
  ByteView front() const { return pieces_.empty() ? ByteView() : pieces_.front().view(); }
  /// Copies the first bytes, of which there are as many.
  void copy_front(std::span<std::uint8_t> to) const;
  /// The first `bytes` were written.
  void consume(std::size_t bytes);
  /// Moves the first `bytes` to the end of another queue; small pieces are copied, as ever.
  void move_front(std::size_t bytes, OutputQueue& into);
  /// Moves all of another queue in front of what is here, without copying any of it.
  void prepend(OutputQueue& from);
  /// Drops everything after the first `keep` bytes.
  void truncate(std::size_t keep);
  void clear() { truncate(0); }

 private:
  SlabPool* pool_;
  std::size_t long_bytes_;
  std::deque<Slice> pieces_;
  SlabRef slab_;           // the slab that small pieces are packed into
  std::size_t used_ = 0;   // bytes of it in use
  std::size_t bytes_ = 0;  // in all pieces
};

}  // namespace spindled
