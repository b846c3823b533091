// Bytes in, the same bytes out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "libclient/common/bytes.h"

namespace spindled::sim {

class ByteFifo {
 public:
  std::size_t size() const { return bytes_.size() - head_; }
  bool empty() const { return size() == 0; }
  void clear() {
    bytes_.clear();
    head_ = 0;
  }

  /// Takes them as they are where there are no others.
  void push(std::vector<std::uint8_t>&& bytes) {
    if (empty()) {
      bytes_ = std::move(bytes);
      head_ = 0;
    } else {
      push(spindle::ByteView(bytes));
    }
  }
  void push(spindle::ByteView bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  spindle::ByteView front() const { return {bytes_.data() + head_, size()}; }
  void pop(std::size_t count) {
    head_ += count;
    if (head_ == bytes_.size()) {
      clear();
    } else if (head_ > kCompactBytes && head_ > bytes_.size() / 2) {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }
  /// Moves out the first bytes, as many as fit.
  std::size_t pop_into(std::span<std::uint8_t> out) {
    const std::size_t count = std::min(out.size(), size());
    if (count > 0) std::memcpy(out.data(), bytes_.data() + head_, count);
    pop(count);
    return count;
  }

 private:
  static constexpr std::size_t kCompactBytes = 64u << 10;

  std::vector<std::uint8_t> bytes_;
  std::size_t head_ = 0;
};

}  // namespace spindled::sim
