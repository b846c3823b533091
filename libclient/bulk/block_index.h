// The hashes of the blocks of a content, as far as they are known, and the root above them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "libclient/bulk/block_set.h"
#include "libclient/bulk/bulk_frames.h"

namespace spindle::bulk {

/// SHA-256 of a block, or of an index.
using BlockHash = std::array<std::uint8_t, kBlockHashBytes>;

/// SHA-256 (FIPS 180-4) from elsewhere: this room has none of its own. Several threads may call it at once.
class Hasher {
 public:
  virtual ~Hasher() = default;
  virtual BlockHash hash(ByteView bytes) const = 0;
};

/// What it takes grows with the highest block that it knows: 2 MiB at most.
class BlockIndex {
 public:
  /// `block`: below kBlocksMax. What was known of it is replaced.
  void set(std::uint32_t block, const BlockHash& hash);
  void forget(std::uint32_t block) { known_.remove(block); }
  void clear();

  /// Nothing where it is not known. It stays where it is until the index changes.
  const BlockHash* find(std::uint32_t block) const;
  const BlockSet& known() const { return known_; }
  /// Of the neighbouring blocks that are known from `first` on: at most `most` of them.
  ByteView hashes_from(std::uint32_t first, std::uint32_t most) const;

  /// The root of a content of that many blocks: the hash of all their hashes, one behind the other. Nothing where some
  /// are not known.
  std::optional<BlockHash> root(std::uint32_t blocks, const Hasher& hasher) const;

 private:
  std::vector<BlockHash> hashes_;  // of the blocks in `known_`; others have any
  BlockSet known_;
};

}  // namespace spindle::bulk
