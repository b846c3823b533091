// What a source has handed over and has not left yet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "daemon/base/ring.h"
#include "daemon/base/slab.h"
#include "daemon/wire/datagrams.h"

namespace spindled {

/// Messages, first in, first out, given out as fragments, or several that are short as a bundle. However short they
/// are, each costs a few bytes besides.
class FragmentQueue {
 public:
  void add(ByteView message) {
    if (left_.empty() || (taken_ > kCompactBytes && taken_ > bytes_.size() / 2)) {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(taken_));
      taken_ = 0;
    }
    bytes_.insert(bytes_.end(), message.begin(), message.end());
    left_.push_back(static_cast<std::uint32_t>(message.size()));
  }

  bool empty() const { return left_.empty(); }
  /// Of payload.
  std::size_t bytes() const { return bytes_.size() - taken_; }
  std::size_t memory_bytes() const {
    return bytes_.capacity() + bundle_.capacity() + left_.size() * sizeof(std::uint32_t);
  }

  struct Fragment {
    std::uint8_t flags = 0;         // FeedPacket::kFirst, kLast and kBundle
    ByteView payload;               // valid until something is added or taken
    std::size_t message_bytes = 0;  // that are gone from the queue
  };
  /// The next one, of at most so many bytes; where it is not empty.
  Fragment take(std::size_t bytes_max) {
    if (const std::size_t messages = count_bundle(bytes_max); messages > 1) return take_bundle(messages);
    std::uint32_t& left = left_.front();
    const std::size_t size = std::min<std::size_t>(left, bytes_max);
    Fragment fragment;
    fragment.payload = {bytes_.data() + taken_, size};
    fragment.message_bytes = size;
    if (!is_begun_) fragment.flags |= FeedPacket::kFirst;
    if (size == left) fragment.flags |= FeedPacket::kLast;
    taken_ += size;
    left -= static_cast<std::uint32_t>(size);
    is_begun_ = left != 0;
    if (left == 0) left_.pop_front();
    return fragment;
  }

 private:
  static constexpr std::size_t kCompactBytes = 16u << 10;

  /// How many whole messages, from the first one on, fit into a packet together.
  std::size_t count_bundle(std::size_t bytes_max) const {
    if (is_begun_) return 0;
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < left_.size(); ++count) {
      bytes += spindle::varint_size(left_[count]) + left_[count];
      if (bytes > bytes_max) break;
    }
    return count;
  }
  Fragment take_bundle(std::size_t messages) {
    bundle_.clear();
    Fragment fragment;
    fragment.flags = FeedPacket::kFirst | FeedPacket::kLast | FeedPacket::kBundle;
    for (; messages > 0; --messages) {
      const std::uint32_t size = left_.front();
      const std::size_t at = bundle_.size(), head = spindle::varint_size(size);
      bundle_.resize(at + head + size);
      Writer writer(bundle_.data() + at);
      writer.varint(size);
      writer.bytes({bytes_.data() + taken_, size});
      taken_ += size;
      fragment.message_bytes += size;
      left_.pop_front();
    }
    fragment.payload = bundle_;
    return fragment;
  }

  std::vector<std::uint8_t> bytes_;
  std::size_t taken_ = 0;         // of these
  Ring<std::uint32_t, 64> left_;  // of each message: its bytes that have not been taken
  bool is_begun_ = false;         // the first one
  std::vector<std::uint8_t> bundle_;
};

}  // namespace spindled
