// The trees of the paper's Figures 3 and 4, with one feed alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/sim/scenarios/feeds/experiments.h"
#include "bench/sim/scenarios/feeds/paths.h"

namespace spindled::scenarios::feeds {

namespace {

constexpr Duration kSample = 500ms;
constexpr double kMega = 1e6;
/// Figure 3 shows no other rates than those of the bottlenecks.
constexpr double kWide = 10 * kMega;
constexpr Duration kShort = 10ms, kLong = 200ms;
/// "Set conservatively … to be larger than the maximum congested-subtree RTTs" (section 3): the queue alone takes 1.1
/// s.
constexpr Duration kFirstRoundTrip = 2s;
/// Reductions that are no further apart are of one congestion.
constexpr Duration kOneCongestion = 12s;

/// What a source did: its rate and its mean round trip over time.
class Course {
 public:
  Course(Paths& paths, const FeedFlow& flow) : paths_(&paths), flow_(&flow) {}
  void run_for(Duration duration) {
    for (Duration passed{}; passed < duration; passed += kSample) {
      paths_->run_for(kSample);
      rates_.push_back(flow_->rate().rate() * 8);
      round_trips_.push_back(to_seconds(flow_->rate().round_trip()));
    }
  }
  /// Between the first and the last reduction within a time, so that it is that of whole cycles; 0: there are none.
  double mean_of_cycles(Duration from, Duration to) const {
    Duration first{}, last{};
    for (const Duration at : reductions()) {
      if (at < from || at >= to) continue;
      if (first == Duration::zero()) first = at;
      last = at;
    }
    return mean(rates_, first, last);
  }
  double mean_round_trip(Duration from, Duration to) const { return mean(round_trips_, from, to); }
  std::vector<Duration> reductions() const {
    std::vector<Duration> times;
    for (const Time at : flow_->reductions()) times.push_back(at - paths_->events.now() + paths_->now());
    return times;
  }
  /// How many reductions each congestion has had.
  std::vector<std::size_t> congestions(Duration from = {}) const {
    std::vector<std::size_t> counts;
    Duration before = -kOneCongestion;
    for (const Duration at : reductions()) {
      if (at >= from) {
        if (counts.empty() || at - before >= kOneCongestion) counts.push_back(0);
        ++counts.back();
      }
      before = at;
    }
    return counts;
  }
  void add_rows(Table& table, const std::string& series) const {
    table.columns = {"series", "second", "kbps", "round_trip_s"};
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      table.rows.push_back({series, fmt::format("{:.1f}", to_seconds(kSample) * static_cast<double>(i + 1)),
                            fmt::format("{:.1f}", rates_[i] / 1000), fmt::format("{:.3f}", round_trips_[i])});
    }
  }

 private:
  static double mean(const std::vector<double>& values, Duration from, Duration to) {
    double sum = 0;
    std::size_t count = 0;
    const auto end = std::min(values.size(), static_cast<std::size_t>(to / kSample));
    for (auto i = static_cast<std::size_t>(from / kSample); i < end; ++i, ++count) sum += values[i];
    return count == 0 ? 0 : sum / static_cast<double>(count);
  }

  Paths* paths_;
  const FeedFlow* flow_;
  std::vector<double> rates_, round_trips_;
};

double most(const std::vector<std::size_t>& counts) {
  return counts.empty() ? 0 : static_cast<double>(*std::max_element(counts.begin(), counts.end()));
}

/// Figure 3: a link to a router, and from there a long and a short one to two receivers.
struct TwoLevels {
  struct Rates {
    double common = kWide, longer = kWide, shorter = kWide;
  };
  TwoLevels(std::uint64_t seed, const FeedFlowProperties& properties, const Rates& rates, bool has_red = false)
      : paths(seed),
        common(paths.add(rates.common, kShort)),
        longer(paths.add(rates.longer, kLong, has_red, false)),
        shorter(paths.add(rates.shorter, kShort)),
        flow(paths.events, properties, seed),
        course(paths, flow) {
    const FeedFlow::Node router = flow.add_node(0, {&common}, {&paths.add(kWide, kShort)});
    flow.add_receiver(flow.add_node(router, {&longer}, {&paths.add(kWide, kLong)}));
    flow.add_receiver(flow.add_node(router, {&shorter}, {&paths.add(kWide, kShort)}));
    flow.start();
  }
  Paths paths;
  sim::PacketPath& common;
  sim::PacketPath& longer;
  sim::PacketPath& shorter;
  FeedFlow flow;
  Course course;
};

Duration scaled(Duration duration, double share) {
  return kSample * std::max<Duration::rep>(1, std::llround(to_seconds(duration) / to_seconds(kSample) * share));
}

}  // namespace

