// Sums and products of rows in an order that was found before, for rows of any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "libclient/codes/row_kernels.h"

namespace spindle::codes {

/// Memory for rows, aligned for the kernels, with nothing in it yet.
struct RowMemoryDeleter {
  void operator()(std::uint8_t* memory) const;
};
using RowMemory = std::unique_ptr<std::uint8_t[], RowMemoryDeleter>;
RowMemory make_row_memory(std::size_t bytes);

/// What is done with rows of octets, whatever is in them. Rows that are given are *inputs*, rows in between are
/// *slots*. It is found once for a code and for the symbols that are there, and run for all of their bytes.
///
/// It is run for a *stripe* at a time, some hundred octets of all rows, so that these are in the cache together: slots
/// lie one behind the other, and behind them the inputs, which are copied there.
class RowSchedule {
 public:
  /// The number of a slot, from 0 on, or of an input, behind all slots.
  using Row = std::uint32_t;

  // How it is made.

  RowSchedule() = default;
  RowSchedule(std::size_t slots, std::size_t inputs) : slots_(slots), inputs_(inputs) {}
  Row input(std::size_t number) const { return static_cast<Row>(slots_ + number); }

  void sum(Row slot, std::span<const Row> rows);
  void add(Row slot, Row row);
  void add_multiple(Row slot, Row from, std::uint8_t factor);
  void multiply(Row slot, std::uint8_t factor);
  /// running = factor * running + row, and then a += running and b += running. All are slots.
  void accumulate(Row running, Row row, Row a, Row b, std::uint8_t factor);

  // How it is run.

  std::size_t slots() const { return slots_; }
  std::size_t steps() const { return steps_.size(); }

  /// Octets of a row that are in a stripe, where rows have `bytes`: the last stripe may have fewer.
  static std::size_t stripe_bytes(std::size_t bytes);
  /// Memory that the slots of a stripe take.
  std::size_t slots_bytes(std::size_t stripe) const { return slots_ * stripe; }
  /// With the inputs behind them.
  std::size_t memory_bytes(std::size_t stripe) const { return (slots_ + inputs_) * stripe; }

  /// Computes one stripe: octets `at` to `at + stripe` of all rows, or as many as there are before `bytes`. A null
  /// input is 0. The slots are in `memory` then, which is RowMemory, from a multiple of a stripe on.
  void run(std::span<const std::uint8_t* const> inputs, std::size_t at, std::size_t bytes, std::size_t stripe,
           std::uint8_t* memory) const;

 private:
  enum class Kind : std::uint8_t { sum, add_multiple, multiply, accumulate };
  struct Step {
    Kind kind;
    std::uint8_t factor = 0;
    Row to = 0;
    std::uint32_t first = 0;  // of its rows in `rows_`
    std::uint32_t count = 0;
  };

  void append(Kind kind, std::uint8_t factor, Row to, std::span<const Row> rows);

  std::vector<Step> steps_;
  std::vector<Row> rows_;
  std::size_t slots_ = 0, inputs_ = 0;
};

}  // namespace spindle::codes
