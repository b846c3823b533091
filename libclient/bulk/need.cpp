#include "libclient/bulk/need.h"

#include <algorithm>
#include <span>

namespace spindle::bulk {

namespace {

constexpr std::uint8_t kServesBit = 0x01;
constexpr std::uint8_t kLostBit = 0x02;
constexpr std::uint8_t kIndexBit = 0x04;
constexpr std::uint8_t kAwaitsBit = 0x08;
constexpr std::uint8_t kMeshedBit = 0x10;
constexpr std::uint8_t kAllBits = 0x1f;

std::uint8_t flags_of(const Need& need) {
  return static_cast<std::uint8_t>((need.serves ? kServesBit : 0) | (need.lost ? kLostBit : 0) |
                                   (need.knows_index ? kIndexBit : 0) | (need.awaits ? kAwaitsBit : 0) |
                                   (need.meshed ? kMeshedBit : 0));
}

std::span<const Need::Begun> written_of(const Need& need) {
  return std::span(need.begun).first(std::min(need.begun.size(), kBegunBlocksMax));
}

/// Appends what `one` has begun as far as `other` has begun it, too, or has it complete.
void append_common(std::vector<Need::Begun>& begun, const Need& one, const Need& other) {
  for (const Need::Begun& each : one.begun) {
    if (other.complete.contains(each.block)) {
      begun.push_back(each);
    } else if (const std::uint32_t held = other.held_of(each.block); held != 0) {
      begun.push_back({each.block, std::min(each.held, held)});
    }
  }
}

}  // namespace

std::uint32_t Need::held_of(std::uint32_t block) const {
  const auto found =
      std::partition_point(begun.begin(), begun.end(), [&](const Begun& each) { return each.block < block; });
  return found != begun.end() && found->block == block ? found->held : 0;
}

BlockSet settled(const Need& need) {
  BlockSet blocks = need.complete;
  for (const Need::Begun& each : need.begun) {
    if (each.held == kEnough) blocks.add(each.block);
  }
  return blocks;
}

void add_enough(Need& need, const BlockSet& blocks) {
  const BlockSet enough = difference(blocks, need.complete);
  if (enough.empty()) return;
  std::erase_if(need.begun, [&](const Need::Begun& each) { return enough.contains(each.block); });
  const auto others = static_cast<std::ptrdiff_t>(need.begun.size());
  for (const BlockSet::Run& run : enough.runs()) {
    for (std::uint32_t block = run.first; block < run.end; ++block) need.begun.push_back({block, kEnough});
  }
  std::inplace_merge(need.begun.begin(), need.begun.begin() + others, need.begun.end(),
                     [](const Need::Begun& left, const Need::Begun& right) { return left.block < right.block; });
}

Need merged(const Need& a, const Need& b) {
  Need need;
  need.complete = intersection(a.complete, b.complete);
  need.serves = a.serves || b.serves;
  need.lost = a.lost || b.lost;
  need.awaits = a.awaits || b.awaits;
  need.knows_index = a.knows_index || b.knows_index;
  append_common(need.begun, a, b);
  append_common(need.begun, b, a);
  // What both have begun is there twice.
  std::sort(need.begun.begin(), need.begun.end(),
            [](const Need::Begun& left, const Need::Begun& right) { return left.block < right.block; });
  need.begun.erase(std::unique(need.begun.begin(), need.begun.end()), need.begun.end());
  return need;
}

std::size_t need_size(const Need& need) {
  const auto begun = written_of(need);
  std::size_t size = 1 + varint_size(need.seen) + block_set_size(need.complete) + varint_size(begun.size());
  std::uint32_t at = 0;
  for (const Need::Begun& each : begun) {
    size += varint_size(each.block - at) + varint_size(each.held);
    at = each.block + 1;
  }
  return size;
}

void write_need(Writer& writer, const Need& need) {
  const auto begun = written_of(need);
  writer.u8(flags_of(need));
  writer.varint(need.seen);
  write_block_set(writer, need.complete);
  writer.varint(begun.size());
  std::uint32_t at = 0;
  for (const Need::Begun& each : begun) {
    writer.varint(each.block - at);
    writer.varint(each.held);
    at = each.block + 1;
  }
}

Need read_need(Reader& reader) {
  Need need;
  const std::uint8_t flags = reader.u8();
  if ((flags & ~kAllBits) != 0) reader.fail();
  need.serves = (flags & kServesBit) != 0;
  need.lost = (flags & kLostBit) != 0;
  need.knows_index = (flags & kIndexBit) != 0;
  need.awaits = (flags & kAwaitsBit) != 0;
  need.meshed = (flags & kMeshedBit) != 0;
  need.seen = reader.varint();
  need.complete = read_block_set(reader);
  const std::uint64_t count = reader.varint_up_to(kBegunBlocksMax);
  if (count > reader.remaining() / 2) reader.fail();  // each takes two bytes at least
  if (!reader.ok()) return need;
  need.begun.reserve(count);
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    const std::uint64_t block = at + reader.varint_up_to(kBlocksMax);
    const auto held = static_cast<std::uint32_t>(reader.varint_up_to(kHeldSymbolsMax));
    if (block >= kBlocksMax || held == 0) reader.fail();
    if (!reader.ok()) break;
    if (need.complete.contains(static_cast<std::uint32_t>(block))) reader.fail();
    need.begun.push_back({static_cast<std::uint32_t>(block), held});
    at = block + 1;
  }
  return need;
}

}  // namespace spindle::bulk
