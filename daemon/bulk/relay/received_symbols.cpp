#include "daemon/bulk/relay/received_symbols.h"

#include <utility>

namespace spindled {

bool ReceivedSymbols::has(mesh::SymbolId symbol) const {
  const auto block = blocks_.find(symbol.block);
  return block != blocks_.end() && block->second.places.contains(symbol.esi);
}

std::optional<std::uint64_t> ReceivedSymbols::add(Time now, mesh::SymbolId symbol, std::uint64_t place) {
  Block& block = blocks_[symbol.block];
  const auto [at, is_new] = block.places.try_emplace(symbol.esi, place);
  if (!is_new) return std::exchange(at->second, place);
  block.in_order.push_back({symbol.esi, now});
  ++size_;
  while (size_ > kSymbolsMax) erase(blocks_.begin());
  return std::nullopt;
}

void ReceivedSymbols::forget(const spindle::bulk::BlockSet& complete) {
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    const auto each = block++;
    if (complete.contains(each->first)) erase(each);
  }
}

void ReceivedSymbols::forget(std::uint32_t block) {
  if (const auto found = blocks_.find(block); found != blocks_.end()) erase(found);
}

std::span<const mesh::HeldSymbol> ReceivedSymbols::of(std::uint32_t block) const {
  const auto found = blocks_.find(block);
  return found == blocks_.end() ? std::span<const mesh::HeldSymbol>() : found->second.in_order;
}

std::vector<std::uint32_t> ReceivedSymbols::blocks() const {
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, block] : blocks_) numbers.push_back(number);
  return numbers;
}

void ReceivedSymbols::erase(std::map<std::uint32_t, Block>::iterator block) {
  size_ -= block->second.in_order.size();
  blocks_.erase(block);
}

}  // namespace spindled
