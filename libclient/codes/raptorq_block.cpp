#include "libclient/codes/raptorq_block.h"

#include <algorithm>
#include <iterator>

#include "libclient/codes/raptorq_tables.h"

namespace spindle::codes {

namespace {

bool is_prime(std::uint32_t number) {
  for (std::uint32_t i = 2; i * i <= number; ++i) {
    if (number % i == 0) return false;
  }
  return number > 1;
}

}  // namespace

std::uint32_t rand_number(std::uint32_t y, std::uint32_t i, std::uint32_t bound) {
  std::uint32_t value = 0;
  for (unsigned table = 0; table < 4; ++table) value ^= kRandomTables[table][((y >> (8 * table)) + i) & 0xff];
  return value % bound;
}

std::uint32_t degree(std::uint32_t v, std::uint32_t lt_symbols) {
  // Table 1: f[1] to f[30].
  constexpr std::uint32_t kBounds[] = {5243,    529531,  704294,  791675,  844104,  879057,  904023,  922747,
                                       937311,  948962,  958494,  966438,  973160,  978921,  983914,  988283,
                                       992138,  995565,  998631,  1001391, 1003887, 1006157, 1008229, 1010129,
                                       1011876, 1013490, 1014983, 1016370, 1017662, 1048576};
  const auto* bound = std::upper_bound(std::begin(kBounds), std::end(kBounds), v);
  const auto d = static_cast<std::uint32_t>(bound - std::begin(kBounds)) + 1;
  return std::min(d, lt_symbols - 2);
}

BlockCode BlockCode::of(std::uint32_t source_symbols) {
  const BlockRow& row =
      *std::lower_bound(std::begin(kBlockRows), std::end(kBlockRows), source_symbols,
                        [](const BlockRow& each, std::uint32_t wanted) { return each.symbols < wanted; });
  BlockCode code{};
  code.source_symbols = source_symbols;
  code.symbols = row.symbols;
  code.systematic_index = row.systematic_index;
  code.ldpc_symbols = row.ldpc_symbols;
  code.hdpc_symbols = row.hdpc_symbols;
  code.lt_symbols = row.lt_symbols;
  code.intermediate = row.symbols + row.ldpc_symbols + row.hdpc_symbols;
  code.inactive = code.intermediate - row.lt_symbols;
  code.inactive_prime = code.inactive;
  while (!is_prime(code.inactive_prime)) ++code.inactive_prime;
  code.lt_only = row.lt_symbols - row.ldpc_symbols;
  return code;
}

Tuple BlockCode::tuple(std::uint32_t isi) const {
  std::uint32_t seed = 53'591 + systematic_index * 997;
  if (seed % 2 == 0) ++seed;
  const std::uint32_t y = 10'267 * (systematic_index + 1) + isi * seed;
  Tuple tuple{};
  tuple.d = degree(rand_number(y, 0, 1u << 20), lt_symbols);
  tuple.a = 1 + rand_number(y, 1, lt_symbols - 1);
  tuple.b = rand_number(y, 2, lt_symbols);
  tuple.d1 = tuple.d < 4 ? 2 + rand_number(isi, 3, 2) : 2;
  tuple.a1 = 1 + rand_number(isi, 4, inactive_prime - 1);
  tuple.b1 = rand_number(isi, 5, inactive_prime);
  return tuple;
}

void BlockCode::append_terms(std::uint32_t isi, std::vector<std::uint32_t>& terms) const {
  Tuple at = tuple(isi);
  for (std::uint32_t i = 0; i < at.d; ++i) {
    terms.push_back(at.b);
    at.b = (at.b + at.a) % lt_symbols;
  }
  for (std::uint32_t i = 0; i < at.d1; ++i) {
    while (at.b1 >= inactive) at.b1 = (at.b1 + at.a1) % inactive_prime;
    terms.push_back(lt_symbols + at.b1);
    at.b1 = (at.b1 + at.a1) % inactive_prime;
  }
}

}  // namespace spindle::codes
