#include "libclient/codes/raptorq.h"

#include <algorithm>
#include <numeric>

#include "libclient/codes/gf256.h"
#include "libclient/codes/raptorq_solver.h"

namespace spindle::codes {

namespace {

using Row = RowSchedule::Row;

std::vector<Row> slots_of(const BlockCode& code, std::uint32_t isi, const std::vector<Row>& slots) {
  std::vector<std::uint32_t> terms;
  code.append_terms(isi, terms);
  for (std::uint32_t& term : terms) term = slots[term];
  return terms;
}

}  // namespace

EncodingPlan::EncodingPlan(std::uint32_t source_symbols) : code_(BlockCode::of(source_symbols)) {
  std::vector<std::uint32_t> isis(code_.symbols);
  std::iota(isis.begin(), isis.end(), 0u);
  // Source symbols determine a block, whatever its size: that is what the systematic index is for.
  solution_ = std::make_shared<const Solution>(solve(code_, isis).value());
}

BlockEncoder::BlockEncoder(const EncodingPlan& plan, std::size_t symbol_bytes)
    : plan_(plan), symbol_bytes_(symbol_bytes), intermediate_(new std::uint8_t[memory_bytes()]) {}

BlockEncoder::BlockEncoder(const EncodingPlan& plan, const std::uint8_t* content, std::size_t symbol_bytes)
    : BlockEncoder(plan, symbol_bytes) {
  load(content);
}

void BlockEncoder::load(const std::uint8_t* content) {
  const BlockCode& code = plan_.code();
  const Solution& solution = plan_.solution();
  std::vector<const std::uint8_t*> inputs(code.symbols, nullptr);
  for (std::uint32_t i = 0; i < code.source_symbols; ++i) inputs[i] = content + i * symbol_bytes_;
  std::vector<RowSchedule::Output> outputs(code.intermediate);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = {intermediate_.get() + i * symbol_bytes_, std::span(solution.slots).subspan(i, 1)};
  }
  solution.schedule.run(inputs, outputs, symbol_bytes_);
}

void BlockEncoder::encode(std::uint32_t esi, std::uint8_t* to) const {
  std::vector<std::uint32_t> terms;
  plan_.code().append_terms(plan_.code().isi_of(esi), terms);
  std::vector<const std::uint8_t*> rows;
  for (const std::uint32_t term : terms) rows.push_back(intermediate_.get() + term * symbol_bytes_);
  row_kernels().sum(to, rows.data(), rows.size(), symbol_bytes_);
}

BlockDecoder::BlockDecoder(std::uint32_t source_symbols, std::size_t symbol_bytes)
    : code_(BlockCode::of(source_symbols)), symbol_bytes_(symbol_bytes) {}

bool BlockDecoder::add(std::uint32_t esi, const std::uint8_t* symbol) {
  const std::size_t place = places_.size();
  if (!places_.emplace(esi, place).second) return false;
  if (place / kChunkSymbols == chunks_.size()) chunks_.emplace_back(new std::uint8_t[kChunkSymbols * symbol_bytes_]);
  std::copy_n(symbol, symbol_bytes_, at(place));
  return true;
}

std::size_t BlockDecoder::memory_bytes() const {
  constexpr std::size_t kPlaceBytes = 64;  // of a node of the map, with what the allocator adds
  return chunks_.size() * kChunkSymbols * symbol_bytes_ + places_.size() * kPlaceBytes;
}

std::size_t BlockDecoder::decoding_bytes(std::uint32_t source_symbols) {
  // Of the solver, and of the rows of a stripe: at most 1,550 bytes a symbol were measured, from 1,000 symbols on.
  constexpr std::size_t kSymbolBytes = 2'000, kMoreBytes = 100'000;
  return source_symbols * kSymbolBytes + kMoreBytes;
}

bool BlockDecoder::decode(std::uint8_t* content) const {
  if (places_.size() < code_.source_symbols) return false;
  std::vector<std::uint32_t> isis;
  std::vector<const std::uint8_t*> inputs;
  for (std::uint32_t isi = code_.source_symbols; isi < code_.symbols; ++isi) {  // padding
    isis.push_back(isi);
    inputs.push_back(nullptr);
  }
  std::uint32_t source = 0;
  for (const auto& [esi, place] : places_) {
    isis.push_back(code_.isi_of(esi));
    inputs.push_back(at(place));
    if (esi < code_.source_symbols) ++source;
  }
  std::vector<std::vector<Row>> terms;
  std::vector<RowSchedule::Output> outputs;
  if (source < code_.source_symbols) {
    const std::optional<Solution> solution = solve(code_, isis);
    if (!solution) return false;
    for (std::uint32_t esi = 0; esi < code_.source_symbols; ++esi) {
      if (places_.contains(esi)) continue;
      terms.push_back(slots_of(code_, esi, solution->slots));
      outputs.push_back({content + esi * symbol_bytes_, {}});
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].rows = terms[i];
    solution->schedule.run(inputs, outputs, symbol_bytes_);
  }
  for (auto known = places_.begin(); known != places_.lower_bound(code_.source_symbols); ++known) {
    std::copy_n(at(known->second), symbol_bytes_, content + known->first * symbol_bytes_);
  }
  return true;
}

}  // namespace spindle::codes
