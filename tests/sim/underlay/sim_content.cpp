#include "tests/sim/underlay/sim_content.h"

#include <algorithm>

namespace spindled::sim::underlay {

SimContent::Taken SimContent::take(Time now, mesh::SymbolId symbol) {
  if (is_complete(symbol.block)) return Taken::useless;
  Begun& begun = begun_[symbol.block];
  if (!begun.decoder) begun.decoder = code_.make_decoder({source_symbols_, 1});
  if (!begun.decoder->add(symbol.esi, nullptr)) return Taken::useless;
  begun.held.push_back({symbol.esi, now});
  begun.ticket.insert(symbol);
  if (!begun.decoder->is_decodable() || !begun.decoder->decode(nullptr)) return Taken::useful;
  begun_.erase(symbol.block);
  complete_beyond_[symbol.block] = true;
  while (!complete_beyond_.empty() && complete_beyond_.begin()->first == first_incomplete_) {
    complete_beyond_.erase(complete_beyond_.begin());
    ++first_incomplete_;
  }
  return Taken::completes;
}

bool SimContent::is_complete(std::uint32_t block) const {
  return block < first_incomplete_ || complete_beyond_.count(block) != 0;
}

std::uint32_t SimContent::lacking(std::uint32_t block) const {
  const auto held = static_cast<std::uint32_t>(this->held(block).size());
  return held < source_symbols_ ? source_symbols_ - held : 1;
}

std::span<const mesh::HeldSymbol> SimContent::held(std::uint32_t block) const {
  const auto found = begun_.find(block);
  return found == begun_.end() ? std::span<const mesh::HeldSymbol>() : found->second.held;
}

std::uint32_t SimContent::fresh_symbol(std::uint32_t block) {
  // As holders number them, but that each begins at its start.
  return source_symbols_ + 2'048 * fresh_given_[block]++ + self_;
}

mesh::Holding SimContent::holding() const {
  mesh::Holding holding;
  if (first_incomplete_ > 0) holding.complete.push_back({0, first_incomplete_});
  for (const auto& [block, is] : complete_beyond_) {
    if (!holding.complete.empty() && holding.complete.back().end == block) {
      ++holding.complete.back().end;
    } else if (holding.complete.size() < mesh::Holding::kRunsMax) {
      holding.complete.push_back({block, block + 1});
    }
  }
  for (const auto& [block, begun] : begun_) {
    if (holding.begun.size() == mesh::Holding::kBegunMax) break;
    holding.begun.push_back({block, static_cast<std::uint32_t>(begun.held.size())});
  }
  return holding;
}

mesh::SummaryTicket SimContent::ticket() const {
  mesh::SummaryTicket ticket;
  for (const auto& [block, begun] : begun_) ticket.merge(begun.ticket);
  return ticket;
}

}  // namespace spindled::sim::underlay