ExperimentOutcome shift(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  for (const bool is_ours : {false, true}) {
    FeedFlowProperties properties = paper_rules(0.6 * kMega, kFirstRoundTrip);
    properties.rate.worst_path = is_ours;
    const std::string name = is_ours ? "worst path" : "paper's rules";
    TwoLevels tree(options.seed, properties, {.longer = 0.5 * kMega});
    const Duration at = 500s, end = at + scaled(1000s, options.share);
    tree.course.run_for(at);
    tree.longer.set_rate(bytes_of(kWide));
    tree.shorter.set_rate(bytes_of(0.5 * kMega));
    tree.course.run_for(end - at);
    const double before = tree.course.mean_of_cycles({}, at),
                 after = tree.course.mean_of_cycles(at + kOneCongestion, end);
    outcome.figures.push_back(between(name + ": mean rate behind the shift, of that before", "unchanged", 0.95, 1.05,
                                      before > 0 ? after / before : 0));
    outcome.figures.push_back(
        at_most(name + ": reductions in a congestion, most", "1", 1, most(tree.course.congestions()), "reductions"));
    tree.course.add_rows(outcome.table, name);
  }
  return outcome;
}

ExperimentOutcome unbalanced(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  TwoLevels tree(options.seed, paper_rules(0.6 * kMega, kFirstRoundTrip),
                 {.longer = 0.5 * kMega, .shorter = 0.2 * kMega});
  tree.course.run_for(scaled(2000s, options.share));
  const std::vector<std::size_t> counts = tree.course.congestions();
  // 2 for 0.6 over 0.2, and one more as NAKs of the longer branch are absorbed.
  outcome.figures.push_back(
      at_most("reductions at first", "3", 3, counts.empty() ? 0 : static_cast<double>(counts.front()), "reductions"));
  outcome.figures.push_back(at_most("in a later congestion, most", "1", 1,
                                    counts.size() < 2 ? 0 : most({counts.begin() + 1, counts.end()}), "reductions"));
  outcome.figures.push_back(beside("congestions", "", fmt::format("{}", counts.size())));
  tree.course.add_rows(outcome.table, "0.5 and 0.2 Mb/s");
  return outcome;
}

ExperimentOutcome aggregation(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  for (const bool aggregates : {true, false}) {
    FeedFlowProperties properties = paper_rules(0.6 * kMega, kFirstRoundTrip);
    properties.aggregates = aggregates;
    const std::string name = aggregates ? "aggregation" : "no aggregation";
    TwoLevels tree(options.seed, properties, {.common = 0.5 * kMega});
    const Duration end = scaled(1500s, options.share);
    tree.course.run_for(end);
    outcome.figures.push_back(
        at_most(name + ": reductions in a congestion, most", "1", 1, most(tree.course.congestions()), "reductions"));
    outcome.figures.push_back(beside(name + ": mean round trip", aggregates ? "the shorter one" : "between both",
                                     fmt::format("{:.2f} s", tree.course.mean_round_trip(end / 2, end))));
    tree.course.add_rows(outcome.table, name);
  }
  return outcome;
}

