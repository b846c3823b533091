// Codes for bulk content: bytes of content a second.
#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

#include "libclient/codes/raptorq.h"
#include "libclient/codes/raptorq_solver.h"
#include "tests/support/known_content.h"

namespace spindle::codes {
namespace {

using test::content_of;

void set_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

/// Symbols; bytes of each. The plan is there already.
void RaptorqEncode(benchmark::State& state) {
  const auto symbols = static_cast<std::uint32_t>(state.range(0));
  const auto bytes = static_cast<std::size_t>(state.range(1));
  const std::vector<std::uint8_t> content = content_of(1, symbols * bytes);
  BlockEncoder encoder(EncodingPlan(symbols), content.data(), bytes);
  for (auto _ : state) encoder.load(content.data());
  set_bytes(state, content.size());
}
BENCHMARK(RaptorqEncode)->Args({1000, 1280})->Args({1024, 8192});

void RaptorqRepairSymbol(benchmark::State& state) {
  const auto symbols = static_cast<std::uint32_t>(state.range(0));
  const auto bytes = static_cast<std::size_t>(state.range(1));
  const std::vector<std::uint8_t> content = content_of(1, symbols * bytes);
  const BlockEncoder encoder(EncodingPlan(symbols), content.data(), bytes);
  std::vector<std::uint8_t> symbol(bytes);
  for (std::uint32_t esi = symbols; auto _ : state) encoder.encode(esi++, symbol.data());
  set_bytes(state, bytes);
}
BENCHMARK(RaptorqRepairSymbol)->Args({1000, 1280})->Args({1024, 8192});

/// From repair symbols only, with what it takes to find out how.
void RaptorqDecode(benchmark::State& state) {
  const auto symbols = static_cast<std::uint32_t>(state.range(0));
  const auto bytes = static_cast<std::size_t>(state.range(1));
  std::vector<std::uint8_t> content = content_of(1, symbols * bytes);
  const BlockEncoder encoder(EncodingPlan(symbols), content.data(), bytes);
  BlockDecoder decoder(symbols, bytes);
  std::vector<std::uint8_t> symbol(bytes);
  for (std::uint32_t esi = symbols + 1000; decoder.symbols() < symbols + 2; ++esi) {
    encoder.encode(esi, symbol.data());
    decoder.add(esi, symbol.data());
  }
  for (auto _ : state) {
    if (!decoder.decode(content.data())) state.SkipWithError("these symbols do not suffice");
  }
  set_bytes(state, content.size());
}
BENCHMARK(RaptorqDecode)->Args({1000, 1280})->Args({1024, 8192});

void RaptorqSolve(benchmark::State& state) {
  const BlockCode code = BlockCode::of(static_cast<std::uint32_t>(state.range(0)));
  std::vector<std::uint32_t> isis(code.symbols);
  std::iota(isis.begin(), isis.end(), 0u);
  for (auto _ : state) benchmark::DoNotOptimize(solve(code, isis));
}
BENCHMARK(RaptorqSolve)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace spindle::codes
