// What waits to be written on a link: control frames before all others.
#pragma once

#include "daemon/base/output_queue.h"
#include "daemon/base/ring.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

/// Two queues that share a connection. A frame whose first bytes have been written is finished before the other queue
/// gets its turn. Order of calls for a write: `gather`, write, `consume`, with no append in between.
class LinkQueue {
 public:
  explicit LinkQueue(SlabPool& pool) : control_(pool), data_(pool) {}

  /// A frame of the control queue, in one part.
  void append_control(LinkFrame type, ByteView body);
  void append_control(LinkFrame type, const Slice& body);
  /// A frame of the data queue, its contents in three parts.
  void append(LinkFrame type, ByteView prefix, const Slice& head, const Slice& tail);

  std::size_t bytes() const { return control_.bytes() + data_.bytes(); }
  bool empty() const { return bytes() == 0; }
  std::size_t control_bytes() const { return control_.bytes(); }
  std::size_t data_bytes() const { return data_.bytes(); }
  /// Data frames that wait, in packets of up to kPacketBytes.
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
  /// Drops the data queue, the rest of a partly written frame aside.
  void drop_data();

 private:
  struct Frame {
    std::uint32_t bytes = 0;    // with its head
    std::uint16_t packets = 0;  // that are left of it,
    std::uint16_t length = 0;   // and what it had: a data frame is not that long
  };

  void consume_data(std::size_t bytes);

  OutputQueue control_;
  OutputQueue data_;
  Ring<Frame> frames_;          // those in `data_`
  std::size_t unfinished_ = 0;  // bytes left of the first of them if some of it was written, else 0
  std::size_t packets_ = 0;
  std::uint64_t departed_packets_ = 0;
  std::uint64_t departed_squares_ = 0;
};

}  // namespace spindled
