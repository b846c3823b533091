// Which symbols have come of the blocks that are being received.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/bulk/mesh/mesh_output.h"
#include "daemon/bulk/mesh/symbol_id.h"
#include "libclient/bulk/block_set.h"

namespace spindled {

/// Where a daemon has several senders it drops what one of them has given already. No more than kSymbolsMax are
/// remembered: where there are more, those of the lowest block are forgotten, and count as lacking when they come
/// again.
class ReceivedSymbols {
 public:
  static constexpr std::size_t kSymbolsMax = 65'536;

  bool has(mesh::SymbolId symbol) const;
  /// It goes to that place in the ring. Gives the one to which it went before, if it has come before.
  std::optional<std::uint64_t> add(Time now, mesh::SymbolId symbol, std::uint64_t place);
  /// Of complete blocks nothing is to be remembered.
  void forget(const spindle::bulk::BlockSet& complete);
  /// What had come of it was thrown away.
  void forget(std::uint32_t block);

  /// In the order in which they came.
  std::span<const mesh::HeldSymbol> of(std::uint32_t block) const;
  /// By ascending number.
  std::vector<std::uint32_t> blocks() const;
  std::size_t size() const { return size_; }

 private:
  struct Block {
    std::vector<mesh::HeldSymbol> in_order;
    std::map<std::uint32_t, std::uint64_t> places;  // by ESI
  };
  void erase(std::map<std::uint32_t, Block>::iterator block);

  std::map<std::uint32_t, Block> blocks_;
  std::size_t size_ = 0;
};

}  // namespace spindled
