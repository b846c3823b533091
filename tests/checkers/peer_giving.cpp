#include "tests/checkers/peer_giving.h"

#include <fmt/format.h>

#include <algorithm>

namespace spindled::checkers {

void PeerGiving::brought(Symbol symbol) {
  for (auto& [hop, state] : hops_) {
    if (state.is_receiver && !state.was_child) ++state.due[symbol];
  }
}

void PeerGiving::wanted(Hop hop, std::uint32_t block, std::uint64_t symbols) {
  std::uint64_t& wanted = hops_[hop].wanted[block];
  wanted = std::max(wanted, symbols);
}

std::optional<std::string> PeerGiving::gave(Hop hop, Symbol symbol, bool is_enough) {
  State& state = hops_[hop];
  if (++state.given > state.granted) return fmt::format("{} symbols, and was asked for {}", state.given, state.granted);
  if (state.was_child) return std::nullopt;
  const std::string name = fmt::format("symbol {} of block {}", symbol.esi, symbol.block);
  if (state.is_turned_away) return fmt::format("{} though it takes nothing of it", name);
  if (is_enough) return fmt::format("{} though it has enough of that block", name);
  const auto due = state.due.find(symbol);
  const bool is_due = due != state.due.end() && due->second > 0;
  if (is_due) --due->second;
  const bool is_first = state.had.insert(symbol).second;
  if (is_due) return std::nullopt;
  if (const auto wanted = state.wanted.find(symbol.block); wanted != state.wanted.end() && wanted->second > 0) {
    --wanted->second;
    return std::nullopt;
  }
  return is_first ? fmt::format("{} that has not come along the tree since", name)
                  : fmt::format("{} more often than that has come along the tree", name);
}

}  // namespace spindled::checkers
