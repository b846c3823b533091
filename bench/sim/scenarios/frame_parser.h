// Finds the frames in what two daemons say to each other.
#pragma once

#include <functional>
#include <vector>

#include "daemon/wire/frame_traits.h"
#include "daemon/wire/link_frames.h"

namespace spindled::scenarios {

/// A frame that has passed.
struct PassedFrame {
  LinkFrame type{};
  std::size_t bytes = 0;  // with its head
  ByteView start;         // of what follows the head: all of it, or the first kStartBytesMax bytes
};

/// Of one connection in one direction, from its first byte on.
class FrameParser {
 public:
  /// Enough for two sets of members and the rest of a data frame's head.
  static constexpr std::size_t kStartBytesMax = 600;

  void add(ByteView bytes, const std::function<void(const PassedFrame&)>& passed);

 private:
  std::vector<std::uint8_t> held_;  // the head of the current frame and what is kept of its start
  std::size_t length_ = 0;          // of the current frame with its head; 0: not known
  std::size_t seen_ = 0;            // bytes of it
};

/// The head of the body of a data frame, where `frame` is a well-formed one.
std::optional<Body> body_of(const PassedFrame& frame);

}  // namespace spindled::scenarios
