#include "daemon/link/link_queue.h"

#include <algorithm>

#include "daemon/base/check.h"
#include "daemon/link/link_limits.h"

namespace spindled {

void LinkQueue::append_control(LinkFrame type, ByteView body) {
  Writer writer(control_.append_space(kFrameHeadBytes + body.size()));
  write_frame_head(writer, static_cast<std::uint8_t>(type), body.size());
  writer.bytes(body);
}

void LinkQueue::append_control(LinkFrame type, const Slice& body) {
  if (body.size() <= OutputQueue::kCopyBytesMax) {
    append_control(type, body.view());
    return;
  }
  Writer writer(control_.append_space(kFrameHeadBytes));
  write_frame_head(writer, static_cast<std::uint8_t>(type), body.size());
  control_.append(body);
}

void LinkQueue::append(LinkFrame type, ByteView prefix, const Slice& head, const Slice& tail) {
  const std::size_t length = prefix.size() + head.size() + tail.size();
  if (length <= OutputQueue::kCopyBytesMax) {
    Writer writer(data_.append_space(kFrameHeadBytes + length));
    write_frame_head(writer, static_cast<std::uint8_t>(type), length);
    writer.bytes(prefix);
    writer.bytes(head.view());
    writer.bytes(tail.view());
  } else {
    Writer writer(data_.append_space(kFrameHeadBytes + prefix.size()));
    write_frame_head(writer, static_cast<std::uint8_t>(type), length);
    writer.bytes(prefix);
    data_.append(head);
    data_.append(tail);
  }
  const std::size_t packets =
      type == LinkFrame::data ? std::max<std::size_t>(1, (length + kPacketBytes - 1) / kPacketBytes) : 0;
  frames_.push_back({static_cast<std::uint32_t>(kFrameHeadBytes + length), static_cast<std::uint16_t>(packets),
                     static_cast<std::uint16_t>(packets)});
  packets_ += packets;
}

std::size_t LinkQueue::gather(std::span<ByteView> buffers) const {
  if (control_.empty()) return data_.gather(buffers);
  if (unfinished_ == 0) {
    const std::size_t count = control_.gather(buffers);
    return count + data_.gather(buffers.subspan(count));
  }
  // The rest of the unfinished frame, then control; the data behind it comes with the next call.
  std::size_t count = data_.gather(buffers);
  std::size_t left = unfinished_;
  for (std::size_t i = 0; i < count; ++i) {
    if (buffers[i].size() >= left) {
      buffers[i] = buffers[i].first(left);
      count = i + 1;
      return count + control_.gather(buffers.subspan(count));
    }
    left -= buffers[i].size();
  }
  return count;
}

void LinkQueue::consume(std::size_t bytes) {
  const std::size_t rest = std::min(bytes, unfinished_);
  consume_data(rest);
  bytes -= rest;
  const std::size_t control = std::min(bytes, control_.bytes());
  control_.consume(control);
  consume_data(bytes - control);
}

void LinkQueue::consume_data(std::size_t bytes) {
  data_.consume(bytes);
  while (bytes != 0) {
    if (unfinished_ == 0) unfinished_ = frames_.front().bytes;
    const std::size_t step = std::min(bytes, unfinished_);
    unfinished_ -= step;
    bytes -= step;
    Frame& frame = frames_.front();
    if (unfinished_ != 0) {
      // What is left of a long frame still counts, and no more than that.
      const std::size_t whole = (unfinished_ + kPacketBytes - 1) / kPacketBytes;
      const auto gone = static_cast<std::uint16_t>(frame.packets - std::min<std::size_t>(frame.packets, whole));
      frame.packets = static_cast<std::uint16_t>(frame.packets - gone);
      packets_ -= gone;
      departed_packets_ += gone;
      break;
    }
    packets_ -= frame.packets;
    departed_packets_ += frame.packets;
    departed_squares_ += std::uint64_t{frame.length} * frame.length;
    frames_.pop_front();
  }
}

void LinkQueue::drop_data() {
  data_.truncate(unfinished_);
  const Frame kept = unfinished_ == 0 ? Frame() : frames_.front();
  frames_.clear();
  if (unfinished_ != 0) frames_.push_back(kept);
  packets_ = kept.packets;
}

}  // namespace spindled
