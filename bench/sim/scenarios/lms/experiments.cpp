#include "bench/sim/scenarios/lms/experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/sim/scenarios/lms/trial.h"

namespace spindled::scenarios::lms {

namespace {

// The paper says how many links and nodes there are, and nothing of how long links take. Here a link between routers
// takes as long as it is on the plane that they are drawn on; that of a receiver takes a tenth of what crosses the
// plane.
constexpr sim::GraphDelays kDelays{50ms, 5ms};
constexpr sim::GraphDelays kEqualDelays{0ms, 10ms};
constexpr std::size_t kRouters = 100;
constexpr double kProbability = 0.1;
constexpr int kGraphs = 10;
constexpr int kPlacements = 10;

constexpr Mode kModes[] = {Mode::paper, Mode::members, Mode::all};

int scaled(int count, double share) { return std::max(1, static_cast<int>(std::lround(count * share))); }

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// Columns of all experiments; what `x` is they say themselves.
Table new_table() {
  return {{"mode", "loss", "receivers", "x", "mean", "min", "max", "exposure", "duplicates", "naks_at_source"}, {}};
}

void add_row(Table& table, Mode mode, std::string_view loss, std::size_t receivers, std::size_t x,
             const Measured& measured) {
  table.rows.push_back({std::string(to_string(mode)), std::string(loss), std::to_string(receivers), std::to_string(x),
                        fmt::format("{:.4f}", measured.latency()), fmt::format("{:.4f}", measured.latency_min),
                        fmt::format("{:.4f}", measured.latency_max), fmt::format("{:.6f}", measured.exposure()),
                        std::to_string(measured.duplicates), std::to_string(measured.naks_at_source)});
}

/// What holds whatever is lost where.
void add_common_figures(ExperimentOutcome& outcome, Mode mode, const Measured& measured) {
  const auto add = [&](std::string_view what, std::string paper, double most, std::uint64_t ours) {
    outcome.figures.push_back(
        at_most(fmt::format("{}: {}", to_string(mode), what), std::move(paper), most, static_cast<double>(ours)));
  };
  add("packets that did not come", "", 0, measured.unrepaired);
  add("repairs that came twice where one was missing", "none", 0, measured.duplicates);
  add("NAKs of a loss and try upstream on a link", "1", 1, measured.naks_up_max);
  if (mode == Mode::all) add("the same in any direction", "", 1, measured.naks_max);
}

// --- Random graphs ---

enum class Loss : std::uint8_t { source, receivers, links };
constexpr std::string_view kLossNames[] = {"source", "receivers", "links"};

/// Losses of one kind on one graph after the other; a row for each graph.
Measured measure_random(const ExperimentOptions& options, Mode mode, Loss loss, std::size_t receivers, Table& table,
                        unsigned later_packets = 1) {
  Measured all;
  for (int graph = 0; graph < scaled(kGraphs, options.share); ++graph) {
    Measured own;
    for (int placement = 0; placement < scaled(kPlacements, options.share); ++placement) {
      Random shape(options.seed + static_cast<std::uint64_t>(graph));
      Random places(options.seed + static_cast<std::uint64_t>(1'000 * graph + placement));
      Trial trial(sim::random_graph(shape, places, kRouters, kProbability, receivers, kDelays), mode, later_packets);
      if (loss == Loss::source) trial.lose_at_source(own);
      for (const Trial::TreeLink& link : trial.tree()) {
        const bool is_receivers = link.kind == sim::EdgeKind::access && link.to > kRouters;
        if (loss == Loss::links || (loss == Loss::receivers && is_receivers)) trial.lose_on(link, own);
      }
    }
    add_row(table, mode, kLossNames[static_cast<std::size_t>(loss)], receivers, static_cast<std::size_t>(graph), own);
    all.add(own);
  }
  return all;
}

struct RandomMark {
  Loss loss;
  std::string_view paper;
  double latency_max;  // mean, of `members`
};
constexpr RandomMark kRandomMarks[] = {
    {Loss::source, "30-40 %", 0.4}, {Loss::receivers, "50 %", 0.5}, {Loss::links, "60 %", 0.6}};

ExperimentOutcome random_dense(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  outcome.table = new_table();
  for (const Mode mode : kModes) {
    Measured all;
    for (const RandomMark& mark : kRandomMarks) {
      const std::string_view loss = kLossNames[static_cast<std::size_t>(mark.loss)];
      const Measured measured = measure_random(options, mode, mark.loss, 100, outcome.table);
      const std::string what = fmt::format("{}: recovery, loss at {}", to_string(mode), loss);
      const std::string exposed = fmt::format("{}: exposure, loss at {}", to_string(mode), loss);
      if (mode == Mode::paper) {
        outcome.figures.push_back(beside(what, std::string(mark.paper), percent(measured.latency())));
        outcome.figures.push_back(beside(exposed, "< 3 %", percent(measured.exposure())));
      } else {
        const double most = mode == Mode::all ? 0.3 : mark.latency_max;
        outcome.figures.push_back(at_most(what, std::string(mark.paper), most, measured.latency(), "%"));
        outcome.figures.push_back(at_most(exposed, "0.5 %", mode == Mode::all ? 0 : 0.005, measured.exposure(), "%"));
      }
      if (mode == Mode::members && mark.loss == Loss::receivers) {
        outcome.figures.push_back(at_most("members: the longest of these", "1.25", 1.25, measured.latency_max));
      }
      all.add(measured);
    }
    add_common_figures(outcome, mode, all);
    outcome.figures.push_back(at_most(fmt::format("{}: NAKs of a loss at the source", to_string(mode)), "1", 1,
                                      static_cast<double>(all.naks_at_source)));
  }
  return outcome;
}

/// Fig. 12, "sensitivity": the fewer the receivers, the fewer the helpers.
ExperimentOutcome random_sparse(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  outcome.table = new_table();
  for (const Mode mode : kModes) {
    double before = 0;
    for (const std::size_t receivers : {100u, 20u, 5u}) {
      const Measured measured = measure_random(options, mode, Loss::links, receivers, outcome.table);
      const std::string what = fmt::format("{}: recovery, loss at links, {} receivers", to_string(mode), receivers);
      if (mode == Mode::all) {
        outcome.figures.push_back(at_most(what, "", 0.3, measured.latency(), "%"));
      } else if (mode == Mode::members && receivers < 100) {
        outcome.figures.push_back(at_least(what, "more than of 100", before, measured.latency(), "%"));
      } else {
        outcome.figures.push_back(beside(what, receivers == 100 ? "60 %" : "", percent(measured.latency())));
      }
      before = measured.latency();
    }
  }
  return outcome;
}

/// What it costs to wait for packets that may have been disordered.
ExperimentOutcome patient(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  outcome.table = new_table();
  const Measured measured = measure_random(options, Mode::all, Loss::links, 100, outcome.table, Gaps::kLaterPackets);
  outcome.figures.push_back(
      beside("all: recovery, loss at links, with the wait before a gap counts", "", percent(measured.latency())));
  add_common_figures(outcome, Mode::all, measured);
  return outcome;
}

// --- Binary trees ---

ExperimentOutcome binary(const ExperimentOptions&) {
  ExperimentOutcome outcome;
  outcome.table = new_table();
  for (const Mode mode : kModes) {
    Measured all, links, exposed;
    double source_max = 0;
    for (unsigned height = 3; height <= 7; ++height) {
      Trial trial(sim::binary_tree(height, kEqualDelays), mode);
      Measured source, receivers, each;
      trial.lose_at_source(source);
      for (const Trial::TreeLink& link : trial.tree()) {
        trial.lose_on(link, each);
        if (std::size_t{2} * link.to + 1 >= (std::size_t{2} << height) - 1) trial.lose_on(link, receivers);
      }
      const std::size_t count = std::size_t{1} << height;
      add_row(outcome.table, mode, "source", count, height, source);
      add_row(outcome.table, mode, "receivers", count, height, receivers);
      add_row(outcome.table, mode, "links", count, height, each);
      source_max = std::max(source_max, source.latency());
      links.add(each);
      exposed.add(each);
      exposed.add(receivers);
      for (const Measured* one : {&source, &receivers, &each}) all.add(*one);
    }
    const auto name = [&](std::string_view what) { return fmt::format("{}: {}", to_string(mode), what); };
    if (mode == Mode::paper) {
      outcome.figures.push_back(beside(name("recovery, loss at links, mean"), "about 1", percent(links.latency())));
      outcome.figures.push_back(at_most(name("recovery, the longest"), "below 2", 2, all.latency_max));
      outcome.figures.push_back(beside(name("exposure"), "< 15 %", percent(exposed.exposure())));
    } else {
      outcome.figures.push_back(at_most(name("recovery, loss at the source, mean"), "about 1", 1.01, source_max));
      outcome.figures.push_back(at_most(name("recovery, loss at links, mean"), "about 1", 1, links.latency()));
      outcome.figures.push_back(at_most(name("recovery, the longest"), "below 2", 2, all.latency_max));
      outcome.figures.push_back(at_most(name("exposure"), "< 15 %", 0.005, exposed.exposure(), "%"));
    }
    add_common_figures(outcome, mode, all);
  }
  return outcome;
}

// --- Transit-stub graphs ---

struct TransitLoss {
  std::string_view name;
  std::vector<sim::EdgeKind> kinds;
};

ExperimentOutcome transit_stub(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  outcome.table = new_table();
  using sim::EdgeKind;
  const std::vector<TransitLoss> losses{
      {"all links", {EdgeKind::transit, EdgeKind::transit_stub, EdgeKind::stub, EdgeKind::access}},
      {"transit-transit", {EdgeKind::transit}},
      {"transit-stub", {EdgeKind::transit_stub}},
      {"stub-stub", {EdgeKind::stub}},
  };
  for (const Mode mode : kModes) {
    std::vector<Measured> sums(losses.size());
    double exposure_max = 0;
    for (int graph = 0; graph < scaled(kGraphs, options.share); ++graph) {
      std::vector<Measured> own(losses.size());
      for (int placement = 0; placement < scaled(kPlacements, options.share); ++placement) {
        Random shape(options.seed + static_cast<std::uint64_t>(graph));
        Random places(options.seed + static_cast<std::uint64_t>(1'000 * graph + placement));
        Trial trial(sim::transit_stub_graph(shape, places, 100, kDelays), mode);
        for (const Trial::TreeLink& link : trial.tree()) {
          Measured one;
          trial.lose_on(link, one);
          for (std::size_t i = 0; i < losses.size(); ++i) {
            const auto& kinds = losses[i].kinds;
            if (std::find(kinds.begin(), kinds.end(), link.kind) != kinds.end()) own[i].add(one);
          }
        }
      }
      for (std::size_t i = 0; i < losses.size(); ++i) {
        add_row(outcome.table, mode, losses[i].name, 100, static_cast<std::size_t>(graph), own[i]);
        exposure_max = std::max(exposure_max, own[i].exposure());
        sums[i].add(own[i]);
      }
    }
    const auto name = [&](std::string_view what) { return fmt::format("{}: {}", to_string(mode), what); };
    const Measured& all = sums.front();
    if (mode == Mode::paper) {
      outcome.figures.push_back(beside(name("recovery, loss at all links, mean"), "50 %", percent(all.latency())));
      outcome.figures.push_back(
          beside(name("exposure, the most of a graph and kind of links"), "15-20 %", percent(exposure_max)));
    } else {
      outcome.figures.push_back(at_most(name("recovery, loss at all links, mean"), "50 %",
                                        mode == Mode::all ? 0.3 : 0.5, all.latency(), "%"));
      outcome.figures.push_back(
          at_most(name("exposure, the most of a graph and kind of links"), "15-20 %", 0.02, exposure_max, "%"));
    }
    add_common_figures(outcome, mode, all);
  }
  return outcome;
}

}  // namespace

const std::vector<NamedExperiment>& experiments() {
  static const std::vector<NamedExperiment> all{
      {"binary", "Binary trees (Fig. 11)", binary},
      {"patient", "Random graphs, and gaps that count later", patient},
      {"sparse", "Random graphs, few receivers (Fig. 12)", random_sparse},
      {"transit", "Transit-stub graphs (Fig. 13)", transit_stub},
      {"random", "Random graphs, 100 receivers (Fig. 12, Table I)", random_dense},
  };
  return all;
}

}  // namespace spindled::scenarios::lms
