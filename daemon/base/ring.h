// A first-in-first-out queue in one growing block: no allocation per element, and an index into the middle.
#pragma once

#include <memory>
#include <utility>

#include "daemon/base/check.h"

namespace spindled {

/// `T` is movable and default-constructible; popped elements are reset to `T()` so that what they hold is released.
/// An empty ring keeps room for `KeptCapacity` elements at most: less where there are as many rings as clients.
template <typename T, std::size_t KeptCapacity = 1u << 14>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// That there is room for.
  std::size_t capacity() const { return capacity_; }

  T& operator[](std::size_t index) { return slots_[(first_ + index) & mask_]; }
  const T& operator[](std::size_t index) const { return slots_[(first_ + index) & mask_]; }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  /// A new last one, to be filled in where it stays.
  T& push_back() {
    if (size_ == capacity_) grow();
    return slots_[(first_ + size_++) & mask_];
  }
  T& push_back(T value) { return push_back() = std::move(value); }
  T pop_front() {
    SPINDLE_CHECK(size_ != 0);
    T value = std::exchange(slots_[first_], T());
    first_ = (first_ + 1) & mask_;
    --size_;
    // A queue that was long once does not stay large for ever.
    if (size_ == 0 && capacity_ > KeptCapacity) *this = Ring();
    return value;
  }
  void pop_back() {
    SPINDLE_CHECK(size_ != 0);
    --size_;
    slots_[(first_ + size_) & mask_] = T();
  }
  void clear() { *this = Ring(); }
  /// For a queue that may be long for a moment and is seldom empty: gives back half of the room where less than a
  /// quarter of it is in use, and more than `KeptCapacity`.
  void shrink() {
    if (4 * size_ < capacity_ && capacity_ > KeptCapacity) move_to(capacity_ / 2);
  }

 private:
  static constexpr std::size_t kFirstCapacity = 8;

  void grow() { move_to(capacity_ == 0 ? kFirstCapacity : 2 * capacity_); }
  void move_to(std::size_t capacity) {
    auto slots = std::make_unique<T[]>(capacity);
    for (std::size_t i = 0; i < size_; ++i) slots[i] = std::move((*this)[i]);
    slots_ = std::move(slots);
    capacity_ = capacity;
    mask_ = capacity - 1;
    first_ = 0;
  }

  std::unique_ptr<T[]> slots_;
  std::size_t capacity_ = 0;  // a power of two, or 0
  std::size_t mask_ = 0;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace spindled
