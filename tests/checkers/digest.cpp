#include "tests/checkers/digest.h"

#include <cstring>

namespace spindled::checkers {

void Digest::add(ByteView bytes) {
  // The length goes in first, so that "ab", "c" and "a", "bc" differ.
  add(static_cast<std::uint64_t>(bytes.size()));
  // Words are little-endian on every machine. Most that is added are frames: their bytes are read a word at a time.
  for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = spindle::Reader(bytes).u64();
    add(word);
  }
  std::uint64_t last = 0;
  for (const std::uint8_t each : bytes) last = last << 8 | each;
  add(last);
}

}  // namespace spindled::checkers
