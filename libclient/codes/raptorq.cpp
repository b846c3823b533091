#include "libclient/codes/raptorq.h"

#include <algorithm>
#include <numeric>

#include "libclient/codes/raptorq_solver.h"

namespace spindle::codes {

namespace {

using Row = RowSchedule::Row;

constexpr std::uint32_t kNowhere = UINT32_MAX;

/// Appends the slots that add up to an encoding symbol.
void append_slots(const BlockCode& code, std::uint32_t isi, const Solution& solution, std::vector<Row>& slots) {
  const auto first = static_cast<std::ptrdiff_t>(slots.size());
  code.append_terms(isi, slots);
  for (auto slot = slots.begin() + first; slot != slots.end(); ++slot) *slot = solution.slots[*slot];
}

}  // namespace

EncodingPlan::EncodingPlan(std::uint32_t source_symbols) : code_(BlockCode::of(source_symbols)) {
  std::vector<std::uint32_t> isis(code_.symbols);
  std::iota(isis.begin(), isis.end(), 0u);
  // Source symbols determine a block, whatever its size: that is what the systematic index is for.
  solution_ = std::make_shared<const Solution>(solve(code_, isis).value());
}

BlockEncoder::BlockEncoder(const EncodingPlan& plan, std::size_t symbol_bytes)
    : plan_(plan),
      symbol_bytes_(symbol_bytes),
      stripe_(RowSchedule::stripe_bytes(symbol_bytes)),
      memory_(make_row_memory(memory_bytes())) {}

BlockEncoder::BlockEncoder(const EncodingPlan& plan, const std::uint8_t* content, std::size_t symbol_bytes)
    : BlockEncoder(plan, symbol_bytes) {
  load(content);
}

std::size_t BlockEncoder::memory_bytes() const {
  const RowSchedule& schedule = plan_.solution().schedule;
  return (stripes() - 1) * schedule.slots_bytes(stripe_) + schedule.memory_bytes(stripe_);
}

void BlockEncoder::load(const std::uint8_t* content) {
  const BlockCode& code = plan_.code();
  const RowSchedule& schedule = plan_.solution().schedule;
  std::vector<const std::uint8_t*> inputs(code.symbols, nullptr);
  for (std::uint32_t i = 0; i < code.source_symbols; ++i) inputs[i] = content + i * symbol_bytes_;
  // The inputs of a stripe are where the slots of the next one will be.
  for (std::size_t i = 0; i < stripes(); ++i) {
    schedule.run(inputs, i * stripe_, symbol_bytes_, stripe_, memory_.get() + i * schedule.slots_bytes(stripe_));
  }
}

void BlockEncoder::encode(std::uint32_t esi, std::uint8_t* to) const {
  const Solution& solution = plan_.solution();
  std::vector<Row> slots;
  append_slots(plan_.code(), plan_.code().isi_of(esi), solution, slots);
  const std::uint8_t* rows = memory_.get();
  for (std::size_t at = 0; at < symbol_bytes_; at += stripe_, rows += solution.schedule.slots_bytes(stripe_)) {
    row_kernels().sum(to + at, {rows, stripe_}, slots, std::min(stripe_, symbol_bytes_ - at));
  }
}

BlockDecoder::BlockDecoder(std::uint32_t source_symbols, std::size_t symbol_bytes)
    : code_(BlockCode::of(source_symbols)), symbol_bytes_(symbol_bytes), sources_(source_symbols, kNowhere) {}

bool BlockDecoder::add(std::uint32_t esi, const std::uint8_t* symbol) {
  if (!note_id(esi)) return false;
  const std::size_t place = esis_.size();
  esis_.push_back(esi);
  if (place / kChunkSymbols == chunks_.size()) chunks_.emplace_back(new std::uint8_t[kChunkSymbols * symbol_bytes_]);
  std::copy_n(symbol, symbol_bytes_, at(place));
  return true;
}

/// False where it is there.
bool BlockDecoder::note_id(std::uint32_t esi) {
  if (esi < code_.source_symbols) {
    if (sources_[esi] != kNowhere) return false;
    sources_[esi] = static_cast<std::uint32_t>(esis_.size());
    return true;
  }
  const auto place = std::lower_bound(repairs_.begin(), repairs_.end(), esi);
  if (place != repairs_.end() && *place == esi) return false;
  repairs_.insert(place, esi);
  return true;
}

void BlockDecoder::clear() {
  esis_.clear();
  repairs_.clear();
  std::fill(sources_.begin(), sources_.end(), kNowhere);
}

std::size_t BlockDecoder::memory_bytes() const {
  const std::size_t ids = esis_.capacity() + sources_.capacity() + repairs_.capacity();
  return chunks_.size() * kChunkSymbols * symbol_bytes_ + ids * sizeof(std::uint32_t);
}

std::size_t BlockDecoder::decoding_bytes(std::uint32_t source_symbols) {
  // Of the solver, and of the rows of a stripe: at most 1,100 bytes a symbol were measured, from 1,000 symbols on.
  constexpr std::size_t kSymbolBytes = 1'500, kMoreBytes = 100'000;
  return source_symbols * kSymbolBytes + kMoreBytes;
}

bool BlockDecoder::decode(std::uint8_t* content) const {
  if (esis_.size() < code_.source_symbols) return false;
  if (esis_.size() - repairs_.size() < code_.source_symbols && !decode_missing(content)) return false;
  for (std::uint32_t esi = 0; esi < code_.source_symbols; ++esi) {
    if (sources_[esi] != kNowhere) std::copy_n(at(sources_[esi]), symbol_bytes_, content + esi * symbol_bytes_);
  }
  return true;
}

bool BlockDecoder::decode_missing(std::uint8_t* content) const {
  const std::uint32_t padding = code_.symbols - code_.source_symbols;
  std::vector<std::uint32_t> isis(padding);
  std::iota(isis.begin(), isis.end(), code_.source_symbols);
  std::vector<const std::uint8_t*> inputs(padding, nullptr);
  for (std::size_t place = 0; place < esis_.size(); ++place) {
    isis.push_back(code_.isi_of(esis_[place]));
    inputs.push_back(at(place));
  }
  const std::optional<Solution> solution = solve(code_, isis);
  if (!solution) return false;

  struct Missing {
    std::uint8_t* to;
    std::size_t first, count;  // of `slots`
  };
  std::vector<Missing> all_missing;
  std::vector<Row> slots;
  for (std::uint32_t esi = 0; esi < code_.source_symbols; ++esi) {
    if (sources_[esi] != kNowhere) continue;
    const std::size_t first = slots.size();
    append_slots(code_, esi, *solution, slots);
    all_missing.push_back({content + esi * symbol_bytes_, first, slots.size() - first});
  }
  const std::size_t stripe = RowSchedule::stripe_bytes(symbol_bytes_);
  const RowMemory memory = make_row_memory(solution->schedule.memory_bytes(stripe));
  for (std::size_t at = 0; at < symbol_bytes_; at += stripe) {
    solution->schedule.run(inputs, at, symbol_bytes_, stripe, memory.get());
    for (const Missing& each : all_missing) {
      row_kernels().sum(each.to + at, {memory.get(), stripe}, std::span(slots).subspan(each.first, each.count),
                        std::min(stripe, symbol_bytes_ - at));
    }
  }
  return true;
}

}  // namespace spindle::codes
