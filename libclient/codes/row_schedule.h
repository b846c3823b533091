// Sums and products of rows in an order that was found before, for rows of any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spindle::codes {

/// What is done with rows of octets, whatever is in them. Rows that are given are *inputs*, rows in between are
/// *slots*. It is found once for a code and for the symbols that are there, and run for all of their bytes.
class RowSchedule {
 public:
  /// A slot, or an input.
  using Row = std::uint32_t;
  static constexpr Row kInputBit = 1u << 31;

  // How it is made.

  void sum(Row slot, std::span<const Row> rows);
  void add(Row slot, Row row);
  void add_multiple(Row slot, Row from, std::uint8_t factor);
  void multiply(Row slot, std::uint8_t factor);
  /// factor * slot + row
  void multiply_add(Row slot, Row row, std::uint8_t factor);
  /// Leaves out what none of these slots needs, and nothing is added to it after that.
  void finish(std::span<const Row> needed);

  std::size_t slots() const { return slots_; }
  std::size_t steps() const { return steps_.size(); }

  /// A row that is wanted, as a sum.
  struct Output {
    std::uint8_t* to = nullptr;
    std::span<const Row> rows;
  };
  /// Of `bytes` octets each. A null input is 0. It takes them some hundred at a time, so that all slots are in the
  /// cache.
  void run(std::span<const std::uint8_t* const> inputs, std::span<const Output> outputs, std::size_t bytes) const;

 private:
  enum class Kind : std::uint8_t { sum, add_multiple, multiply, multiply_add };
  struct Step {
    Kind kind;
    std::uint8_t factor = 0;
    Row to = 0;
    std::uint32_t first = 0;  // of its rows in `rows_`
    std::uint32_t count = 0;
  };

  void note_slot(Row slot) { slots_ = slot < slots_ ? slots_ : slot + 1; }

  std::vector<Step> steps_;
  std::vector<Row> rows_;
  std::size_t slots_ = 0;
};

}  // namespace spindle::codes