ExperimentOutcome red(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  struct Run {
    std::string series;
    bool has_red = false;
    Duration first_round_trip{};
    double round_trip = 0, rate = 0;
  };
  // With RED the queue is some 15 packets at most: a first round trip of 0.8 s is larger than all that there are, too.
  Run runs[] = {{"drop-tail", false, kFirstRoundTrip}, {"RED", true, 800ms}, {"RED, first 2 s", true, kFirstRoundTrip}};
  for (Run& run : runs) {
    TwoLevels tree(options.seed, paper_rules(0.6 * kMega, run.first_round_trip), {.longer = 0.5 * kMega}, run.has_red);
    const Duration end = scaled(1500s, options.share);
    tree.course.run_for(end);
    run.round_trip = tree.course.mean_round_trip(end / 2, end);
    run.rate = tree.course.mean_of_cycles(end / 4, end);
    tree.course.add_rows(outcome.table, run.series);
  }
  outcome.figures.push_back(beside("mean round trip, drop-tail", "", fmt::format("{:.2f} s", runs[0].round_trip)));
  outcome.figures.push_back(
      at_most("the same with RED, of which 0.42 s without queues", "close to that", 0.6, runs[1].round_trip, "s"));
  outcome.figures.push_back(
      beside("the same with RED, taken to be 2 s at first", "", fmt::format("{:.2f} s", runs[2].round_trip)));
  outcome.figures.push_back(between("mean rate with RED, of that with drop-tail", "the same", 0.8, 1.2,
                                    runs[0].rate > 0 ? runs[1].rate / runs[0].rate : 0));
  return outcome;
}

ExperimentOutcome levels(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  for (const std::size_t receivers : {32u, 80u}) {
    Paths paths(options.seed);
    FeedFlow flow(paths.events, paper_rules(0.4 * kMega, kFirstRoundTrip), options.seed);
    const auto add = [&](FeedFlow::Node parent) {
      return flow.add_node(parent, {&paths.add(0.5 * kMega, kShort)}, {&paths.add(0.5 * kMega, kShort)});
    };
    // Each node has two below it; those of the fourth level have as many as it takes.
    std::vector<FeedFlow::Node> level{0};
    for (int depth = 1; depth <= 5; ++depth) {
      std::vector<FeedFlow::Node> next;
      const std::size_t below = depth < 5 ? 2 : receivers / level.size();
      for (const FeedFlow::Node node : level) {
        for (std::size_t i = 0; i < below; ++i) next.push_back(add(node));
      }
      level = std::move(next);
    }
    for (const FeedFlow::Node node : level) flow.add_receiver(node);
    flow.start();
    Course course(paths, flow);
    course.run_for(scaled(1000s, options.share));
    const std::vector<std::size_t> counts = course.congestions();
    outcome.figures.push_back(at_most(fmt::format("{} receivers: reductions in an oscillation, most", level.size()),
                                      receivers == 32 ? "1" : "", 1, most(counts), "reductions"));
    outcome.figures.push_back(beside("oscillations", "", fmt::format("{}", counts.size())));
    course.add_rows(outcome.table, fmt::format("{} receivers", level.size()));
  }
  return outcome;
}

ExperimentOutcome reductions(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  outcome.table.columns = {"rules", "capacity_mbps", "rate_mbps", "reductions", "needed"};
  for (const bool is_ours : {false, true}) {
    int beyond_most = 0;
    for (const double part : {0.7, 0.5, 0.35, 0.25, 0.15, 0.1}) {
      FeedFlowProperties properties = paper_rules(0.4 * kMega, kFirstRoundTrip);
      if (is_ours) properties.rate.worst_path = properties.rate.like_tcp = true;
      TwoLevels tree(options.seed, properties, {.longer = 0.5 * kMega});
      tree.course.run_for(600s);
      const double capacity = 0.5 * kMega * part;
      tree.longer.set_rate(bytes_of(capacity));
      const double rate = tree.flow.rate().rate() * 8;
      tree.course.run_for(300s);
      const std::vector<std::size_t> counts = tree.course.congestions(600s);
      const auto count = counts.empty() ? 0 : static_cast<int>(counts.front());
      // The rate may have grown meanwhile.
      const int needed = std::max(1, static_cast<int>(std::ceil(std::log2(rate / capacity))));
      beyond_most = std::max(beyond_most, count - needed);
      outcome.table.rows.push_back({is_ours ? "ours" : "paper", fmt::format("{:.3f}", capacity / kMega),
                                    fmt::format("{:.3f}", rate / kMega), fmt::format("{}", count),
                                    fmt::format("{}", needed)});
    }
    outcome.figures.push_back(
        at_most(fmt::format("{}: reductions beyond the logarithm, most", is_ours ? "ours" : "paper's rules"),
                "0; 1 at first", 1, beyond_most, "reductions"));
  }
  return outcome;
}

}  // namespace spindled::scenarios::feeds
