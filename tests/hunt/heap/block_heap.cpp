// operator new and delete for `simulate`, which spends an eighth of its time in those of the system.
//
// A run allocates and frees many small objects in one thread. Those of up to kSmallMax bytes come from lists of free
// blocks, one for each size in steps of 16 bytes; spans of blocks of one size lie in one region of addresses, so that
// the span of a block tells its size and an address tells whether it is a block. All others are the system's. What was
// once a span of a size remains one, and nothing is given back before the process ends: the next seed needs it again.
//
// Not thread-safe: `simulate` has processes, no threads. Sanitizers bring their own operators.
#include <malloc.h>
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

constexpr std::size_t kStep = 16;  // which is the alignment of operator new, too
constexpr std::size_t kSmallMax = 2048;
constexpr std::size_t kSpanBytes = 64u << 10;
constexpr std::size_t kRegionBytes = std::size_t{8} << 30;  // of addresses; memory comes as it is touched

static_assert(kStep >= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

struct Free {
  Free* next;
  std::uintptr_t mark;  // kMark: it is free
};
/// No content of an object is likely to be this.
constexpr std::uintptr_t kMark = 0x9d3f1c5be2a84671;

class BlockHeap {
 public:
  void* allocate(std::size_t size) {
    if (size > kSmallMax) [[unlikely]]
      return allocate_large(size);
    const std::size_t index = size == 0 ? 0 : (size - 1) / kStep;
    Free* block = free_[index];
    if (block == nullptr) [[unlikely]]
      return carve(index);
    free_[index] = block->next;
    block->mark = 0;
    return block;
  }

  void release(void* at) {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(at) - begin_;
    if (offset >= kRegionBytes) [[unlikely]] {
      std::free(at);
      return;
    }
    auto* block = static_cast<Free*>(at);
    if (block->mark == kMark) std::abort();  // it is released twice
    const std::size_t index = sizes_[offset / kSpanBytes];
    block->next = free_[index];
    block->mark = kMark;
    free_[index] = block;
  }

 private:
  void* allocate_large(std::size_t size) {
    void* at = std::malloc(size);
    if (at == nullptr) throw std::bad_alloc();
    return at;
  }

  /// A block of a size of which none is free.
  void* carve(std::size_t index) {
    const std::size_t size = (index + 1) * kStep;
    Span& span = spans_[index];
    if (span.left < size) {
      if (!add_span(index)) return allocate_large(size);
    }
    void* at = reinterpret_cast<void*>(span.at);
    span.at += size;
    span.left -= size;
    return at;
  }

  bool add_span(std::size_t index) {
    if (begin_ == kNone && !reserve()) return false;
    if (used_ == kRegionBytes / kSpanBytes) return false;
    sizes_[used_] = static_cast<std::uint8_t>(index);
    spans_[index] = {begin_ + used_ * kSpanBytes, kSpanBytes};
    ++used_;
    return true;
  }

  bool reserve() {
    void* const region =
        ::mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) return false;
    begin_ = reinterpret_cast<std::uintptr_t>(region);
    // Nor does the system's part give anything back between two runs.
    ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
    ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
    ::mallopt(M_TOP_PAD, 4 << 20);
    return true;
  }

  /// Where no region is, no address is in it.
  static constexpr std::uintptr_t kNone = ~std::uintptr_t{0} - kRegionBytes;
  struct Span {
    std::uintptr_t at;
    std::size_t left;  // bytes
  };
  static constexpr std::size_t kSizes = kSmallMax / kStep;

  std::uintptr_t begin_ = kNone;
  std::size_t used_ = 0;  // spans
  std::array<Free*, kSizes> free_{};
  std::array<Span, kSizes> spans_{};
  std::array<std::uint8_t, kRegionBytes / kSpanBytes> sizes_{};  // an index of a size, by the span
};

constinit BlockHeap heap;

}  // namespace

void* operator new(std::size_t size) { return heap.allocate(size); }
void* operator new[](std::size_t size) { return heap.allocate(size); }
void operator delete(void* at) noexcept {
  if (at != nullptr) heap.release(at);
}
void operator delete[](void* at) noexcept { operator delete(at); }
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }
void operator delete[](void* at, std::size_t) noexcept { operator delete(at); }

#endif
