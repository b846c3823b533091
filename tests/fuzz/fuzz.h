// What the fuzz targets share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/base/check.h"
#include "libclient/common/bytes.h"

/// Defined by each target; called with one input after the other, it must come back from any bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace spindle_fuzz {

using spindle::ByteView;

/// Takes choices off the front of an input. An input that is used up gives zeros.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  bool empty() const { return bytes_.empty(); }
  std::uint8_t u8() {
    if (bytes_.empty()) return 0;
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  std::uint16_t u16() {
    const unsigned low = u8();
    return static_cast<std::uint16_t>(low | (unsigned{u8()} << 8));
  }
  /// The next `count` bytes, or as many as are left.
  ByteView bytes(std::size_t count) {
    const ByteView taken = bytes_.first(count < bytes_.size() ? count : bytes_.size());
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }
  ByteView rest() { return bytes(bytes_.size()); }

 private:
  ByteView bytes_;
};

/// Holds a decoder and its encoder to each other: what was read, written again, reads as the same. `read` takes bytes
/// and gives an optional; `write` takes its value and gives the bytes of the same layout.
template <typename Read, typename Write>
void check_round_trip(ByteView bytes, Read read, Write write) {
  const auto value = read(bytes);
  if (!value) return;
  const std::vector<std::uint8_t> written = write(*value);
  const auto again = read(ByteView(written));
  SPINDLE_CHECK(again.has_value());
  SPINDLE_CHECK(write(*again) == written);
}

}  // namespace spindle_fuzz
