#include "bench/sim/scenarios/mesh/experiments.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/sim/scenarios/mesh/trial.h"

namespace spindled::scenarios::mesh {

namespace {

using spindled::mesh::MeshOptions;
using underlay::Bandwidths;
using underlay::Topology;
using underlay::Transport;
using underlay::Tree;

constexpr double kSeconds = 300;
// The paper's trees are TFRC streams, which lose what the network loses.
constexpr Transport kPapers = Transport::tfrc;
constexpr Transport kOurs = Transport::tcp;
constexpr std::size_t kChildrenMax = 10;

/// The sizes and times of an experiment.
struct Extent {
  std::size_t routers;
  std::size_t members;
  double seconds;

  /// The last third, in which all has settled.
  double settled_s() const { return seconds * 2 / 3; }
};

Extent extent(const ExperimentOptions& options, std::size_t routers, std::size_t receivers, double seconds,
              std::size_t receivers_least = 40) {
  const auto scaled = [&](std::size_t count, std::size_t least) {
    return std::max(least, static_cast<std::size_t>(static_cast<double>(count) * options.share));
  };
  return {scaled(routers, 500), scaled(receivers, receivers_least) + 1, std::max(120.0, seconds * options.share)};
}

Table new_table() { return {{"series", "second", "useful", "deviation", "raw", "from_parents"}, {}}; }

void add_course(Table& table, const std::string& series, const Course& course) {
  for (std::size_t second = 0; second < course.seconds.size(); ++second) {
    const Course::Second& each = course.seconds[second];
    table.rows.push_back({series, std::to_string(second), fmt::format("{:.1f}", each.useful),
                          fmt::format("{:.1f}", each.deviation), fmt::format("{:.1f}", each.raw),
                          fmt::format("{:.1f}", each.from_parents)});
  }
}

std::string kbps(double rate) { return fmt::format("{:.0f} kb/s", rate); }

/// A run, as a line of the plot and of the table.
class Runs {
 public:
  Runs(ExperimentOutcome& outcome, const Extent& extent) : outcome_(outcome), extent_(extent) {
    outcome_.table = new_table();
  }
  double add(const std::string& series, const std::string& paper, const Course& course) {
    add_course(outcome_.table, series, course);
    const double rate = course.useful(extent_.settled_s(), extent_.seconds);
    outcome_.figures.push_back(beside(series, paper, kbps(rate)));
    return rate;
  }

