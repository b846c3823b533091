// What is written from several buffers, piece by piece.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "libclient/common/bytes.h"

namespace spindle {

/// Takes from the front of `buffers`, and no more than `bytes_max` in all.
class GatheredBytes {
 public:
  GatheredBytes(std::span<const ByteView> buffers, std::size_t bytes_max) : buffers_(buffers), left_max_(bytes_max) {
    skip_empty();
  }

  bool empty() const { return buffers_.empty() || left_max_ == 0; }
  std::size_t taken() const { return taken_; }

  /// The next bytes, as many as there are up to the size of `space`: where they lie if one buffer has them all,
  /// otherwise copied to `space`.
  ByteView next(std::span<std::uint8_t> space) {
    const std::size_t wanted = std::min(space.size(), left_max_);
    if (empty()) return {};
    const ByteView front = buffers_.front().subspan(offset_);
    if (front.size() >= wanted || buffers_.size() == 1) return take(wanted);
    std::size_t gathered = 0;
    while (gathered < wanted && !empty()) {
      const ByteView piece = take(wanted - gathered);
      std::memcpy(space.data() + gathered, piece.data(), piece.size());
      gathered += piece.size();
    }
    return space.first(gathered);
  }

 private:
  ByteView take(std::size_t wanted) {
    const ByteView front = buffers_.front().subspan(offset_);
    const ByteView piece = front.first(std::min(front.size(), wanted));
    offset_ += piece.size();
    taken_ += piece.size();
    left_max_ -= piece.size();
    skip_empty();
    return piece;
  }

  void skip_empty() {
    while (!buffers_.empty() && offset_ == buffers_.front().size()) {
      buffers_ = buffers_.subspan(1);
      offset_ = 0;
    }
  }

  std::span<const ByteView> buffers_;
  std::size_t offset_ = 0;  // in the first of them
  std::size_t left_max_;
  std::size_t taken_ = 0;
};

}  // namespace spindle
