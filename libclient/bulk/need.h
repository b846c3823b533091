// What a receiver lacks of a channel, or all receivers below a relay together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libclient/bulk/block_set.h"

namespace spindle::bulk {

/// A need names so many begun blocks at most; a receiver with more leaves out the last ones, of which more then comes
/// than it would have needed.
inline constexpr std::size_t kBegunBlocksMax = 4'096;
/// Symbols that can be held of a block: as many as there are ESIs.
inline constexpr std::uint32_t kHeldSymbolsMax = 1u << 24;

/// Of a block that is being put together, or waits for that.
inline constexpr std::uint32_t kEnough = kHeldSymbolsMax;

/// Advice to whoever sends: it saves what would be sent for nothing.
struct Need {
  /// A block that is not complete, of which so many symbols are there.
  struct Begun {
    std::uint32_t block = 0;
    std::uint32_t held = 0;  // 1 to kHeldSymbolsMax, all different; kEnough: it asks for no more at present
    bool operator==(const Begun&) const = default;
  };

  BlockSet complete;
  std::vector<Begun> begun;  // by ascending number; none is complete
  bool serves = false;       // the sender of this can give complete blocks
  bool knows_index = false;  // and all hashes, which the root has proved
  /// Below a relay something has been passed over that it cannot give itself; or a receiver has not kept what came.
  bool lost = false;
  /// There are some below of whom it is not known yet what they have.
  bool awaits = false;
  /// A daemon has others beside its parent that give it what they get: what it is not given may come from them.
  bool meshed = false;
  /// The latest `mark` behind which everything is counted here that was sent before it. 0: none.
  std::uint64_t seen = 0;

  /// Symbols held of a block that is not complete.
  std::uint32_t held_of(std::uint32_t block) const;

  bool operator==(const Need&) const = default;
};

/// Blocks of which it asks for no more: complete, or enough of them is there.
BlockSet settled(const Need& need);

/// That there is enough of these, too.
void add_enough(Need& need, const BlockSet& blocks);

/// What a relay asks of its parent for two of those below it: a block is complete where both have it, and as far begun
/// as with the one that has less. Blocks can be given where one of them can; somebody is awaited where one of them
/// awaits somebody. `meshed` and `seen` speak of the one that sends the need alone, and are left to the relay.
Need merged(const Need& a, const Need& b);

/// As in the frame: u8 flags (bit 0: serves, bit 1: lost, bit 2: knows the index, bit 3: awaits,
/// bit 4: meshed), varint seen, the
/// complete blocks (block_set.h), a varint with how many blocks are begun; of each a varint with how many blocks lie
/// between it and the former one, and one with the symbols held. Beyond kBegunBlocksMax none is written.
std::size_t need_size(const Need& need);
void write_need(Writer& writer, const Need& need);
/// The reader fails where flags are not known, a number is beyond its bounds, or a begun block is complete.
Need read_need(Reader& reader);

}  // namespace spindle::bulk
