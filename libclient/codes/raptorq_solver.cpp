#include "libclient/codes/raptorq_solver.h"

#include <algorithm>

#include "libclient/codes/bit_rows.h"
#include "libclient/codes/constraint_rows.h"
#include "libclient/codes/gf256.h"
#include "libclient/codes/peeling.h"
#include "libclient/codes/row_kernels.h"

namespace spindle::codes {

namespace {

using Row = RowSchedule::Row;

/// In three steps. Equations are reduced to inactive symbols (`reduce`); these are solved for (`solve_inactive`); then
/// each pivot gives its symbol, from the equation as it was (`substitute`).
class Solver {
 public:
  Solver(const BlockCode& code, std::span<const std::uint32_t> isis)
      : code_(code),
        rows_(code, isis),
        peeling_(code, rows_),
        pivots_(peeling_.pivots().size()),
        left_over_(peeling_.left_over().size()),
        inactive_(peeling_.inactive().size()),
        bits_(pivots_ + left_over_, inactive_),
        value_of_(inactive_, kNone),
        schedule_(zero_slot() + 1, isis.size()) {}

  std::optional<Solution> solve() {
    if (left_over_ + code_.hdpc_symbols < inactive_) return std::nullopt;
    for (std::size_t i = 0; i < pivots_; ++i) {
      reduce(i, peeling_.pivots()[i].row);
      schedule_.sum(slot(i), terms_);
    }
    reduce_hdpc();
    for (std::size_t i = 0; i < left_over_; ++i) bind(pivots_ + i, peeling_.left_over()[i]);
    if (!solve_inactive()) return std::nullopt;
    for (std::size_t i = 0; i < pivots_; ++i) substitute(i);
    return finish();
  }

 private:
  // Slots: of pivots, of left-over equations, of HDPC equations, one for a sum that runs over all symbols, and one that
  // is 0.
  Row slot(std::size_t number) const { return static_cast<Row>(number); }
  Row hdpc_slot(std::size_t number) const { return slot(pivots_ + left_over_ + number); }
  Row running_slot() const { return hdpc_slot(code_.hdpc_symbols); }
  Row zero_slot() const { return running_slot() + 1; }

  /// Appends what the equation says its sum is: an input, or 0.
  void append_value(std::uint32_t row, std::vector<Row>& terms) const {
    if (row >= code_.ldpc_symbols) terms.push_back(schedule_.input(row - code_.ldpc_symbols));
  }

  /// Puts into `terms_` what is left of the equation when all pivots before it are replaced, and its inactive symbols
  /// into `bits_`.
  void reduce(std::size_t number, std::uint32_t row) {
    terms_.clear();
    append_value(row, terms_);
    for (const std::uint32_t column : rows_.columns_of(row)) {
      const std::uint32_t place = peeling_.place_of(column);
      if ((place & Peeling::kInactiveBit) != 0) {
        bits_.flip(number, place & ~Peeling::kInactiveBit);
      } else if (place != number) {
        terms_.push_back(slot(place));
        bits_.add(number, place);
      }
    }
  }

  /// A left-over equation, less those before it, is for the first inactive symbol that it has left. Where it has none,
  /// it says nothing new.
  void bind(std::size_t number, std::uint32_t row) {
    reduce(number, row);
    for (const Bound& each : bound_) {
      if (!bits_.has(number, each.column)) continue;
      bits_.add(number, each.row);
      terms_.push_back(slot(each.row));
    }
    const std::size_t column = bits_.first(number);
    if (column == BitRows::kNone) return;
    schedule_.sum(slot(number), terms_);
    bound_.push_back({number, column});
    value_of_[column] = slot(number);
  }

  // The matrix of section 5.3.3.3 is MT * GAMMA, and the product of GAMMA with the symbols is a sum that runs over
  // them, multiplied by alpha at each: so no equation is ever written out.
  void reduce_hdpc() {
    const std::uint32_t columns = code_.symbols + code_.ldpc_symbols, count = code_.hdpc_symbols;
    OctetPlanes running(inactive_);
    std::vector<OctetPlanes> sums(count, running);
    schedule_.sum(running_slot(), {});
    schedule_.sum(zero_slot(), {});
    for (std::uint32_t i = 0; i < count; ++i) schedule_.sum(hdpc_slot(i), {});
    for (std::uint32_t column = 0; column < columns; ++column) {
      const std::uint32_t place = peeling_.place_of(column);
      const bool is_inactive = (place & Peeling::kInactiveBit) != 0;
      const Row term = is_inactive ? zero_slot() : slot(place);
      running.multiply_by_alpha();
      if (is_inactive) {
        running.flip(place & ~Peeling::kInactiveBit);
      } else {
        running.add(bits_.row(place));
      }
      if (column + 1 == columns) {
        schedule_.multiply(running_slot(), gf256::power(1));
        schedule_.add(running_slot(), term);
        break;
      }
      const std::uint32_t first = rand_number(column + 1, 6, count);
      const std::uint32_t second = (first + rand_number(column + 1, 7, count - 1) + 1) % count;
      sums[first].add(running);
      sums[second].add(running);
      schedule_.accumulate(running_slot(), term, hdpc_slot(first), hdpc_slot(second), gf256::power(1));
    }
    // The last column of MT has the powers of alpha.
    const std::vector<std::uint8_t> last = running.octets();
    for (std::uint32_t row = 0; row < count; ++row) {
      octets_.push_back(sums[row].octets());
      row_kernels().add_multiple(octets_[row].data(), last.data(), last.size(), gf256::power(row));
      schedule_.add_multiple(hdpc_slot(row), running_slot(), gf256::power(row));
      octets_[row][peeling_.place_of(columns + row) & ~Peeling::kInactiveBit] ^= 1;
    }
  }