 private:
  ExperimentOutcome& outcome_;
  const Extent extent_;
};

void add_costs(ExperimentOutcome& outcome, const Course& course, const Extent& extent) {
  const double raw = course.raw(0, extent.seconds), useful = course.useful(0, extent.seconds);
  outcome.figures.push_back(at_most("mesh: of all symbols, those of no use", "< 10 %", 0.05, 1 - useful / raw, "%"));
  outcome.figures.push_back(
      at_most("mesh: control of a member, mean", "30 kb/s", 30, course.control_mean_kbps, "kb/s"));
  outcome.figures.push_back(
      beside("mesh: control of a member, most", "", fmt::format("{:.1f} kb/s", course.control_most_kbps)));
  outcome.figures.push_back(at_most("mesh: copies of a symbol on a link, mean", "1.5", 1.5, course.stress_mean));
  outcome.figures.push_back(
      beside("mesh: copies of a symbol on a link, most", "22", fmt::format("{:.0f}", course.stress_most)));
  outcome.figures.push_back(beside("mesh: symbols of a block on a link, over those of the block, at least 1", "",
                                   fmt::format("{:.2f}", course.stress_of_blocks)));
}

/// At the rate that is offered there may be no more to gain.
void add_ratio(ExperimentOutcome& outcome, const std::string& what, const std::string& paper, double mark, double mesh,
               double other, double offered) {
  outcome.figures.push_back(at_least(what, paper, std::min(mark, 0.95 * offered / other), mesh / other, "x"));
}

/// A random tree, the offline tree, the mesh with and without disjoint send: Fig. 6, 7, 8, 10.
ExperimentOutcome medium(const ExperimentOptions& options) {
  const Extent size = extent(options, 20'000, 1'000, kSeconds);
  ExperimentOutcome outcome;
  Runs runs(outcome, size);
  const Topology topology(options.seed, {size.routers, size.members});
  const Tree random = underlay::random_tree(options.seed, size.members, kChildrenMax);
  const Tree offline = underlay::bottleneck_tree(topology, 0);
  constexpr double kRate = 600;
  const double random_rate =
      runs.add("random tree", "< 100 kb/s", Trial(topology, kPapers, kRate, options.seed).tree(random, size.seconds));
  const double offline_rate =
      runs.add("offline tree", "400 kb/s", Trial(topology, kPapers, kRate, options.seed).tree(offline, size.seconds));
  runs.add("offline tree over TCP", "", Trial(topology, kOurs, kRate, options.seed).tree(offline, size.seconds));
  const Course course = Trial(topology, kOurs, kRate, options.seed).mesh(random, size.seconds);
  const double mesh_rate = runs.add("mesh", "500 kb/s", course);
  MeshOptions not_disjoint;
  not_disjoint.is_disjoint = false;
  const double other_rate =
      runs.add("mesh, not disjoint", "375 kb/s",
               Trial(topology, kOurs, kRate, options.seed).mesh(random, size.seconds, not_disjoint));
  outcome.figures.push_back(at_least("mesh over the random tree", "5 x", 5, mesh_rate / random_rate, "x"));
  add_ratio(outcome, "mesh over the offline tree, or 95 % of what is offered", "1.25 x", 1.25, mesh_rate, offline_rate,
            kRate);
  outcome.figures.push_back(at_least("disjoint send over none", "1.25 x", 1.25, mesh_rate / other_rate, "x"));
  add_costs(outcome, course, size);
  // Fig. 8: what receivers have in one second.
  const auto at = static_cast<std::size_t>(size.seconds - 20);
  std::vector<double> rates(course.receivers.at(at).begin() + 1, course.receivers.at(at).end());
  std::sort(rates.begin(), rates.end());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    outcome.table.rows.push_back(
        {"cdf", fmt::format("{:.4f}", (static_cast<double>(i) + 1) / static_cast<double>(rates.size())),
         fmt::format("{:.1f}", rates[i]), "0", "0", "0"});
  }
  return outcome;
}

/// More than the medium bandwidths carry.
ExperimentOutcome faster(const ExperimentOptions& options) {
  const Extent size = extent(options, 20'000, 1'000, kSeconds);
  ExperimentOutcome outcome;
  Runs runs(outcome, size);
  const Topology topology(options.seed, {size.routers, size.members});
  const Tree random = underlay::random_tree(options.seed, size.members, kChildrenMax);
  const Tree offline = underlay::bottleneck_tree(topology, 0);
  constexpr double kRate = 900;
  const double offline_rate =
      runs.add("offline tree", "", Trial(topology, kPapers, kRate, options.seed).tree(offline, size.seconds));
  runs.add("offline tree over TCP", "", Trial(topology, kOurs, kRate, options.seed).tree(offline, size.seconds));
  const double mesh_rate = runs.add("mesh", "", Trial(topology, kOurs, kRate, options.seed).mesh(random, size.seconds));
  outcome.figures.push_back(at_least("mesh over the offline tree", "1.25 x", 1.25, mesh_rate / offline_rate, "x"));
  return outcome;
}

struct NamedBandwidths {
  std::string name;
  const Bandwidths& bandwidths;
  double mark;
  std::string tree_paper, mesh_paper;
};

/// Fig. 9 and 12: the mesh and the offline tree.
ExperimentOutcome compare(const ExperimentOptions& options, bool is_lossy, const std::vector<NamedBandwidths>& all) {
  const Extent size = extent(options, 20'000, 1'000, kSeconds);
  ExperimentOutcome outcome;
  Runs runs(outcome, size);
  Topology topology(options.seed, {size.routers, size.members});
  if (is_lossy) topology.set_losses(options.seed);
  const Tree random = underlay::random_tree(options.seed, size.members, kChildrenMax);
  constexpr double kRate = 600;
  for (const NamedBandwidths& each : all) {
    topology.set_bandwidths(each.bandwidths);
    const Tree offline = underlay::bottleneck_tree(topology, 0);
    const double offline_rate = runs.add("offline tree, " + each.name, each.tree_paper,
                                         Trial(topology, kPapers, kRate, options.seed).tree(offline, size.seconds));
    runs.add("offline tree over TCP, " + each.name, "",
             Trial(topology, kOurs, kRate, options.seed).tree(offline, size.seconds));
    const double mesh_rate = runs.add("mesh, " + each.name, each.mesh_paper,
                                      Trial(topology, kOurs, kRate, options.seed).mesh(random, size.seconds));
    add_ratio(outcome, each.name + ": mesh over the offline tree, or 95 % of what is offered",
              fmt::format("{:.0f} x", each.mark), each.mark, mesh_rate, offline_rate, kRate);
  }
  return outcome;
}

ExperimentOutcome bandwidths(const ExperimentOptions& options) {
  return compare(options, false,
                 {{"low bandwidths", underlay::kLowBandwidths, 2, "", ""},
                  {"high bandwidths", underlay::kHighBandwidths, 1, "600 kb/s", "600 kb/s"}});
}

ExperimentOutcome losses(const ExperimentOptions& options) {
  return compare(options, true,
                 {{"low bandwidths", underlay::kLowBandwidths, 2, "next to nothing", ""},
                  {"medium bandwidths", underlay::kMediumBandwidths, 2, "", ""},
                  {"high bandwidths", underlay::kHighBandwidths, 2, "", ""}});
}

/// Fig. 11.
ExperimentOutcome epidemics(const ExperimentOptions& options) {
  const Extent size = extent(options, 5'000, 100, 300);
  ExperimentOutcome outcome;
  Runs runs(outcome, size);
  const Topology topology(options.seed, {size.routers, size.members});
  const Tree random = underlay::random_tree(options.seed, size.members, kChildrenMax);
  const Tree offline = underlay::bottleneck_tree(topology, 0);
  constexpr double kRate = 900;
  const double gossip = runs.add("gossip", "", Trial(topology, kPapers, kRate, options.seed).gossip(size.seconds));
  const double anti_entropy =
      runs.add("anti-entropy", "", Trial(topology, kPapers, kRate, options.seed).anti_entropy(offline, size.seconds));
  const double mesh =
      runs.add("mesh", "close to 900 kb/s", Trial(topology, kOurs, kRate, options.seed).mesh(random, size.seconds));
  outcome.figures.push_back(at_least("mesh over gossip", "1.6 x", 1.6, mesh / gossip, "x"));
  outcome.figures.push_back(at_least("mesh over anti-entropy", "1.6 x", 1.6, mesh / anti_entropy, "x"));
  return outcome;
}

/// Fig. 13 and 14: a child of the root fails, with about a ninth of all below it, and the tree is not repaired.
ExperimentOutcome failure(const ExperimentOptions& options) {
  const Extent size = extent(options, 20'000, 1'000, kSeconds);
  ExperimentOutcome outcome;
  Runs runs(outcome, size);
  const Topology topology(options.seed, {size.routers, size.members});
  const Tree random = underlay::random_tree(options.seed, size.members, kChildrenMax);
  const auto& children = random.children[random.root];
  const auto failing = *std::max_element(children.begin(), children.end(), [&](auto a, auto b) {
    return random.subtree(a).size() < random.subtree(b).size();
  });
  const std::vector<underlay::Participant> orphans = [&] {
    auto all = random.subtree(failing);
    all.erase(all.begin());
    return all;
  }();
  const double at_s = size.seconds * 5 / 8;
  constexpr double kRate = 600;
  for (const bool has_detection : {false, true}) {
    MeshOptions member;
    if (!has_detection) member.ransub.patience = Duration::max();
    const Course course =
        Trial(topology, kOurs, kRate, options.seed).mesh(random, size.seconds, member, Trial::Failure{failing, at_s});
    const std::string name = has_detection ? "RanSub goes on" : "RanSub stops";
    add_course(outcome.table, name, course);
    const double before = course.useful(at_s - 30, at_s), orphans_before = course.useful_of(orphans, at_s - 30, at_s);
    const double after = course.useful(at_s + 10, at_s + 40) / before;
    const double orphans_after = course.useful_of(orphans, at_s + 10, at_s + 40) / orphans_before;
    outcome.figures.push_back(beside(name + ": before", "500 kb/s", kbps(before)));
    if (has_detection) {
      outcome.figures.push_back(
          at_least(name + ": of that, 10 to 40 s after the failure", "negligible loss", 0.95, after, "%"));
      outcome.figures.push_back(
          at_least(fmt::format("{}: the same, of {} orphans", name, orphans.size()), "", 0.95, orphans_after, "%"));
    } else {
      outcome.figures.push_back(beside(name + ": of that, 10 to 40 s after the failure", "350 of 500 kb/s",
                                       fmt::format("{:.1f} %", 100 * after)));
      outcome.figures.push_back(beside(fmt::format("{}: the same, of {} orphans", name, orphans.size()), "",
                                       fmt::format("{:.1f} %", 100 * orphans_after)));
    }
  }
  return outcome;
}

/// What a member costs, and how that grows with their number: the network stays as large as it is.
ExperimentOutcome costs(const ExperimentOptions& options) {
  constexpr double kRate = 600;
  ExperimentOutcome outcome;
  outcome.table = {{"receivers", "us_per_s", "ns_per_symbol", "heap_bytes", "control_kbps", "useful_kbps"}, {}};
  for (const std::size_t receivers : {10, 100, 1'000}) {
    const Extent size = extent(options, 20'000, receivers, kSeconds, 10);
    const Topology topology(options.seed, {size.routers, size.members});
    const Tree random = underlay::random_tree(options.seed, size.members, kChildrenMax);
    const Course course = Trial(topology, kOurs, kRate, options.seed).measured_mesh(random, size.seconds);
    const double useful = course.useful(size.settled_s(), size.seconds);
    const std::string of = fmt::format("of {} receivers, each: ", size.members - 1);
    outcome.figures.push_back(
        beside(of + "processor a second", "", fmt::format("{:.0f} us", course.processor_us_per_s)));
    outcome.figures.push_back(
        beside(of + "processor a symbol", "", fmt::format("{:.0f} ns", course.processor_ns_per_symbol)));
    outcome.figures.push_back(beside(of + "memory", "", fmt::format("{:.1f} KiB", course.heap_bytes / 1'024)));
    outcome.figures.push_back(beside(of + "control", "", fmt::format("{:.1f} kb/s", course.control_mean_kbps)));
    outcome.figures.push_back(beside(of + "rate", "", kbps(useful)));
    outcome.table.rows.push_back({std::to_string(size.members - 1), fmt::format("{:.1f}", course.processor_us_per_s),
                                  fmt::format("{:.0f}", course.processor_ns_per_symbol),
                                  fmt::format("{:.0f}", course.heap_bytes),
                                  fmt::format("{:.2f}", course.control_mean_kbps), fmt::format("{:.1f}", useful)});
  }
  return outcome;
}

}  // namespace

const std::vector<NamedExperiment>& experiments() {
  static const std::vector<NamedExperiment> all{
      {"epidemics", "Mesh, gossip and anti-entropy, 100 receivers (Fig. 11)", epidemics},
      {"costs", "What a member costs, by their number", costs},
      {"faster", "900 kb/s, medium bandwidths", faster},
      {"failure", "A child of the root fails (Fig. 13, 14)", failure},
      {"bandwidths", "Low and high bandwidths (Fig. 9)", bandwidths},
      {"medium", "Medium bandwidths (Fig. 6, 7, 8, 10)", medium},
      {"losses", "A network that loses packets (Fig. 12)", losses},
  };
  return all;
}

}  // namespace spindled::scenarios::mesh
