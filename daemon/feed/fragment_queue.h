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
/// are, each costs a few bytes besides. What waits stands in slabs of 16 KiB, which are let go as they are taken: there
/// are many queues, and one that was long once takes nothing when it is empty.
class FragmentQueue {
 public:
  /// The pool outlives it.
  explicit FragmentQueue(SlabPool& pool) : pool_(pool) {}

  void add(ByteView message) {
    left_.push_back(static_cast<std::uint32_t>(message.size()));
    bytes_ += message.size();
    while (!message.empty()) {
      if (slabs_.empty() || filled_ == slabs_.back()->capacity()) {
        // The first one may be small: of most feeds a packet or two waits.
        const std::size_t wanted = slabs_.empty() ? message.size() : SlabPool::kMediumBytes;
        slabs_.push_back(pool_.take(std::min(wanted, SlabPool::kMediumBytes)));
        slab_bytes_ += slabs_.back()->capacity();
        filled_ = 0;
      }
      const std::size_t size = std::min(message.size(), slabs_.back()->capacity() - filled_);
      std::copy_n(message.begin(), size, slabs_.back()->bytes() + filled_);
      filled_ += size;
      message = message.subspan(size);
    }
  }

  /// Nothing is in it any more, not even the rest of a message that was begun.
  void clear() {
    slabs_.clear();
    left_.clear();
    first_ = filled_ = slab_bytes_ = bytes_ = 0;
    is_begun_ = false;
  }
  bool empty() const { return left_.empty(); }
  /// Of payload.
  std::size_t bytes() const { return bytes_; }
  /// That it takes of the pool.
  std::size_t slab_bytes() const { return slab_bytes_; }
  /// That it takes beside these.
  std::size_t heap_bytes() const { return taken_.capacity() + left_.size() * sizeof(std::uint32_t); }
  std::size_t memory_bytes() const { return slab_bytes() + heap_bytes(); }

  struct Fragment {
    std::uint8_t flags = 0;         // FeedPacket::kFirst, kLast and kBundle
    ByteView payload;               // valid until the next one is taken
    std::size_t message_bytes = 0;  // that are gone from the queue
  };
  /// The next one, of at most so many bytes; where it is not empty.
  Fragment take(std::size_t bytes_max) {
    taken_.clear();
    if (const std::size_t messages = count_bundle(bytes_max); messages > 1) return take_bundle(messages);
    std::uint32_t& left = left_.front();
    const std::size_t size = std::min<std::size_t>(left, bytes_max);
    Fragment fragment;
    if (!is_begun_) fragment.flags |= FeedPacket::kFirst;
    if (size == left) fragment.flags |= FeedPacket::kLast;
    left -= static_cast<std::uint32_t>(size);
    is_begun_ = left != 0;
    if (left == 0) left_.pop_front();
    move_out(size);
    fragment.payload = taken_;
    fragment.message_bytes = size;
    return fragment;
  }

 private:
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
    Fragment fragment;
    fragment.flags = FeedPacket::kFirst | FeedPacket::kLast | FeedPacket::kBundle;
    for (; messages > 0; --messages) {
      const std::uint32_t size = left_.pop_front();
      const std::size_t at = taken_.size();
      taken_.resize(at + spindle::varint_size(size));
      Writer(taken_.data() + at).varint(size);
      move_out(size);
      fragment.message_bytes += size;
    }
    fragment.payload = taken_;
    return fragment;
  }
  /// The next ones of payload go behind what is taken.
  void move_out(std::size_t bytes) {
    bytes_ -= bytes;
    while (bytes > 0) {
      Slab& slab = *slabs_.front().get();
      const std::size_t end = slabs_.size() == 1 ? filled_ : slab.capacity();
      const std::size_t size = std::min(bytes, end - first_);
      taken_.insert(taken_.end(), slab.bytes() + first_, slab.bytes() + first_ + size);
      first_ += size;
      bytes -= size;
      if (first_ < end) continue;
      slab_bytes_ -= slab.capacity();
      slabs_.pop_front();
      first_ = 0;
    }
  }

  SlabPool& pool_;
  Ring<SlabRef, 16> slabs_;
  std::size_t first_ = 0;         // in the first of these
  std::size_t filled_ = 0;        // of the last
  std::size_t slab_bytes_ = 0;    // that they have room for
  std::size_t bytes_ = 0;         // of payload
  Ring<std::uint32_t, 64> left_;  // of each message: its bytes that have not been taken
  bool is_begun_ = false;         // the first one
  std::vector<std::uint8_t> taken_;
};

}  // namespace spindled
