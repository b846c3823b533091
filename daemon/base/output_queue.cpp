#include "daemon/base/output_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/base/check.h"

namespace spindled {

void OutputQueue::append(const Slice& slice, std::size_t copy_max) {
  if (slice.size() <= copy_max) {
    append_copy(slice.view());
    return;
  }
  pieces_.push_back(slice);
  bytes_ += slice.size();
}

void OutputQueue::append_copy(ByteView bytes) {
  if (bytes.empty()) return;
  std::copy(bytes.begin(), bytes.end(), append_space(bytes.size()));
}

std::uint8_t* OutputQueue::append_space(std::size_t bytes) {
  if (bytes == 0) return nullptr;  // an empty piece would be an empty buffer of a write
  if (!slab_ || slab_->capacity() - used_ < bytes) {
    // A queue that stays short gets a small slab, and one that is not long a medium one: thousands of sessions with a
    // reply each, or with what a slow client may have waiting, stay cheap.
    const std::size_t least = bytes_ == 0 ? 0 : bytes_ < long_bytes_ ? SlabPool::kMediumBytes : SlabPool::kLargeBytes;
    slab_ = pool_->take(std::max(bytes, least));
    used_ = 0;
  }
  std::uint8_t* at = slab_->bytes() + used_;
  Slice* last = pieces_.empty() ? nullptr : &pieces_.back();
  if (last != nullptr && last->slab().get() == slab_.get() && last->data() + last->size() == at) {
    last->extend(bytes);
  } else {
    pieces_.emplace_back(slab_, at, bytes);
  }
  used_ += bytes;
  bytes_ += bytes;
  return at;
}

std::size_t OutputQueue::gather(std::span<ByteView> buffers) const {
  const std::size_t count = std::min(buffers.size(), pieces_.size());
  for (std::size_t i = 0; i < count; ++i) buffers[i] = pieces_[i].view();
  return count;
}

void OutputQueue::copy_front(std::span<std::uint8_t> to) const {
  for (std::size_t i = 0; !to.empty(); ++i) {
    const ByteView piece = pieces_[i].view();
    const std::size_t count = std::min(piece.size(), to.size());
    std::copy_n(piece.begin(), count, to.begin());
    to = to.subspan(count);
  }
}

void OutputQueue::consume(std::size_t bytes) {
  SPINDLE_CHECK(bytes <= bytes_);
  bytes_ -= bytes;
  while (bytes != 0) {
    Slice& front = pieces_.front();
    if (bytes < front.size()) {
      front.remove_prefix(bytes);
      return;
    }
    bytes -= front.size();
    pieces_.pop_front();
  }
  if (bytes_ == 0) slab_.reset();
}

void OutputQueue::move_front(std::size_t bytes, OutputQueue& into) {
  SPINDLE_CHECK(bytes <= bytes_);
  while (bytes != 0) {
    const Slice part = pieces_.front().part(0, bytes);
    into.append(part);
    consume(part.size());
    bytes -= part.size();
  }
}

void OutputQueue::prepend(OutputQueue& from) {
  if (pieces_.empty()) {
    std::swap(pieces_, from.pieces_);
    std::swap(slab_, from.slab_);
    std::swap(used_, from.used_);
  } else {
    pieces_.insert(pieces_.begin(), std::make_move_iterator(from.pieces_.begin()),
                   std::make_move_iterator(from.pieces_.end()));
    from.pieces_.clear();
  }
  bytes_ += std::exchange(from.bytes_, 0);
  from.slab_.reset();
}

void OutputQueue::truncate(std::size_t keep) {
  while (bytes_ > keep) {
    Slice& back = pieces_.back();
    const std::size_t excess = std::min(bytes_ - keep, back.size());
    bytes_ -= excess;
    if (excess == back.size()) {
      pieces_.pop_back();
    } else {
      back = back.part(0, back.size() - excess);
    }
  }
  if (bytes_ == 0) slab_.reset();
}

}  // namespace spindled
