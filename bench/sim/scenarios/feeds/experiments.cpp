#include "bench/sim/scenarios/feeds/experiments.h"

namespace spindled::scenarios::feeds {

const std::vector<NamedExperiment>& experiments() {
  const auto named = [](std::string name, std::string title, ExperimentOutcome (*run)(const ExperimentOptions&)) {
    return NamedExperiment{name, std::move(title), [name, run](const ExperimentOptions& options) {
                             return run_named<ExperimentOutcome>(name, [&] { return run(options); });
                           }};
  };
  static const std::vector<NamedExperiment> all{
      named("fig6", "The bottleneck shifts from the longer branch to the shorter (Fig. 6)", shift),
      named("fig7", "Branches of 0.5 and 0.2 Mb/s (Fig. 7)", unbalanced),
      named("fig8", "With and without aggregation of NAKs (Fig. 8)", aggregation),
      named("fig9", "A queue with RED (Fig. 9)", red),
      named("fig10", "Trees of five levels (Fig. 10)", levels),
      named("reductions", "A capacity that falls to a part (section 2.1.3)", reductions),
      named("capacity", "A capacity that halves, and returns", capacity),
      named("variation", "Rates of each second beside TCP", variation),
      named("field", "TCP beside feeds on the link of `tools/bench feeds --only reno,pairs`", field),
      named("listeners", "Listeners behind paths that lose independently", listeners),
      named("fig11i", "By the paper's rules: TCP beside feeds, with four intervals of increase (Fig. 11)", increase),
      named("fig11", "TCP beside feeds (Fig. 5 and 11)", pairs),
  };
  return all;
}

}  // namespace spindled::scenarios::feeds
