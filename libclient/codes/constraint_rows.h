// The sparse equations of a block: which intermediate symbols each is about.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libclient/codes/raptorq_block.h"

namespace spindle::codes {

/// Rows of a matrix of bits, by their columns. First the S equations of the LDPC symbols, whose sums are 0, then one
/// for each encoding symbol (RFC 6330, section 5.3.3.4.2). The dense equations of the HDPC symbols are no rows of it.
class ConstraintRows {
 public:
  ConstraintRows(const BlockCode& code, std::span<const std::uint32_t> isis);

  std::uint32_t rows() const { return static_cast<std::uint32_t>(row_starts_.size() - 1); }
  std::span<const std::uint32_t> columns_of(std::uint32_t row) const {
    return {columns_.data() + row_starts_[row], columns_.data() + row_starts_[row + 1]};
  }
  std::span<const std::uint32_t> rows_of(std::uint32_t column) const {
    return {rows_.data() + column_starts_[column], rows_.data() + column_starts_[column + 1]};
  }

 private:
  void append_ldpc(const BlockCode& code);
  void index_columns(std::uint32_t count);

  std::vector<std::uint32_t> row_starts_{0}, columns_;
  std::vector<std::uint32_t> column_starts_, rows_;
};

}  // namespace spindle::codes
