#include "libclient/bulk/child_stream.h"

#include <algorithm>

namespace spindle::bulk {

namespace {

/// Grants are advice of our own daemon; what they add up to has a bound all the same.
constexpr std::uint64_t kCreditMax = std::uint64_t{1} << 40;
/// So many symbols beyond its source symbols give a block with a probability of 99.9999 % (RFC 6330, section 5.8).
constexpr std::uint32_t kMoreSymbols = 2;

}  // namespace

void ChildStream::handle_grant(std::uint64_t symbols) {
  credit_ = std::min(credit_ + std::min(symbols, kCreditMax), kCreditMax);
}

std::optional<ChildStream::Wish> ChildStream::wish_from(std::uint32_t block, std::uint32_t sent,
                                                        const ContentLayout& layout, const BlockSet& available,
                                                        std::uint32_t end) const {
  end = std::min(end, layout.blocks());
  for (;; ++block, sent = 0) {
    const std::uint32_t missing = need_.complete.first_missing(block);
    const std::uint32_t present = available.first_present(missing);
    if (present >= end) return std::nullopt;
    if (present != block) sent = 0;
    block = present;
    if (need_.complete.contains(block)) continue;
    const std::uint32_t symbols = layout.symbols_of(block), held = need_.held_of(block);
    if (held == kEnough) continue;
    if (held == 0 && sent < symbols) return Wish{block, sent};
    if (held != 0 && sent < (held < symbols ? symbols - held : kMoreSymbols)) return Wish{block, std::nullopt};
  }
}

std::optional<ChildStream::Wish> ChildStream::next(const ContentLayout& layout, const BlockSet& available,
                                                   std::uint32_t end) const {
  return wish_from(block_, sent_, layout, available, end);
}

std::optional<ChildStream::Wish> ChildStream::next_after(const Wish& wish, const ContentLayout& layout,
                                                         const BlockSet& available, std::uint32_t end) const {
  return wish_from(wish.block + 1, 0, layout, available, end);
}

bool ChildStream::note_sent(const Wish& wish) {
  --credit_;
  const bool is_first = wish.block != block_ || sent_ == 0;
  if (wish.block != block_) sent_ = 0;
  block_ = wish.block;
  ++sent_;
  return is_first;
}

}  // namespace spindle::bulk
