// Which equations are solved one by one, and which symbols are left for dense ones.
#pragma once

#include <cstdint>
#include <vector>

#include "libclient/codes/constraint_rows.h"

namespace spindle::codes {

/// Inactivation decoding, without any symbol (RFC 6330, section 5.4.2.2). An equation with one unknown gives that one.
/// Where there is none, a symbol becomes *inactive*: it counts as known, and equations that are left over are solved
/// for all of those in the end.
class Peeling {
 public:
  Peeling(const BlockCode& code, const ConstraintRows& rows);

  /// An equation and the symbol that it gives, from those before it and from inactive ones.
  struct Pivot {
    std::uint32_t row;
    std::uint32_t column;
  };
  const std::vector<Pivot>& pivots() const { return pivots_; }
  const std::vector<std::uint32_t>& inactive() const { return inactive_; }
  const std::vector<std::uint32_t>& left_over() const { return left_over_; }

  /// Of a symbol: its place among `pivots`, or, with kInactiveBit, among `inactive`.
  std::uint32_t place_of(std::uint32_t column) const { return places_[column]; }
  static constexpr std::uint32_t kInactiveBit = 1u << 31;

 private:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  void inactivate(std::uint32_t column);
  /// The symbol is no longer unknown: equations about it have one unknown less.
  void note_known(std::uint32_t column);
  void peel();
  /// One that sets free as many others as possible.
  std::uint32_t choose_inactive();
  std::uint32_t find_root(std::uint32_t column);
  bool is_unknown(std::uint32_t column) const { return places_[column] == kUnknown; }

  const ConstraintRows& rows_;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> degrees_;       // unknown symbols in each row
  std::vector<std::uint32_t> unknown_sums_;  // their numbers, all xored: of one that is left its number
  std::vector<bool> is_used_;
  std::vector<std::uint32_t> ready_;  // rows with one unknown symbol
  std::vector<Pivot> pivots_;
  std::vector<std::uint32_t> inactive_;
  std::vector<std::uint32_t> left_over_;
  std::uint32_t unknown_ = 0;
  std::vector<std::uint32_t> parents_, sizes_;  // of columns, for `choose_inactive`
};

}  // namespace spindle::codes
