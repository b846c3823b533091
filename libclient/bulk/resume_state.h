// What a receiver keeps in a file beside its content, so that it goes on after a restart with what it has.
#pragma once

#include <optional>
#include <vector>

#include "libclient/bulk/block_index.h"
#include "libclient/bulk/content_layout.h"

namespace spindle::bulk {

struct ResumeState {
  ContentLayout layout;
  std::optional<BlockHash> root;  // where the content is sealed
  BlockSet written;               // blocks that are at their places, and right by their hashes
  BlockIndex index;               // has the hash of each that is written

  /// u8 version, the layout, u8 whether there is a root, the root, the blocks that are written, those whose hashes are
  /// known (block_set.h), their hashes in that order, and the CRC-32C of all that as a u32.
  std::vector<std::uint8_t> encode() const;
  /// Nothing where the bytes are not those of a state, as a file has that was not written to its end.
  static std::optional<ResumeState> decode(ByteView bytes);
};

}  // namespace spindle::bulk
