#include "libclient/codes/raptorq_solver.h"

#include <algorithm>
#include <bit>

#include "libclient/codes/constraint_rows.h"
#include "libclient/codes/gf256.h"
#include "libclient/codes/peeling.h"

namespace spindle::codes {

namespace {

using Row = RowSchedule::Row;

/// Rows of bits, one for each inactive symbol.
class BitRows {
 public:
  BitRows(std::size_t rows, std::size_t columns) : words_((columns + 63) / 64), bits_(rows * words_, 0) {}

  void flip(std::size_t row, std::size_t column) { at(row)[column / 64] ^= std::uint64_t{1} << (column % 64); }
  bool has(std::size_t row, std::size_t column) const { return (at(row)[column / 64] >> (column % 64) & 1) != 0; }
  void add(std::size_t to, std::size_t from) {
    for (std::size_t i = 0; i < words_; ++i) at(to)[i] ^= at(from)[i];
  }
  template <typename Visit>
  void for_each(std::size_t row, Visit&& visit) const {
    for (std::size_t word = 0; word < words_; ++word) {
      for (std::uint64_t rest = at(row)[word]; rest != 0; rest &= rest - 1) {
        visit(word * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
      }
    }
  }

 private:
  std::uint64_t* at(std::size_t row) { return bits_.data() + row * words_; }
  const std::uint64_t* at(std::size_t row) const { return bits_.data() + row * words_; }

  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// In three steps. Pivots and left-over equations are reduced to inactive symbols (`reduce`); these are solved for
/// (`solve_inactive`); then each pivot gives its symbol, from the equation as it was (`substitute`).
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
        octets_(code.hdpc_symbols, std::vector<std::uint8_t>(inactive_, 0)) {}

  std::optional<Solution> solve() {
    if (left_over_ + code_.hdpc_symbols < inactive_) return std::nullopt;
    for (std::size_t i = 0; i < pivots_; ++i) reduce(i, peeling_.pivots()[i].row);
    for (std::size_t i = 0; i < left_over_; ++i) reduce(pivots_ + i, peeling_.left_over()[i]);
    reduce_hdpc();
    if (!solve_inactive()) return std::nullopt;
    for (std::size_t i = 0; i < pivots_; ++i) substitute(i);
    return finish();
  }

 private:
  // Slots: of pivots, of left-over equations, of HDPC equations, and one for a sum that runs over all symbols.
  Row slot(std::size_t number) const { return static_cast<Row>(number); }
  Row hdpc_slot(std::size_t number) const { return slot(pivots_ + left_over_ + number); }
  Row running_slot() const { return hdpc_slot(code_.hdpc_symbols); }

  /// Appends what the equation says its sum is: an input, or 0.
  void append_value(std::uint32_t row, std::vector<Row>& terms) const {
    if (row >= code_.ldpc_symbols) terms.push_back((row - code_.ldpc_symbols) | RowSchedule::kInputBit);
  }

  /// What is left of the equation when all pivots before it are replaced.
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
    schedule_.sum(slot(number), terms_);
  }

