// Shortened scenarios, so that it is noticed if admission no longer holds queues, shares or rates; and the tools that
// measure them.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "bench/sim/scenarios/figures.h"
#include "bench/sim/scenarios/grid.h"
#include "bench/sim/scenarios/settings.h"

namespace spindled::scenarios {
namespace {

Result run_short(const std::string& name) {
  std::atomic<double> progress = 0;
  Options options;
  options.seconds = 30;
  return run(scenario_named(name, options), 1, progress);
}

TEST(ShortScenario, TwoClassesFillABottleneckEach) {
  const Result result = run_short("1");
  ASSERT_EQ(result.error, "");
  const Phase steady = phases_of(result.scenario).back();
  EXPECT_GT(rate_of(result, 0, steady).framed, 1.94e6);
  EXPECT_LE(rate_of(result, 0, steady).framed, 2.02e6);
  EXPECT_GT(rate_of(result, 1, steady).framed, 0.97e6);
  EXPECT_LE(rate_of(result, 1, steady).framed, 1.01e6);
  EXPECT_GT(queue_max_of(result), 0u);
  EXPECT_LE(queue_max_of(result), 150u);
}

TEST(ShortScenario, TwoClassesShareABottleneck) {
  const Result result = run_short("2a");
  ASSERT_EQ(result.error, "");
  const Phase steady = phases_of(result.scenario).back();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(rate_of(result, i, steady).framed, 1e6, 0.05e6);
    EXPECT_LE(spread_of(result, i, steady).variation, 0.06);
  }
  EXPECT_GT(queue_max_of(result), 0u);
  EXPECT_LE(queue_max_of(result), 150u);
}

// A sixth of each link is the proportionally fair share of a flow over five of them that has to itself what the others
// leave.
void expect_a_sixth_for_the_long_flow(const AdmissionConfig& admission) {
  std::atomic<double> progress = 0;
  Options options;
  options.seconds = 120;
  options.admission = admission;
  const Result result = run(scenario_named("3", options), 1, progress);
  ASSERT_EQ(result.error, "");
  const Phase steady = phases_of(result.scenario).back();
  EXPECT_NEAR(rate_of(result, 0, steady).framed, 2e6 / 6, 0.04e6);
  for (std::size_t i = 1; i <= 5; ++i) EXPECT_NEAR(rate_of(result, i, steady).framed, 2e6 * 5 / 6, 0.06e6) << i;
  EXPECT_LE(queue_max_of(result), 150u);
}

TEST(ShortScenario, WithFairAFlowOverFiveLinksKeepsASixth) {
  AdmissionConfig admission;
  admission.benefit = BenefitKind::fair;
  expect_a_sixth_for_the_long_flow(admission);
}

TEST(ShortScenario, WithFairForItsGroupAloneItDoesAsWell) {
  AdmissionConfig admission;
  admission.groups_of(BenefitKind::fair) = {"lon*"};
  expect_a_sixth_for_the_long_flow(admission);
}

/// Two classes on one bottleneck, the second of which begins after 20 s.
Result made_up() {
  Result result;
  result.scenario.paths = {{"a", "b", 2e6, 1ms}};
  result.scenario.classes = {{"old", {"a", "b"}, 0s, 0s}, {"new", {"a", "b"}, 20s, 0s}};
  result.scenario.end = 60s;
  result.links.push_back({{"a", "b"}, std::vector<Bin>(600)});
  for (Bin& bin : result.links[0].bins) bin.classes.resize(2);
  return result;
}

/// Sets the rates of a made-up result from one time to another.
void set_rates(Result& result, Duration from, Duration to, double old_rate, double new_rate) {
  const double per_bin = to_seconds(kBin) / 8;
  for (auto i = static_cast<std::size_t>(from / kBin); i < static_cast<std::size_t>(to / kBin); ++i) {
    result.links[0].bins[i].classes[0].bytes = static_cast<std::uint64_t>(old_rate * per_bin);
    result.links[0].bins[i].classes[1].bytes = static_cast<std::uint64_t>(new_rate * per_bin);
  }
}

TEST(AdaptationTime, EndsWhenASecondHasHadTheRightShares) {
  Result result = made_up();
  set_rates(result, 0s, 23s, 1.9e6, 0.1e6);
  set_rates(result, 23s, 60s, 1e6, 1e6);
  EXPECT_EQ(adaptation_time(result, 20s, 60s), 3900ms) << "a tenth of a second may still have had the wrong ones";
  set_rates(result, 20s, 60s, 1e6, 1e6);
  EXPECT_EQ(adaptation_time(result, 20s, 60s), 900ms);
}

TEST(AdaptationTime, IsNotOverWhereSharesAreRightInPassingOnly) {
  Result result = made_up();
  set_rates(result, 0s, 20s, 2e6, 0);
  set_rates(result, 20s, 23s, 1e6, 1e6);
  set_rates(result, 23s, 60s, 0.5e6, 1.5e6);
  EXPECT_EQ(adaptation_time(result, 20s, 60s), std::nullopt);
}

TEST(Phases, BeginWithEveryChange) {
  const std::vector<Phase> phases = phases_of(scenario_named("2b", {}));
  ASSERT_EQ(phases.size(), 3u);
  EXPECT_EQ(phases[1].start, 200s);
  EXPECT_EQ(phases[1].from, 220s);
  EXPECT_EQ(phases[1].to, 400s);
  EXPECT_EQ(senders_of(scenario_named("2b", {})), (std::vector<std::size_t>{20, 40, 40}));
  EXPECT_EQ(senders_of(scenario_named("4", {})), (std::vector<std::size_t>{5, 20, 100, 200, 400, 800}));
}

TEST(Capacity, FollowsChanges) {
  const Scenario scenario = scenario_named("2b", {});
  EXPECT_EQ(capacity_of(scenario, {"e", "g"}, 399s), 2e6);
  EXPECT_EQ(capacity_of(scenario, {"g", "e"}, 400s), 1e6);
}

TEST(Grid, NamesEachCellOnceAndLastsForEnoughRoundTrips) {
  std::set<std::string> names;
  for (const Cell& cell : all_cells()) {
    EXPECT_TRUE(names.insert(cell.name()).second) << cell.name();
    EXPECT_GE(cell.length(), 1s) << cell.name();
    EXPECT_LE(cell.length(), 61s) << cell.name();
    EXPECT_GE(cell.length(), std::min<Duration>(20 * 4 * cell.delay, 60s)) << cell.name();
  }
  EXPECT_TRUE(names.contains("single-10M-10ms-10x5-1000B"));
  EXPECT_TRUE(names.contains("series-100M-100ms-10x5-1000B"));
  for (const Cell& cell : some_cells()) EXPECT_TRUE(names.contains(cell.name())) << cell.name();
}

TEST(Grid, ALossyCellIsHeldAgainstWhatItsTcpCarries) {
  std::set<std::string> names;
  for (const Cell& cell : lossy_cells()) EXPECT_TRUE(names.insert(cell.name()).second) << cell.name();
  EXPECT_TRUE(names.contains("single-10M-10ms-10x5-1000B-0.1%-reno"));
  Cell cell{Shape::single, 10e6, 50ms, 2, 2, kMessageBytes, 0.01, sim::CongestionControl::reno};
  std::atomic<double> progress = 0;
  Scenario scenario = scenario_of(cell, {});
  scenario.end = 60s;
  scenario.settle = 20s;
  const CellOutcome outcome = outcome_of(cell, run(scenario, 1, progress));
  EXPECT_EQ(outcome.error, "");
  EXPECT_NEAR(outcome.rate, std::sqrt(150) * 1448 * 8 / 0.1, 0.2e6) << "of a window that RFC 5681 leads to";
  EXPECT_GT(outcome.used, 0.6);
}

TEST(Grid, MeasuresACellAndHoldsItToWhatACellMustReach) {
  const Cell cell{Shape::single, 2e6, 10ms, 2, 2, kMessageBytes};
  std::atomic<double> progress = 0;
  Scenario scenario = scenario_of(cell, {});
  scenario.end = 12s;
  scenario.settle = 4s;
  const Result result = run(scenario, 1, progress);
  ASSERT_EQ(result.error, "");
  CellOutcome outcome = outcome_of(cell, result);
  EXPECT_GT(outcome.used, 0.98);
  EXPECT_LE(outcome.used, 1.01);
  EXPECT_GT(outcome.queue_packets, 0);
  EXPECT_GE(outcome.queue_most_packets, outcome.queue_packets);
  EXPECT_NEAR(outcome.queue_s, outcome.queue_packets * 1040 / 250'000, 0.3 * outcome.queue_s);
  EXPECT_GT(outcome.prices, 0);
  outcome.variation = 0;
  EXPECT_TRUE(outcome.is_ok()) << table_of({outcome});
  for (double CellOutcome::*figure : {&CellOutcome::queue_s, &CellOutcome::variation, &CellOutcome::prices}) {
    CellOutcome wrong = outcome;
    wrong.queue_packets = 51;
    wrong.*figure = 0.021;
    EXPECT_FALSE(wrong.is_ok()) << table_of({wrong});
  }
  outcome.used = 0.97;
  EXPECT_FALSE(outcome.is_ok());
}

TEST(Settings, TakeValuesWithUnitsAndRefuseOthers) {
  AdmissionConfig config;
  EXPECT_TRUE(set(config, "queue_time=12.5ms"));
  EXPECT_EQ(config.queue_time, 12'500us);
  EXPECT_TRUE(set(config, "queue_packets=40"));
  EXPECT_EQ(config.queue_packets, 40u);
  EXPECT_TRUE(set(config, "price_max=1.5"));
  EXPECT_EQ(config.price_max, 1.5);
  EXPECT_TRUE(set(config, "enabled=false"));
  EXPECT_FALSE(config.enabled);
  EXPECT_TRUE(set(config, "benefit=fair"));
  EXPECT_EQ(config.benefit, BenefitKind::fair);
  for (const char* wrong : {"queue_time", "queue_time=", "queue_time=5", "queue_time=-5ms", "salary=x", "enabled=1",
                            "benefit=", "speed=3"}) {
    EXPECT_FALSE(set(config, wrong)) << wrong;
  }
  for (const std::string& each : settings(config)) EXPECT_TRUE(set(config, each)) << each;
}

}  // namespace
}  // namespace spindled::scenarios
