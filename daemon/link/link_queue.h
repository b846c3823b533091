// What waits to be written on a link, by priority.
#pragma once

#include <vector>

#include "daemon/base/output_queue.h"
#include "daemon/base/ring.h"
#include "daemon/wire/frame_traits.h"

namespace spindled {

/// Queues that share a connection, one for each priority. The first that has anything is written first; but a frame
/// whose first bytes have been written is finished before any other is begun. Order of calls for a write: `gather`,
/// write, `consume`, with no append in between.
class LinkQueue {
 public:
  explicit LinkQueue(SlabPool& pool, std::size_t priorities = kFramePriorities);

  /// A frame, its content in three parts.
  void append(const FrameTraits& type, ByteView prefix, const Slice& head, const Slice& tail);

  std::size_t bytes() const { return bytes_; }
  std::size_t bytes(FramePriority priority) const { return queue(priority).output.bytes(); }
  bool empty() const { return bytes_ == 0; }
  /// Those frames that wait of which FrameTraits says that they are packets, in packets of up to kPacketBytes.
  std::size_t packets() const { return packets_; }
  /// Those that have ever been written.
  std::uint64_t departed_packets() const { return departed_packets_; }
  /// The sum, over the frames that they were in, of the square of a frame's packets.
  std::uint64_t departed_squares() const { return departed_squares_; }

  /// The next bytes to be written, as at most `buffers.size()` buffers; how many were filled in. May give less than
  /// all.
  std::size_t gather(std::span<ByteView> buffers) const;
  /// The first `bytes` of what `gather` gave were written.
  void consume(std::size_t bytes);
  /// Drops what waits at that priority, the rest of a partly written frame aside.
  void drop(FramePriority priority);

 private:
  struct Frame {
    std::uint32_t bytes = 0;    // with its head
    std::uint16_t packets = 0;  // that are left of it,
    std::uint16_t length = 0;   // and what it had: a frame of packets is not that long
  };
  struct Queue {
    OutputQueue output;
    Ring<Frame> frames;  // those in `output`
  };

  const Queue& queue(FramePriority priority) const { return queues_[static_cast<std::size_t>(priority)]; }
  void consume(Queue& from, std::size_t bytes);

  std::vector<Queue> queues_;
  std::size_t bytes_ = 0;
  // Of the frame that is partly written: which queue it is at the front of, and how many bytes are left; 0: there is
  // none.
  std::size_t unfinished_in_ = 0;
  std::size_t unfinished_ = 0;
  std::size_t packets_ = 0;
  std::uint64_t departed_packets_ = 0;
  std::uint64_t departed_squares_ = 0;
};

}  // namespace spindled
