#include "libclient/codes/row_schedule.h"

#include <algorithm>

#include "libclient/codes/gf256.h"

namespace spindle::codes {

namespace {

/// So many octets of each row are worked on at a time: with 1,200 rows 600 KiB, which the second cache has.
constexpr std::size_t kStripeBytes = 512;
constexpr std::size_t kAlignment = 64;

}  // namespace

void RowSchedule::sum(Row slot, std::span<const Row> rows) {
  note_slot(slot);
  steps_.push_back(
      {Kind::sum, 0, slot, static_cast<std::uint32_t>(rows_.size()), static_cast<std::uint32_t>(rows.size())});
  rows_.insert(rows_.end(), rows.begin(), rows.end());
}

void RowSchedule::add(Row slot, Row row) {
  // One more for the sum that was the last step.
  if (!steps_.empty() && steps_.back().kind == Kind::sum && steps_.back().to == slot) {
    rows_.push_back(row);
    ++steps_.back().count;
    return;
  }
  const Row both[] = {slot, row};
  sum(slot, both);
}

void RowSchedule::add_multiple(Row slot, Row from, std::uint8_t factor) {
  if (factor == 0) return;
  if (factor == 1) return add(slot, from);
  note_slot(slot);
  steps_.push_back({Kind::add_multiple, factor, slot, static_cast<std::uint32_t>(rows_.size()), 1});
  rows_.push_back(from);
}

void RowSchedule::multiply(Row slot, std::uint8_t factor) {
  if (factor == 1) return;
  steps_.push_back({Kind::multiply, factor, slot, 0, 0});
}

void RowSchedule::multiply_add(Row slot, Row row, std::uint8_t factor) {
  steps_.push_back({Kind::multiply_add, factor, slot, static_cast<std::uint32_t>(rows_.size()), 1});
  rows_.push_back(row);
}

void RowSchedule::finish(std::span<const Row> needed) {
  std::vector<bool> is_needed(slots_, false);
  for (const Row slot : needed) is_needed[slot] = true;
  std::vector<Step> kept;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    if (!is_needed[step->to]) continue;
    if (step->kind == Kind::sum) is_needed[step->to] = false;  // unless it is among its own rows
    for (std::uint32_t i = 0; i < step->count; ++i) {
      const Row row = rows_[step->first + i];
      if ((row & kInputBit) == 0) is_needed[row] = true;
    }
    kept.push_back(*step);
  }
  std::reverse(kept.begin(), kept.end());
  std::vector<Row> rows;
  for (Step& step : kept) {
    const auto first = rows_.begin() + step.first;
    step.first = static_cast<std::uint32_t>(rows.size());
    rows.insert(rows.end(), first, first + step.count);
  }
  steps_ = std::move(kept);
  rows_ = std::move(rows);
}

void RowSchedule::run(std::span<const std::uint8_t* const> inputs, std::span<const Output> outputs,
                      std::size_t bytes) const {
  const RowKernels& kernels = row_kernels();
  static constexpr std::uint8_t kZero[kStripeBytes] = {};
  std::vector<std::uint8_t> memory(slots_ * kStripeBytes + kAlignment);
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(memory.data()) % kAlignment;
  std::uint8_t* slots = memory.data() + (kAlignment - misaligned) % kAlignment;

  // Slots stay where they are from stripe to stripe, inputs go on.
  std::vector<const std::uint8_t*> rows;
  std::vector<std::size_t> moving;
  const auto place = [&](Row row) {
    const bool is_input = (row & kInputBit) != 0;
    const std::uint8_t* input = is_input ? inputs[row & ~kInputBit] : slots + row * kStripeBytes;
    if (is_input && input != nullptr) moving.push_back(rows.size());
    rows.push_back(input == nullptr ? kZero : input);
  };
  for (const Row row : rows_) place(row);
  for (const Output& output : outputs) std::for_each(output.rows.begin(), output.rows.end(), place);

  for (std::size_t at = 0; at < bytes; at += kStripeBytes) {
    const std::size_t count = std::min(kStripeBytes, bytes - at);
    for (const Step& step : steps_) {
      std::uint8_t* to = slots + step.to * kStripeBytes;
      switch (step.kind) {
        case Kind::sum:
          kernels.sum(to, rows.data() + step.first, step.count, count);
          break;
        case Kind::add_multiple:
          kernels.add_multiple(to, rows[step.first], count, step.factor);
          break;
        case Kind::multiply:
          kernels.multiply(to, count, step.factor);
          break;
        case Kind::multiply_add:
          kernels.multiply_add(to, rows[step.first], count, step.factor);
          break;
      }
    }
    std::size_t first = rows_.size();
    for (const Output& output : outputs) {
      kernels.sum(output.to + at, rows.data() + first, output.rows.size(), count);
      first += output.rows.size();
    }
    for (const std::size_t row : moving) rows[row] += kStripeBytes;
  }
}

}  // namespace spindle::codes
