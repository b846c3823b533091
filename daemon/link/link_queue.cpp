#include "daemon/link/link_queue.h"

#include <algorithm>

#include "daemon/base/check.h"
#include "daemon/base/gather_buffers.h"
#include "daemon/link/link_limits.h"

namespace spindled {

LinkQueue::LinkQueue(SlabPool& pool, std::size_t priorities) {
  queues_.reserve(priorities);
  for (std::size_t i = 0; i < priorities; ++i) queues_.push_back({OutputQueue(pool), {}});
}

void LinkQueue::append(const FrameTraits& type, ByteView prefix, const Slice& head, const Slice& tail) {
  Queue& queue = queues_[static_cast<std::size_t>(type.priority)];
  const std::size_t length = prefix.size() + head.size() + tail.size();
  const std::size_t copied = length <= OutputQueue::kCopyBytesMax ? length : prefix.size();
  Writer writer(queue.output.append_space(kFrameHeadBytes + copied));
  write_frame_head(writer, static_cast<std::uint8_t>(type.type), length);
  writer.bytes(prefix);
  if (copied == length) {
    writer.bytes(head.view());
    writer.bytes(tail.view());
  } else {
    queue.output.append(head);
    queue.output.append(tail);
  }
  const std::size_t packets = type.is_packets ? packets_of(length) : 0;
  queue.frames.push_back({static_cast<std::uint32_t>(kFrameHeadBytes + length), static_cast<std::uint16_t>(packets),
                          static_cast<std::uint16_t>(packets)});
  bytes_ += kFrameHeadBytes + length;
  packets_ += packets;
}

std::size_t LinkQueue::gather(std::span<ByteView> buffers) const {
  std::size_t count = 0;
  std::size_t end = queues_.size();
  const auto has_any = [](const Queue& queue) { return !queue.output.empty(); };
  const std::span<const Queue> before = std::span(queues_).first(unfinished_in_);
  if (unfinished_ != 0 && std::any_of(before.begin(), before.end(), has_any)) {
    // The rest of the unfinished frame, then what goes before its queue; what is behind it comes with the next call.
    std::span<ByteView> rest = buffers.first(queues_[unfinished_in_].output.gather(buffers));
    end = unfinished_in_;
    const bool is_whole = cut_buffers(rest, unfinished_) == unfinished_;
    count = rest.size();
    if (!is_whole) return count;
  }
  for (std::size_t i = 0; i < end; ++i) count += queues_[i].output.gather(buffers.subspan(count));
  return count;
}

void LinkQueue::consume(std::size_t bytes) {
  bytes_ -= bytes;
  const std::size_t rest = std::min(bytes, unfinished_);
  consume(queues_[unfinished_in_], rest);
  bytes -= rest;
  for (std::size_t i = 0; bytes != 0; ++i) {
    const std::size_t step = std::min(bytes, queues_[i].output.bytes());
    if (step == 0) continue;
    unfinished_in_ = i;
    consume(queues_[i], step);
    bytes -= step;
  }
}

void LinkQueue::consume(Queue& from, std::size_t bytes) {
  from.output.consume(bytes);
  while (bytes != 0) {
    Frame& frame = from.frames.front();
    if (unfinished_ == 0) unfinished_ = frame.bytes;
    const std::size_t step = std::min(bytes, unfinished_);
    unfinished_ -= step;
    bytes -= step;
    if (unfinished_ != 0) {
      // What is left of a long frame still counts, and no more than that.
      const auto gone =
          static_cast<std::uint16_t>(frame.packets - std::min<std::size_t>(frame.packets, packets_of(unfinished_)));
      frame.packets = static_cast<std::uint16_t>(frame.packets - gone);
      packets_ -= gone;
      departed_packets_ += gone;
      break;
    }
    packets_ -= frame.packets;
    departed_packets_ += frame.packets;
    departed_squares_ += std::uint64_t{frame.length} * frame.length;
    from.frames.pop_front();
  }
}

void LinkQueue::drop(FramePriority priority) {
  const auto index = static_cast<std::size_t>(priority);
  Queue& queue = queues_[index];
  const bool is_begun = unfinished_ != 0 && unfinished_in_ == index;
  bytes_ -= queue.output.bytes();
  queue.output.truncate(is_begun ? unfinished_ : 0);
  bytes_ += queue.output.bytes();
  const Frame kept = is_begun ? queue.frames.front() : Frame();
  for (std::size_t i = 0; i < queue.frames.size(); ++i) packets_ -= queue.frames[i].packets;
  queue.frames.clear();
  if (!is_begun) return;
  queue.frames.push_back(kept);
  packets_ += kept.packets;
}

}  // namespace spindled
