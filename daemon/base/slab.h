// Memory for bytes on their way through the node: read or encoded once, then referenced.
//
// A Slab is a reference-counted block; a Slice is a counted reference to a part of one. The counts are not atomic: a
// pool, its slabs and all slices into them belong to the one thread that runs the node. The pool outlives its slices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "daemon/base/check.h"
#include "libclient/common/bytes.h"

namespace spindled {

using spindle::ByteView;

class SlabPool;

/// Lives in front of its bytes; made and recycled by SlabPool only.
class Slab {
 public:
  std::uint8_t* bytes() { return reinterpret_cast<std::uint8_t*>(this + 1); }
  std::size_t capacity() const { return capacity_; }

 private:
  friend class SlabPool;
  friend class SlabRef;

  SlabPool* pool_ = nullptr;
  std::uint32_t references_ = 0;
  std::uint32_t capacity_ = 0;
};

/// A counted reference to a slab.
class SlabRef {
 public:
  SlabRef() = default;
  /// Shares `slab`.
  explicit SlabRef(Slab* slab) : slab_(slab) {
    if (slab_ != nullptr) ++slab_->references_;
  }
  SlabRef(const SlabRef& other) : SlabRef(other.slab_) {}
  SlabRef(SlabRef&& other) noexcept : slab_(std::exchange(other.slab_, nullptr)) {}
  SlabRef& operator=(SlabRef other) noexcept {
    std::swap(slab_, other.slab_);
    return *this;
  }
  ~SlabRef() { reset(); }

  void reset();
  Slab* get() const { return slab_; }
  Slab* operator->() const { return slab_; }
  explicit operator bool() const { return slab_ != nullptr; }

 private:
  Slab* slab_ = nullptr;
};

/// Recycles slabs of three sizes and allocates odd sizes as they come.
class SlabPool {
 public:
  static constexpr std::size_t kSmallBytes = 4u << 10;
  static constexpr std::size_t kMediumBytes = 16u << 10;
  static constexpr std::size_t kLargeBytes = 128u << 10;

  SlabPool() = default;
  SlabPool(const SlabPool&) = delete;
  SlabPool& operator=(const SlabPool&) = delete;
  ~SlabPool();

  /// A slab with room for at least `bytes`.
  SlabRef take(std::size_t bytes);

  /// Bytes in slabs that are referenced now.
  std::size_t bytes_in_use() const { return bytes_in_use_; }

 private:
  friend class SlabRef;

  /// Slabs of one size that wait to be used again.
  struct Free {
    std::size_t bytes = 0;  // of each
    std::size_t max = 0;    // that are kept
    std::vector<Slab*> slabs;
  };

  void give_back(Slab* slab);
  static void destroy(Slab* slab);
  /// Those of that capacity; null for an odd one.
  Free* free_of(std::size_t capacity);

  // 4, 8 and 8 MiB.
  Free small_{kSmallBytes, 1024, {}};
  Free medium_{kMediumBytes, 512, {}};
  Free large_{kLargeBytes, 64, {}};
  std::size_t bytes_in_use_ = 0;
};

/// Bytes inside a slab, kept alive by it.
class Slice {
 public:
  Slice() = default;
  Slice(SlabRef slab, const std::uint8_t* data, std::size_t size)
      : slab_(std::move(slab)), data_(data), size_(static_cast<std::uint32_t>(size)) {}

  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  ByteView view() const { return {data_, size_}; }
  const SlabRef& slab() const { return slab_; }

  /// The part of this slice from `offset`, `count` bytes long or to the end.
  Slice part(std::size_t offset, std::size_t count = SIZE_MAX) const {
    SPINDLE_CHECK(offset <= size_);
    return {slab_, data_ + offset, std::min<std::size_t>(count, size_ - offset)};
  }
  /// Leaves out the first `bytes`.
  void remove_prefix(std::size_t bytes) {
    SPINDLE_CHECK(bytes <= size_);
    data_ += bytes;
    size_ -= static_cast<std::uint32_t>(bytes);
  }
  /// Takes in the `bytes` that follow it in its slab.
  void extend(std::size_t bytes) { size_ += static_cast<std::uint32_t>(bytes); }

 private:
  SlabRef slab_;
  const std::uint8_t* data_ = nullptr;
  std::uint32_t size_ = 0;
};

/// The bytes of the first one, or none where there is none.
inline ByteView first_view(std::span<const Slice> slices) {
  return slices.empty() ? ByteView() : slices.front().view();
}

/// Hands out consecutive pieces of large slabs: many small writes share one allocation.
class SlabWriter {
 public:
  explicit SlabWriter(SlabPool& pool) : pool_(&pool) {}

  SlabPool& pool() { return *pool_; }

  /// Room for `bytes` contiguous bytes, valid until the next call; nothing is used up until `commit`.
  std::uint8_t* reserve(std::size_t bytes);
  /// Room for at least `bytes`, and whatever more the present slab has.
  std::span<std::uint8_t> reserve_rest(std::size_t bytes);
  /// Uses the first `bytes` of what was reserved.
  Slice commit(std::size_t bytes);
  Slice copy(ByteView bytes);

 private:
  SlabPool* pool_;
  SlabRef slab_;
  std::size_t used_ = 0;
};

inline void SlabRef::reset() {
  if (slab_ == nullptr) return;
  if (--slab_->references_ == 0) slab_->pool_->give_back(slab_);
  slab_ = nullptr;
}

}  // namespace spindled
