#include "daemon/bulk/mesh/summary_ticket.h"

#include <algorithm>

namespace spindled::mesh {

namespace {

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 31) - 1;

/// x -> (a x + b) mod p, the same at all members.
struct Permutation {
  std::uint64_t a, b;
};

constexpr std::array<Permutation, SummaryTicket::kMinima> make_permutations() {
  std::array<Permutation, SummaryTicket::kMinima> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = {1 + mix(2 * i) % (kPrime - 1), mix(2 * i + 1) % kPrime};
  }
  return all;
}
constexpr auto kPermutations = make_permutations();

}  // namespace

void SummaryTicket::insert(SymbolId symbol) {
  const std::uint64_t x = mix(key_of(symbol)) % kPrime;
  for (std::size_t i = 0; i < kMinima; ++i) {
    const auto value = static_cast<std::uint32_t>((kPermutations[i].a * x + kPermutations[i].b) % kPrime);
    minima_[i] = std::min(minima_[i], value);
  }
}

void SummaryTicket::merge(const SummaryTicket& other) {
  for (std::size_t i = 0; i < kMinima; ++i) minima_[i] = std::min(minima_[i], other.minima_[i]);
}

double SummaryTicket::resemblance(const SummaryTicket& other) const {
  if (is_empty() || other.is_empty()) return 0;
  std::size_t same = 0;
  for (std::size_t i = 0; i < kMinima; ++i) same += minima_[i] == other.minima_[i] ? 1 : 0;
  return static_cast<double>(same) / kMinima;
}

}  // namespace spindled::mesh
