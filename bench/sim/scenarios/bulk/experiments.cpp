#include "bench/sim/scenarios/bulk/experiments.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/sim/scenarios/bulk/experiment_parts.h"

namespace spindled::scenarios::bulk {

namespace {

/// Of a block, and of all in the mean: symbols beyond those that there are.
constexpr double kBeyondOfBlockMax = 0.002;
constexpr double kBeyondMeanMax = 0.0001;
constexpr double kMemoryMiBMax = 16;

}  // namespace

void Cost::add(const Cost& other) {
  decoding.blocks += other.decoding.blocks;
  decoding.symbols += other.decoding.symbols;
  decoding.beyond += other.decoding.beyond;
  decoding.beyond_max = std::max(decoding.beyond_max, other.decoding.beyond_max);
  memory_max = std::max(memory_max, other.memory_max);
}

Cost cost_of(const Overlay& overlay) { return {overlay.decoding(), overlay.memory_max()}; }

Outcome failed(std::string why) {
  Outcome outcome;
  outcome.error = std::move(why);
  return outcome;
}

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all{
      {"weights", "Two contents of weights 10 and 30 on one path", weights},
      {"late", "A receiver that comes when half has been sent", late_joiner},
      {"killed", "A relay is killed", relay_killed},
      {"silent", "A relay loses power", relay_silent},
      {"root", "The root is killed", root_killed},
      {"source", "The source's program is killed", source_killed},
      {"partition", "A partition, and its end", partition},
      {"slow", "A receiver of a hundredth of the rate", slow_receiver},
      {"table1-ucla", "Rates of Table 1, from UCLA (Fig. 9 and 10)", table1_ucla},
      {"table1-uw", "The widest paths of Table 1, from UW (Fig. 12 and 13)", table1_uw},
      {"fig15", "A chain beside ten TCP streams on each hop (Fig. 15)", competing},
      {"fig6", "A detour (Fig. 6)", detour},
      {"fig17", "A lossy chain, and what its relays keep (Fig. 17)", buffers},
      {"table1-bu", "Rates of Table 1, from BU (Fig. 7 and 8)", table1_bu},
      {"fig18", "A lossy chain of 16 hops (Fig. 18)", depth},
  };
  return all;
}

Outcome run(const Experiment& experiment, const Options& options) {
  return run_named<Outcome>(experiment.name, [&] { return experiment.run(options); });
}

std::vector<Figure> figures_of_cost(const std::vector<Cost>& costs) {
  Cost all;
  for (const Cost& cost : costs) all.add(cost);
  if (all.decoding.blocks == 0) return {};
  const double symbols_of_block = static_cast<double>(all.decoding.symbols) / static_cast<double>(all.decoding.blocks);
  const double most = static_cast<double>(all.decoding.beyond_max) / symbols_of_block;
  const double mean = static_cast<double>(all.decoding.beyond) / static_cast<double>(all.decoding.symbols);
  std::vector<Figure> figures{
      at_most(fmt::format("coding overhead of a block, of {}", all.decoding.blocks), "3 %", kBeyondOfBlockMax, most,
              "%"),
      at_most("the same in the mean", "3 %", kBeyondMeanMax, mean, "%"),
      at_most("memory of a channel at a daemon", "1 MB", kMemoryMiBMax, static_cast<double>(all.memory_max) / (1 << 20),
              "MiB"),
  };
  for (Figure& figure : figures) figure.scenario = "all";
  return figures;
}

}  // namespace spindled::scenarios::bulk
