#include "daemon/base/member_set.h"

#include "daemon/base/check.h"

namespace spindled {

MemberIndex MemberSet::front() const {
  SPINDLE_CHECK(!empty());
  if (low_ != 0) return static_cast<MemberIndex>(std::countr_zero(low_));
  std::size_t word = 0;
  while (high_[word] == 0) ++word;
  return static_cast<MemberIndex>(64 * (word + 1) + static_cast<std::size_t>(std::countr_zero(high_[word])));
}

void MemberSet::write(spindle::protocol::Writer& writer) const {
  const std::size_t count = byte_count();
  writer.u8(static_cast<std::uint8_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = i < 8 ? low_ : high_[i / 8 - 1];
    writer.u8(static_cast<std::uint8_t>(word >> (8 * (i % 8))));
  }
}

MemberSet MemberSet::read(spindle::protocol::Reader& reader) {
  MemberSet set;
  const std::size_t count = reader.u8();
  const spindle::protocol::ByteView bytes = reader.bytes(count);
  if (!bytes.empty() && bytes.back() == 0) reader.fail();  // one set, one encoding
  if (!reader.ok()) return set;
  if (count > 8) set.high_.resize((count + 7) / 8 - 1);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t& word = i < 8 ? set.low_ : set.high_[i / 8 - 1];
    word |= static_cast<std::uint64_t>(bytes[i]) << (8 * (i % 8));
  }
  return set;
}

}  // namespace spindled
