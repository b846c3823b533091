// A checksum over words and bytes, the same on every machine.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "libclient/common/bytes.h"

namespace spindled::checkers {

using spindle::ByteView;

class Digest {
 public:
  void add(std::uint64_t word) { value_ = std::rotl((value_ ^ word) * 0x00000100000001b3, 23); }
  void add(ByteView bytes);
  void add(std::string_view text) { add(spindle::as_bytes(text)); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace spindled::checkers
