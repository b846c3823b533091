#include "bench/sim/scenarios/frame_parser.h"

#include <algorithm>

namespace spindled::scenarios {

void FrameParser::add(ByteView bytes, const std::function<void(const PassedFrame&)>& passed) {
  while (!bytes.empty()) {
    const std::size_t wanted = length_ == 0 ? kFrameHeadBytes : length_;
    const std::size_t part = std::min(bytes.size(), wanted - seen_);
    const std::size_t kept = std::min(part, kFrameHeadBytes + kStartBytesMax - held_.size());
    held_.insert(held_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(kept));
    seen_ += part;
    bytes = bytes.subspan(part);
    if (length_ == 0 && seen_ == kFrameHeadBytes) {
      length_ = kFrameHeadBytes + spindle::read_frame_head(held_)->length;
    }
    if (seen_ != length_) continue;
    const FrameHead head = *spindle::read_frame_head(held_);
    passed({static_cast<LinkFrame>(head.type), length_, ByteView(held_).subspan(kFrameHeadBytes)});
    held_.clear();
    length_ = seen_ = 0;
  }
}

std::optional<Body> body_of(const PassedFrame& frame) {
  if (frame.type != LinkFrame::data) return std::nullopt;
  Reader reader(frame.start);
  MemberSet::read(reader);  // the members still to be reached
  if (!reader.ok()) return std::nullopt;
  return read_body(frame.start.subspan(frame.start.size() - reader.remaining()));
}

}  // namespace spindled::scenarios
