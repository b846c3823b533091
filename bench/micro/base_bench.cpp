// Member sets, and the queue in front of every connection.
#include <benchmark/benchmark.h>

#include <array>

#include "daemon/base/member_set.h"
#include "daemon/base/output_queue.h"

namespace spindled {
namespace {

void MemberSetIntersect(benchmark::State& state) {
  const auto members = static_cast<std::size_t>(state.range(0));
  const MemberSet all = MemberSet::first(members);
  MemberSet some;
  for (std::size_t i = 0; i < members; i += 3) some.insert(static_cast<MemberIndex>(i));
  for (auto _ : state) benchmark::DoNotOptimize(all & some);
}
BENCHMARK(MemberSetIntersect)->ArgName("members")->Arg(3)->Arg(64)->Arg(256);

void MemberSetWriteAndRead(benchmark::State& state) {
  const MemberSet set = MemberSet::first(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint8_t> bytes(set.encoded_size());
  for (auto _ : state) {
    spindle::Writer writer(bytes.data());
    set.write(writer);
    spindle::Reader reader(bytes);
    benchmark::DoNotOptimize(MemberSet::read(reader));
  }
}
BENCHMARK(MemberSetWriteAndRead)->ArgName("members")->Arg(3)->Arg(64)->Arg(256);

/// One turn of a connection: 64 frames, each a small head and a payload, are queued, gathered and written.
void OutputQueueTurn(benchmark::State& state) {
  const auto payload_bytes = static_cast<std::size_t>(state.range(0));
  SlabPool pool;
  SlabWriter arena(pool);
  const std::vector<std::uint8_t> head(12);
  arena.reserve(payload_bytes);
  const Slice payload = arena.commit(payload_bytes);
  OutputQueue queue(pool);
  std::array<ByteView, 64> buffers;
  for (auto _ : state) {
    for (int i = 0; i < 64; ++i) {
      queue.append_copy(head);
      queue.append(payload);
    }
    while (!queue.empty()) {
      std::size_t bytes = 0;
      const std::size_t count = queue.gather(buffers);
      for (std::size_t i = 0; i < count; ++i) bytes += buffers[i].size();
      benchmark::DoNotOptimize(bytes);
      queue.consume(bytes);
    }
  }
  state.SetItemsProcessed(state.iterations() * 64);
}
BENCHMARK(OutputQueueTurn)->ArgName("bytes")->Arg(100)->Arg(1'000)->Arg(10'000);

}  // namespace
}  // namespace spindled
