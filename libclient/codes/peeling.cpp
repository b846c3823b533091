#include "libclient/codes/peeling.h"

#include <algorithm>
#include <numeric>

namespace spindle::codes {

Peeling::Peeling(const BlockCode& code, const ConstraintRows& rows)
    : rows_(rows),
      places_(code.intermediate, kUnknown),
      degrees_(rows.rows()),
      unknown_sums_(rows.rows(), 0),
      is_used_(rows.rows(), false),
      unknown_(code.intermediate) {
  for (std::uint32_t row = 0; row < rows.rows(); ++row) {
    const auto columns = rows.columns_of(row);
    degrees_[row] = static_cast<std::uint32_t>(columns.size());
    for (const std::uint32_t column : columns) unknown_sums_[row] ^= column;
    if (degrees_[row] == 1) ready_.push_back(row);
  }
  for (std::uint32_t column = code.lt_symbols; column < code.intermediate; ++column) inactivate(column);
  peel();
  while (unknown_ != 0) {
    inactivate(choose_inactive());
    peel();
  }
  for (std::uint32_t row = 0; row < rows.rows(); ++row) {
    if (!is_used_[row]) left_over_.push_back(row);
  }
}

void Peeling::inactivate(std::uint32_t column) {
  places_[column] = static_cast<std::uint32_t>(inactive_.size()) | kInactiveBit;
  inactive_.push_back(column);
  note_known(column);
}

void Peeling::note_known(std::uint32_t column) {
  --unknown_;
  for (const std::uint32_t row : rows_.rows_of(column)) {
    unknown_sums_[row] ^= column;
    if (--degrees_[row] == 1) ready_.push_back(row);
  }
}

void Peeling::peel() {
  while (!ready_.empty()) {
    const std::uint32_t row = ready_.back();
    ready_.pop_back();
    if (degrees_[row] != 1) continue;  // another one has given its symbol
    const std::uint32_t column = unknown_sums_[row];
    is_used_[row] = true;
    places_[column] = static_cast<std::uint32_t>(pivots_.size());
    pivots_.push_back({row, column});
    note_known(column);
  }
}

// Equations with two unknown symbols join these: when one is known, so are all that hang together.
std::uint32_t Peeling::choose_inactive() {
  const std::size_t count = places_.size();
  parents_.resize(count);
  std::iota(parents_.begin(), parents_.end(), 0u);
  sizes_.assign(count, 1);
  std::uint32_t best = kUnknown, best_size = 1;
  for (std::uint32_t row = 0; row < rows_.rows(); ++row) {
    if (degrees_[row] != 2) continue;
    std::uint32_t ends[2], found = 0;
    for (const std::uint32_t column : rows_.columns_of(row)) {
      if (is_unknown(column)) ends[found++] = column;
    }
    std::uint32_t a = find_root(ends[0]), b = find_root(ends[1]);
    if (a == b) continue;
    if (sizes_[a] < sizes_[b]) std::swap(a, b);
    parents_[b] = a;
    sizes_[a] += sizes_[b];
    if (sizes_[a] > best_size) best = a, best_size = sizes_[a];
  }
  if (best != kUnknown) return best;
  // Without such: the one that most equations are about.
  std::size_t most = 0;
  for (std::uint32_t column = 0; column < count; ++column) {
    if (!is_unknown(column)) continue;
    std::size_t open = 0;
    for (const std::uint32_t row : rows_.rows_of(column)) open += degrees_[row] > 1 ? 1 : 0;
    if (best == kUnknown || open > most) best = column, most = open;
  }
  return best;
}

std::uint32_t Peeling::find_root(std::uint32_t column) {
  while (parents_[column] != column) column = parents_[column] = parents_[parents_[column]];
  return column;
}

}  // namespace spindle::codes
