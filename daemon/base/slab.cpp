#include "daemon/base/slab.h"

#include <new>

namespace spindled {

SlabPool::~SlabPool() {
  SPINDLE_CHECK(bytes_in_use_ == 0);
  for (const Free* free : {&small_, &medium_, &large_}) {
    for (Slab* slab : free->slabs) destroy(slab);
  }
}

SlabPool::Free* SlabPool::free_of(std::size_t capacity) {
  if (capacity == kSmallBytes) return &small_;
  if (capacity == kMediumBytes) return &medium_;
  return capacity == kLargeBytes ? &large_ : nullptr;
}

SlabRef SlabPool::take(std::size_t bytes) {
  const std::size_t capacity = bytes <= kSmallBytes    ? kSmallBytes
                               : bytes <= kMediumBytes ? kMediumBytes
                                                       : std::max(bytes, kLargeBytes);
  Free* free = free_of(capacity);
  Slab* slab = nullptr;
  if (free != nullptr && !free->slabs.empty()) {
    slab = free->slabs.back();
    free->slabs.pop_back();
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
  Free* free = free_of(slab->capacity_);
  if (free != nullptr && free->slabs.size() < free->max) {
    free->slabs.push_back(slab);
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
