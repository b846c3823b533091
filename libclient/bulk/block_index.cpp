#include "libclient/bulk/block_index.h"

#include <algorithm>

namespace spindle::bulk {

static_assert(sizeof(BlockHash) == kBlockHashBytes, "hashes lie one behind the other");

void BlockIndex::set(std::uint32_t block, const BlockHash& hash) {
  if (block >= kBlocksMax) return;
  if (block >= hashes_.size()) hashes_.resize(block + std::size_t{1});
  hashes_[block] = hash;
  known_.add(block);
}

void BlockIndex::clear() {
  hashes_.clear();
  known_.clear();
}

const BlockHash* BlockIndex::find(std::uint32_t block) const {
  return known_.contains(block) ? &hashes_[block] : nullptr;
}

ByteView BlockIndex::hashes_from(std::uint32_t first, std::uint32_t most) const {
  const std::uint32_t count = std::min(known_.first_missing(first) - first, most);
  if (count == 0) return {};
  return {hashes_[first].data(), count * kBlockHashBytes};
}

std::optional<BlockHash> BlockIndex::root(std::uint32_t blocks, const Hasher& hasher) const {
  if (known_.first_missing(0) < blocks) return std::nullopt;
  return hasher.hash(hashes_from(0, blocks));
}

}  // namespace spindle::bulk
