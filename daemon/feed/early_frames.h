// Frames of feeds that have come before the view that they are of.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "daemon/base/slab.h"
#include "daemon/link/link_id.h"

namespace spindled {

/// Daemons do not install a view at the same moment. kBytesMax of all neighbours are kept; the oldest go first.
class EarlyFrames {
 public:
  static constexpr std::size_t kBytesMax = 1u << 20;

  struct Frame {
    LinkId from{};
    std::uint8_t type = 0;
    std::vector<std::uint8_t> body;
  };

  void add(LinkId from, std::uint8_t type, ByteView body) {
    frames_.push_back({from, type, {body.begin(), body.end()}});
    bytes_ += size_of(frames_.back());
    while (bytes_ > kBytesMax) {
      bytes_ -= size_of(frames_.front());
      frames_.pop_front();
    }
  }
  /// In the order in which they came.
  std::deque<Frame> take() {
    bytes_ = 0;
    return std::exchange(frames_, {});
  }
  void forget(LinkId from) {
    std::erase_if(frames_, [&](const Frame& each) {
      if (each.from != from) return false;
      bytes_ -= size_of(each);
      return true;
    });
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static std::size_t size_of(const Frame& frame) { return sizeof(Frame) + frame.body.size(); }

  std::deque<Frame> frames_;
  std::size_t bytes_ = 0;
};

}  // namespace spindled
