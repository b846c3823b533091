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

std::size_t MemberSet::width() const {
  const std::uint64_t top = high_.empty() ? low_ : high_.back();
  return 64 * high_.size() + static_cast<std::size_t>(std::bit_width(top));
}

/// The shortest form; of two that are equally short, the one that `Form` has first.
MemberSet::Encoding MemberSet::encoding() const {
  const std::size_t count = byte_count();
  Encoding best{Form::bitstring, 0, 1 + count};
  if (count < kOtherFormBytesMin) return best;
  const std::size_t members = this->count();
  constexpr std::size_t kBelowSize = 3;
  if (kBelowSize < best.size && members == width()) return {Form::below, 0, kBelowSize};
  const std::size_t skipped = front() / 8u;
  const std::size_t shifted_size = 3 + count - skipped;
  if (shifted_size < best.size) return {Form::shifted, skipped, shifted_size};
  return best;
}

void MemberSet::write_long(spindle::Writer& writer, std::size_t count) const {
  const Encoding how = encoding();
  if (how.form != Form::bitstring) writer.u8(static_cast<std::uint8_t>(how.form));
  if (how.form == Form::below) {
    writer.u16(static_cast<std::uint16_t>(width()));
    return;
  }
  if (how.form == Form::shifted) writer.u8(static_cast<std::uint8_t>(how.skipped));
  writer.u8(static_cast<std::uint8_t>(count - how.skipped));
  for (std::size_t i = how.skipped; i < count; ++i) writer.u8(byte_at(i));
}

MemberSet MemberSet::read_long(spindle::Reader& reader, std::uint8_t first) {
  MemberSet set;
  Form form = Form::bitstring;
  if (first == static_cast<std::uint8_t>(Form::below)) {
    form = Form::below;
    set = read_below(reader);
  } else if (first == static_cast<std::uint8_t>(Form::shifted)) {
    form = Form::shifted;
    const std::size_t from = reader.u8();
    set = read_bitstring(reader, from, reader.u8());
  } else {
    set = read_bitstring(reader, 0, first);
  }
  if (!reader.ok() || set.encoding().form != form) reader.fail();  // one set, one encoding
  return set;
}

MemberSet MemberSet::read_below(spindle::Reader& reader) {
  const std::size_t width = reader.u16();
  if (width > kMembersMax) reader.fail();
  return reader.ok() ? first(width) : MemberSet();
}

MemberSet MemberSet::read_bitstring(spindle::Reader& reader, std::size_t from, std::size_t count) {
  MemberSet set;
  const spindle::ByteView bytes = reader.bytes(count);
  if (from + count > kMembersMax / 8 || (!bytes.empty() && bytes.back() == 0) || (from > 0 && bytes.empty()) ||
      (from > 0 && bytes.front() == 0)) {
    reader.fail();
  }
  if (!reader.ok()) return set;
  if (from + count > 8) set.high_.resize((from + count + 7) / 8 - 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = from + i;
    std::uint64_t& word = at < 8 ? set.low_ : set.high_[at / 8 - 1];
    word |= static_cast<std::uint64_t>(bytes[i]) << (8 * (at % 8));
  }
  return set;
}

}  // namespace spindled
