// Shortest paths, computed once for each view, and the forwarding of every frame.
#include <benchmark/benchmark.h>

#include <map>

#include "bench/micro/topologies.h"
#include "daemon/overlay/forwarding_table.h"
#include "daemon/overlay/shortest_paths.h"

namespace spindled {
namespace {

void ShortestPathsFromOne(benchmark::State& state) {
  const Topology topology = bench::random_topology(static_cast<std::size_t>(state.range(0)));
  const Adjacency adjacency(topology.members.size(), topology.edges);
  for (auto _ : state) benchmark::DoNotOptimize(ShortestPaths(adjacency, 0).eccentricity());
}
BENCHMARK(ShortestPathsFromOne)->ArgName("members")->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMicrosecond);

void ChooseSequencer(benchmark::State& state) {
  const Topology topology = bench::random_topology(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(choose_sequencer(topology));
}
BENCHMARK(ChooseSequencer)->ArgName("members")->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMicrosecond);

ForwardingTable table_of(std::size_t members) {
  const Topology topology = bench::random_topology(members);
  const View view{{1, topology.members.front().name}, topology.members, topology.edges, 0, 0};
  std::map<DaemonId, LinkId> links;
  for (std::size_t i = 1; i < members; ++i) links[topology.members[i]] = static_cast<LinkId>(i);
  return ForwardingTable(view, links);
}

/// To all members, at daemon 0.
void ForwardSplit(benchmark::State& state) {
  const auto members = static_cast<std::size_t>(state.range(0));
  const ForwardingTable table = table_of(members);
  const MemberSet destinations = MemberSet::first(members);
  for (auto _ : state) {
    table.split(destinations, [](LinkId link, const MemberSet& part) {
      benchmark::DoNotOptimize(link);
      benchmark::DoNotOptimize(part);
    });
  }
  state.counters["links"] = static_cast<double>(table.hops().size());
}
BENCHMARK(ForwardSplit)->ArgName("members")->Arg(3)->Arg(64)->Arg(256);

}  // namespace
}  // namespace spindled
