#include "tests/checkers/digest.h"

namespace spindled::checkers {

void Digest::add(ByteView bytes) {
  // The length goes in first, so that "ab", "c" and "a", "bc" differ.
  add(static_cast<std::uint64_t>(bytes.size()));
  spindle::Reader reader(bytes);
  while (reader.remaining() >= 8) add(reader.u64());
  std::uint64_t last = 0;
  while (reader.remaining() > 0) last = last << 8 | reader.u8();
  add(last);
}

}  // namespace spindled::checkers
