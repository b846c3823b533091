#include "daemon/base/slab.h"

#include <new>

namespace spindled {

SlabPool::~SlabPool() {
  SPINDLE_CHECK(bytes_in_use_ == 0);
  for (Slab* slab : free_small_) destroy(slab);
  for (Slab* slab : free_large_) destroy(slab);
}

SlabRef SlabPool::take(std::size_t bytes) {
  const std::size_t capacity = bytes <= kSmallBytes ? kSmallBytes : std::max(bytes, kLargeBytes);
  Slab* slab = nullptr;
  std::vector<Slab*>& free = capacity == kSmallBytes ? free_small_ : free_large_;
  if (capacity <= kLargeBytes && !free.empty()) {
    slab = free.back();
    free.pop_back();
  } else {
    slab = new (::operator new(sizeof(Slab) + capacity)) Slab;
    slab->pool_ = this;
    slab->capacity_ = static_cast<std::uint32_t>(capacity);
  }
  bytes_in_use_ += slab->capacity_;
  return SlabRef(slab);
}

void SlabPool::give_back(Slab* slab) {
  bytes_in_use_ -= slab->capacity_;
  if (slab->capacity_ == kSmallBytes && free_small_.size() < kFreeSmallMax) {
    free_small_.push_back(slab);
  } else if (slab->capacity_ == kLargeBytes && free_large_.size() < kFreeLargeMax) {
    free_large_.push_back(slab);
  } else {
    destroy(slab);
  }
}

void SlabPool::destroy(Slab* slab) {
  slab->~Slab();
  ::operator delete(slab);
}

std::uint8_t* SlabWriter::reserve(std::size_t bytes) {
  if (!slab_ || slab_->capacity() - used_ < bytes) {
    slab_ = pool_->take(std::max(bytes, SlabPool::kLargeBytes));
    used_ = 0;
  }
  return slab_->bytes() + used_;
}

std::span<std::uint8_t> SlabWriter::reserve_rest(std::size_t bytes) {
  std::uint8_t* at = reserve(bytes);
  return {at, slab_->capacity() - used_};
}

Slice SlabWriter::commit(std::size_t bytes) {
  Slice slice(slab_, slab_->bytes() + used_, bytes);
  used_ += bytes;
  return slice;
}

Slice SlabWriter::copy(ByteView bytes) {
  std::uint8_t* at = reserve(bytes.size());
  std::copy(bytes.begin(), bytes.end(), at);
  return commit(bytes.size());
}

}  // namespace spindled
