#include "libclient/codes/constraint_rows.h"

namespace spindle::codes {

ConstraintRows::ConstraintRows(const BlockCode& code, std::span<const std::uint32_t> isis) {
  append_ldpc(code);
  for (const std::uint32_t isi : isis) {
    code.append_terms(isi, columns_);
    row_starts_.push_back(static_cast<std::uint32_t>(columns_.size()));
  }
  index_columns(code.intermediate);
}

void ConstraintRows::append_ldpc(const BlockCode& code) {
  const std::uint32_t count = code.ldpc_symbols;
  std::vector<std::vector<std::uint32_t>> rows(count);
  for (std::uint32_t i = 0; i < code.lt_only; ++i) {
    const std::uint32_t step = 1 + i / count;
    for (std::uint32_t k = 0, row = i % count; k < 3; ++k, row = (row + step) % count) rows[row].push_back(i);
  }
  for (std::uint32_t row = 0; row < count; ++row) {
    rows[row].push_back(code.lt_only + row);
    for (std::uint32_t k = 0; k < 2; ++k) rows[row].push_back(code.lt_symbols + (row + k) % code.inactive);
    columns_.insert(columns_.end(), rows[row].begin(), rows[row].end());
    row_starts_.push_back(static_cast<std::uint32_t>(columns_.size()));
  }
}

void ConstraintRows::index_columns(std::uint32_t count) {
  column_starts_.assign(count + 1, 0);
  for (const std::uint32_t column : columns_) ++column_starts_[column + 1];
  for (std::uint32_t i = 0; i < count; ++i) column_starts_[i + 1] += column_starts_[i];
  rows_.resize(columns_.size());
  std::vector<std::uint32_t> at(column_starts_.begin(), column_starts_.end() - 1);
  for (std::uint32_t row = 0; row < rows(); ++row) {
    for (const std::uint32_t column : columns_of(row)) rows_[at[column]++] = row;
  }
}

}  // namespace spindle::codes