  /// Gaussian elimination: the equations with octets are for the symbols that those with bits are not for.
  bool solve_inactive() {
    for (std::size_t h = 0; h < octets_.size(); ++h) {
      for (const Bound& each : bound_) {
        const std::uint8_t factor = octets_[h][each.column];
        if (factor == 0) continue;
        bits_.for_each(each.row, [&](std::size_t bit) { octets_[h][bit] ^= factor; });
        schedule_.add_multiple(hdpc_slot(h), slot(each.row), factor);
      }
    }
    if (!solve_open()) return false;
    for (auto each = bound_.rbegin(); each != bound_.rend(); ++each) {
      bits_.for_each(each->row, [&](std::size_t bit) {
        if (bit != each->column) schedule_.add(slot(each->row), value_of_[bit]);
      });
    }
    return true;
  }

  /// For the symbols that no equation with bits is for.
  bool solve_open() {
    std::vector<bool> is_used(octets_.size(), false);
    for (std::size_t column = 0; column < inactive_; ++column) {
      if (value_of_[column] != kNone) continue;
      std::size_t pivot = 0;
      while (pivot < octets_.size() && (is_used[pivot] || octets_[pivot][column] == 0)) ++pivot;
      if (pivot == octets_.size()) return false;
      is_used[pivot] = true;
      std::vector<std::uint8_t>& row = octets_[pivot];
      const std::uint8_t inverse = gf256::invert(row[column]);
      row_kernels().multiply(row.data(), row.size(), inverse);
      schedule_.multiply(hdpc_slot(pivot), inverse);
      for (std::size_t other = 0; other < octets_.size(); ++other) {
        const std::uint8_t factor = octets_[other][column];
        if (other == pivot || factor == 0) continue;
        row_kernels().add_multiple(octets_[other].data(), row.data(), row.size(), factor);
        schedule_.add_multiple(hdpc_slot(other), hdpc_slot(pivot), factor);
      }
      value_of_[column] = hdpc_slot(pivot);
    }
    return true;
  }

  void substitute(std::size_t number) {
    const Peeling::Pivot& pivot = peeling_.pivots()[number];
    terms_.clear();
    append_value(pivot.row, terms_);
    for (const std::uint32_t column : rows_.columns_of(pivot.row)) {
      if (column != pivot.column) terms_.push_back(slot_of(column));
    }
    schedule_.sum(slot(number), terms_);
  }

  Row slot_of(std::uint32_t column) const {
    const std::uint32_t place = peeling_.place_of(column);
    return (place & Peeling::kInactiveBit) != 0 ? value_of_[place & ~Peeling::kInactiveBit] : slot(place);
  }

  Solution finish() {
    Solution solution;
    solution.inactive = inactive_;
    for (std::uint32_t column = 0; column < code_.intermediate; ++column) solution.slots.push_back(slot_of(column));
    solution.schedule = std::move(schedule_);
    return solution;
  }

  static constexpr Row kNone = UINT32_MAX;
  struct Bound {
    std::size_t row, column;
  };

  const BlockCode& code_;
  ConstraintRows rows_;
  Peeling peeling_;
  std::size_t pivots_, left_over_, inactive_;
  BitRows bits_;                                   // of pivots and left-over equations, reduced
  std::vector<Bound> bound_;                       // left-over equations, each with what it is for
  std::vector<std::vector<std::uint8_t>> octets_;  // of HDPC equations, in rows that fill registers
  std::vector<Row> value_of_;                      // the slots of inactive symbols
  std::vector<Row> terms_;
  RowSchedule schedule_;
};

}  // namespace

std::optional<Solution> solve(const BlockCode& code, std::span<const std::uint32_t> isis) {
  return Solver(code, isis).solve();
}

}  // namespace spindle::codes
