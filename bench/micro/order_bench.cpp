// Order records: one goes to every daemon for each batch of messages.
#include <benchmark/benchmark.h>

#include "daemon/order/records.h"

namespace spindled {
namespace {

/// Runs of one origin after the other, none of which continues the one before.
std::vector<Run> some_runs(std::size_t count, std::size_t members) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < count; ++i) {
    runs.push_back({static_cast<MemberIndex>(i % members), false, 1'000 + 100 * i, 40, MemberSet::first(members)});
  }
  return runs;
}

OrderRecord some_record(const benchmark::State& state) {
  const auto runs = static_cast<std::size_t>(state.range(0));
  return {1'000'000, 999'000, 0, some_runs(runs, static_cast<std::size_t>(state.range(1)))};
}

void OrderRecordEncode(benchmark::State& state) {
  const OrderRecord record = some_record(state);
  for (auto _ : state) benchmark::DoNotOptimize(write_order_record(record));
}
BENCHMARK(OrderRecordEncode)->ArgNames({"runs", "members"})->Args({1, 3})->Args({16, 3})->Args({16, 256});

void OrderRecordDecode(benchmark::State& state) {
  const std::vector<std::uint8_t> bytes = write_order_record(some_record(state));
  const auto members = static_cast<std::size_t>(state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(read_order_record(bytes, members));
}
BENCHMARK(OrderRecordDecode)->ArgNames({"runs", "members"})->Args({1, 3})->Args({16, 3})->Args({16, 256});

/// A batch of messages to the same members becomes one run.
void AppendMessages(benchmark::State& state) {
  const MemberSet destinations = MemberSet::first(static_cast<std::size_t>(state.range(0)));
  std::vector<Run> runs;
  for (auto _ : state) {
    runs.clear();
    for (std::uint64_t number = 1; number <= 64; ++number) append_message(runs, 0, false, number, destinations);
    benchmark::DoNotOptimize(runs.data());
  }
  state.SetItemsProcessed(state.iterations() * 64);
}
BENCHMARK(AppendMessages)->ArgName("members")->Arg(3)->Arg(256);

}  // namespace
}  // namespace spindled
