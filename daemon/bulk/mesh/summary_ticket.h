// A small random sample of a set of symbols, by which two members tell how alike their sets are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "daemon/bulk/mesh/symbol_id.h"

namespace spindled::mesh {

/// Min-wise sketches (Broder; Bullet, section 2.3): for each of some permutations of all symbols, the symbol that comes
/// first. The part of the places at which two tickets are the same is, in the mean, the part of all symbols of both
/// sets that are in both.
class SummaryTicket {
 public:
  static constexpr std::size_t kMinima = 30;

  SummaryTicket() { minima_.fill(kNothing); }

  void insert(SymbolId symbol);
  /// As if all of the other set had been inserted.
  void merge(const SummaryTicket& other);
  /// Of both sets together, the part that both have; 0 where one of them is empty.
  double resemblance(const SummaryTicket& other) const;
  bool is_empty() const { return minima_[0] == kNothing; }

  const std::array<std::uint32_t, kMinima>& minima() const { return minima_; }
  static SummaryTicket of(const std::array<std::uint32_t, kMinima>& minima) {
    SummaryTicket ticket;
    ticket.minima_ = minima;
    return ticket;
  }

 private:
  static constexpr std::uint32_t kNothing = UINT32_MAX;  // more than any value that a permutation gives

  std::array<std::uint32_t, kMinima> minima_;
};

}  // namespace spindled::mesh