  // The matrix of section 5.3.3.3 is MT * GAMMA, and the product of GAMMA with the symbols is a sum that runs over
  // them, multiplied by alpha at each: so no equation is ever written out.
  void reduce_hdpc() {
    const RowKernels& kernels = row_kernels();
    const std::uint32_t columns = code_.symbols + code_.ldpc_symbols, count = code_.hdpc_symbols;
    std::vector<std::uint8_t> running(inactive_, 0);
    schedule_.sum(running_slot(), {});
    for (std::uint32_t i = 0; i < count; ++i) schedule_.sum(hdpc_slot(i), {});
    for (std::uint32_t column = 0; column < columns; ++column) {
      kernels.multiply(running.data(), running.size(), gf256::power(1));
      const std::uint32_t place = peeling_.place_of(column);
      if ((place & Peeling::kInactiveBit) != 0) {
        running[place & ~Peeling::kInactiveBit] ^= 1;
        schedule_.multiply(running_slot(), gf256::power(1));
      } else {
        bits_.for_each(place, [&](std::size_t bit) { running[bit] ^= 1; });
        schedule_.multiply_add(running_slot(), slot(place), gf256::power(1));
      }
      const auto add_to = [&](std::uint32_t row, std::uint8_t factor) {
        kernels.add_multiple(octets_[row].data(), running.data(), running.size(), factor);
        schedule_.add_multiple(hdpc_slot(row), running_slot(), factor);
      };
      if (column + 1 == columns) {
        for (std::uint32_t row = 0; row < count; ++row) add_to(row, gf256::power(row));
      } else {
        const std::uint32_t first = rand_number(column + 1, 6, count);
        add_to(first, 1);
        add_to((first + rand_number(column + 1, 7, count - 1) + 1) % count, 1);
      }
    }
    for (std::uint32_t row = 0; row < count; ++row) {
      octets_[row][peeling_.place_of(columns + row) & ~Peeling::kInactiveBit] ^= 1;
    }
  }

  /// Gaussian elimination: of the equations with bits among themselves, then of the few with octets.
  bool solve_inactive() {
    value_of_.assign(inactive_, running_slot());
    std::vector<std::size_t> free_rows(left_over_);
    for (std::size_t i = 0; i < left_over_; ++i) free_rows[i] = pivots_ + i;
    struct Bound {
      std::size_t row, column;
    };
    std::vector<Bound> bound;
    std::vector<std::size_t> open;  // columns
    for (std::size_t column = 0; column < inactive_; ++column) {
      const auto found =
          std::find_if(free_rows.begin(), free_rows.end(), [&](std::size_t row) { return bits_.has(row, column); });
      if (found == free_rows.end()) {
        open.push_back(column);
        continue;
      }
      const std::size_t row = *found;
      *found = free_rows.back();
      free_rows.pop_back();
      for (const std::size_t other : free_rows) {
        if (!bits_.has(other, column)) continue;
        bits_.add(other, row);
        schedule_.add(slot(other), slot(row));
      }
      bound.push_back({row, column});
      value_of_[column] = slot(row);
    }
    for (std::size_t h = 0; h < octets_.size(); ++h) {
      for (const Bound& each : bound) {
        const std::uint8_t factor = octets_[h][each.column];
        if (factor == 0) continue;
        bits_.for_each(each.row, [&](std::size_t bit) { octets_[h][bit] ^= factor; });
        schedule_.add_multiple(hdpc_slot(h), slot(each.row), factor);
      }
    }
    if (!solve_open(open)) return false;
    for (auto each = bound.rbegin(); each != bound.rend(); ++each) {
      bits_.for_each(each->row, [&](std::size_t bit) {
        if (bit != each->column) schedule_.add(slot(each->row), value_of_[bit]);
      });
    }
    return true;
  }

  /// For the columns that no equation with bits is left for.
  bool solve_open(const std::vector<std::size_t>& open) {
    std::vector<bool> is_used(octets_.size(), false);
    for (const std::size_t column : open) {
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
    schedule_.finish(solution.slots);
    solution.schedule = std::move(schedule_);
    return solution;
  }

  const BlockCode& code_;
  ConstraintRows rows_;
  Peeling peeling_;
  std::size_t pivots_, left_over_, inactive_;
  BitRows bits_;                                   // of pivots and left-over equations, reduced
  std::vector<std::vector<std::uint8_t>> octets_;  // of HDPC equations
  std::vector<Row> value_of_;                      // the slots of inactive symbols
  std::vector<Row> terms_;
  RowSchedule schedule_;
};

}  // namespace

std::optional<Solution> solve(const BlockCode& code, std::span<const std::uint32_t> isis) {
  return Solver(code, isis).solve();
}

}  // namespace spindle::codes
