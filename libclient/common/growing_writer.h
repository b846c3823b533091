// Writing of what is rare and of many sizes, and need not be measured before.
#pragma once

#include <utility>
#include <vector>

#include "libclient/common/bytes.h"

namespace spindle {

/// As Writer, but that it grows as it is written to.
class GrowingWriter {
 public:
  void u8(std::uint8_t value) { out_.push_back(value); }
  void u16(std::uint16_t value) { room(2).u16(value); }
  void u32(std::uint32_t value) { room(4).u32(value); }
  void u64(std::uint64_t value) { room(8).u64(value); }
  void varint(std::uint64_t value) { room(varint_size(value)).varint(value); }
  void bytes(ByteView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void short_string(std::string_view text) { room(1 + text.size()).short_string(text); }
  /// For what writes itself and says how long it is.
  Writer room(std::size_t size) {
    out_.resize(out_.size() + size);
    return Writer(out_.data() + out_.size() - size);
  }

  std::size_t size() const { return out_.size(); }
  ByteView view() const { return out_; }
  std::vector<std::uint8_t> take() { return std::move(out_); }

 private:
  std::vector<std::uint8_t> out_;
};

}  // namespace spindle
