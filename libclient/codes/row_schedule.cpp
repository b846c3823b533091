#include "libclient/codes/row_schedule.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace spindle::codes {

namespace {

/// With 1,000 rows that are given and 1,100 in between these are 540 KB, which the second cache has.
constexpr std::size_t kStripeBytes = 256;
/// Of a register of AVX-512, and of a line of a cache.
constexpr std::size_t kAlignment = 64;

}  // namespace

void RowMemoryDeleter::operator()(std::uint8_t* memory) const {
  ::operator delete[](memory, std::align_val_t{kAlignment});
}

RowMemory make_row_memory(std::size_t bytes) {
  return RowMemory(static_cast<std::uint8_t*>(::operator new[](bytes, std::align_val_t{kAlignment})));
}

void RowSchedule::append(Kind kind, std::uint8_t factor, Row to, std::span<const Row> rows) {
  steps_.push_back(
      {kind, factor, to, static_cast<std::uint32_t>(rows_.size()), static_cast<std::uint32_t>(rows.size())});
  rows_.insert(rows_.end(), rows.begin(), rows.end());
}

void RowSchedule::sum(Row slot, std::span<const Row> rows) { append(Kind::sum, 0, slot, rows); }

void RowSchedule::add(Row slot, Row row) {
  // One more for the sum that was the last step.
  if (!steps_.empty() && steps_.back().kind == Kind::sum && steps_.back().to == slot) {
    rows_.push_back(row);
    ++steps_.back().count;
    return;
  }
  sum(slot, std::array{slot, row});
}

void RowSchedule::add_multiple(Row slot, Row from, std::uint8_t factor) {
  if (factor == 0) return;
  if (factor == 1) return add(slot, from);
  append(Kind::add_multiple, factor, slot, std::array{from});
}

void RowSchedule::multiply(Row slot, std::uint8_t factor) {
  if (factor != 1) append(Kind::multiply, factor, slot, {});
}

void RowSchedule::accumulate(Row running, Row row, Row a, Row b, std::uint8_t factor) {
  append(Kind::accumulate, factor, running, std::array{row, a, b});
}

std::size_t RowSchedule::stripe_bytes(std::size_t bytes) {
  const std::size_t stripes = (bytes + kStripeBytes - 1) / kStripeBytes;
  const std::size_t even = (bytes + stripes - 1) / stripes;
  return (even + kAlignment - 1) / kAlignment * kAlignment;
}

void RowSchedule::run(std::span<const std::uint8_t* const> inputs, std::size_t at, std::size_t bytes,
                      std::size_t stripe, std::uint8_t* memory) const {
  const RowKernels& kernels = row_kernels();
  const std::size_t count = std::min(stripe, bytes - at);
  std::uint8_t* input = memory + slots_ * stripe;
  for (const std::uint8_t* from : inputs) {
    const std::size_t given = from == nullptr ? 0 : count;
    if (given != 0) std::memcpy(input, from + at, given);
    if (given != stripe) std::memset(input + given, 0, stripe - given);
    input += stripe;
  }
  const RowArray array{memory, stripe};
  const auto slot = [&](Row row) { return memory + row * stripe; };
  for (const Step& step : steps_) {
    const Row* rows = rows_.data() + step.first;
    switch (step.kind) {
      case Kind::sum:
        kernels.sum(slot(step.to), array, {rows, step.count}, stripe);
        break;
      case Kind::add_multiple:
        kernels.add_multiple(slot(step.to), slot(rows[0]), stripe, step.factor);
        break;
      case Kind::multiply:
        kernels.multiply(slot(step.to), stripe, step.factor);
        break;
      case Kind::accumulate:
        kernels.accumulate(slot(step.to), slot(rows[0]), slot(rows[1]), slot(rows[2]), stripe, step.factor);
        break;
    }
  }
}

}  // namespace spindle::codes
