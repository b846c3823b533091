#include "bench/sim/scenarios/run_each.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <thread>

namespace spindled::scenarios {

namespace {
/// In proportion to the messages that pass the narrowest path: an idea of how long a scenario takes.
double cost_of(const Scenario& scenario) {
  double most = 0;
  for (const Path& path : scenario.paths) most = std::max(most, path.bits_per_second);
  return most * to_seconds(scenario.end) / static_cast<double>(scenario.message_bytes);
}
}  // namespace

void run_each(const std::vector<Scenario>& scenarios, std::uint64_t seed, std::size_t threads,
              const std::function<void(std::size_t index, const Result& result)>& done) {
  std::vector<std::size_t> order(scenarios.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cost_of(scenarios[a]) > cost_of(scenarios[b]); });
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t taken = next++; taken < order.size(); taken = next++) {
      const std::size_t index = order[taken];
      std::atomic<double> progress = 0;
      const Result result = run(scenarios[index], seed, progress);
      const std::scoped_lock lock(mutex);
      fmt::print(stderr, "{} of {}: {}, {:.1f} s of processor\n", taken + 1, order.size(), scenarios[index].id,
                 result.cpu_seconds);
      done(index, result);
    }
  };
  std::vector<std::jthread> workers;
  for (std::size_t i = 0; i < std::min(threads, scenarios.size()); ++i) workers.emplace_back(work);
}

}  // namespace spindled::scenarios
