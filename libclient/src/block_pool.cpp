#include "libclient/src/block_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace spindle {

namespace {

/// A page of the larger kind, where the system has one of that size.
constexpr std::size_t kLargePageBytes = 2u << 20;

std::uint8_t* allocate(std::size_t bytes) {
  if (bytes < kLargePageBytes) {
    if (void* memory = std::malloc(bytes)) return static_cast<std::uint8_t*>(memory);
    throw std::bad_alloc();
  }
  const std::size_t pages = (bytes + kLargePageBytes - 1) / kLargePageBytes;
  void* const memory = std::aligned_alloc(kLargePageBytes, pages * kLargePageBytes);
  if (memory == nullptr) throw std::bad_alloc();
  // It may refuse; then pages are small.
  static_cast<void>(::madvise(memory, bytes / kLargePageBytes * kLargePageBytes, MADV_HUGEPAGE));
  return static_cast<std::uint8_t*>(memory);
}

}  // namespace

std::uint8_t* BlockPool::take(std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    ++in_use_;
    keeps_ = true;
    const auto found =
        std::find_if(free_.rbegin(), free_.rend(), [bytes](const Free& each) { return each.bytes == bytes; });
    if (found != free_.rend()) {
      std::uint8_t* const memory = found->memory;
      free_.erase(std::next(found).base());
      free_bytes_ -= bytes;
      return memory;
    }
    free_.reserve(free_.size() + in_use_);  // to give back never fails
  }
  try {
    return allocate(bytes);
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(mutex_);
    --in_use_;
    throw;
  }
}

void BlockPool::give_back(std::uint8_t* memory, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  --in_use_;
  free_.push_back({memory, bytes});
  free_bytes_ += bytes;
  keep(!keeps_ ? 0 : in_use_ == 0 ? kIdleBytesMax : kFreeBytesMax);
}

void BlockPool::clear() noexcept {
  const std::lock_guard lock(mutex_);
  keeps_ = false;
  keep(0);
}

void BlockPool::keep(std::size_t bytes) noexcept {
  while (free_bytes_ > bytes) {
    free_bytes_ -= free_.back().bytes;
    std::free(free_.back().memory);
    free_.pop_back();
  }
}

}  // namespace spindle
