// A small form of the experiments on bulk channels: marks hold, and tables have what plots want.
#include <gmock/gmock.h>

#include <algorithm>

#include "bench/sim/scenarios/bulk/experiment_parts.h"
#include "bench/sim/scenarios/bulk/experiments.h"
#include "bench/sim/scenarios/bulk/tcp_chain.h"
#include "bench/sim/scenarios/report.h"

namespace spindled::scenarios::bulk {
namespace {

using ::testing::IsEmpty;

class BulkExperiment : public ::testing::TestWithParam<std::string> {};

TEST_P(BulkExperiment, MeetsItsMarks) {
  const auto found = std::find_if(experiments().begin(), experiments().end(),
                                  [](const Experiment& each) { return each.name == GetParam(); });
  ASSERT_NE(found, experiments().end());
  const Outcome outcome = run(*found, {.seed = 1, .share = 0.2});
  ASSERT_EQ(outcome.error, "");
  std::vector<Figure> figures = outcome.figures;
  if (outcome.cost.decoding.blocks >= 100) {  // of few the mean is a matter of luck
    const std::vector<Figure> cost = figures_of_cost({outcome.cost});
    figures.insert(figures.end(), cost.begin(), cost.end());
  }
  EXPECT_TRUE(std::all_of(figures.begin(), figures.end(), [](const Figure& figure) { return figure.ok; }))
      << table_of(figures);
  EXPECT_TRUE(std::any_of(figures.begin(), figures.end(), [](const Figure& figure) { return !figure.must.empty(); }));
  EXPECT_THAT(outcome.table.rows, ::testing::Not(IsEmpty()));
  for (const auto& row : outcome.table.rows) EXPECT_EQ(row.size(), outcome.table.columns.size());
}

INSTANTIATE_TEST_SUITE_P(All, BulkExperiment,
                         ::testing::Values("weights", "late", "killed", "silent", "root", "source", "partition", "slow",
                                           "table1-bu", "fig6", "fig15"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(BulkFigures, FallShortBelowTheirMarks) {
  EXPECT_TRUE(at_least("rate", "", 0.97, 0.97).ok);
  EXPECT_FALSE(at_least("rate", "", 0.97, 0.96).ok);
  EXPECT_FALSE(at_most("loss", "", 0.03, 0.031, "%").ok);
  Outcome outcome;
  outcome.figures = {at_most("loss", "", 0.03, 0.02, "%"), at_least("rate", "", 0.97, 0.96)};
  EXPECT_FALSE(outcome.is_ok());
  outcome.figures.pop_back();
  EXPECT_TRUE(outcome.is_ok());
  EXPECT_FALSE(failed("nothing came").is_ok());
}

TEST(BulkFigures, OfCostAreTheWorstOfAllExperiments) {
  const Cost good{{.blocks = 10, .symbols = 10'000, .beyond = 0, .beyond_max = 0}, 1u << 20};
  const Cost bad{{.blocks = 10, .symbols = 10'000, .beyond = 3, .beyond_max = 3}, 17u << 20};
  const auto are_ok = [](const std::vector<Figure>& figures) {
    return std::all_of(figures.begin(), figures.end(), [](const Figure& figure) { return figure.ok; });
  };
  EXPECT_TRUE(are_ok(figures_of_cost({good})));
  const std::vector<Figure> figures = figures_of_cost({good, bad});
  EXPECT_TRUE(std::none_of(figures.begin(), figures.end(), [](const Figure& figure) { return figure.ok; }));
  EXPECT_THAT(figures_of_cost({Cost()}), IsEmpty());
}

TEST(TcpChain, RunsAtTheRateOfItsNarrowestHopEverywhere) {
  const std::vector<Hop> hops{{"a", "b", 40e6}, {"b", "c", 8e6}, {"c", "d", 40e6}};
  for (const double rate : tcp_chain(hops, 1u << 20, 5s, 10s, 1)) EXPECT_NEAR(rate / 8e6, 1, 0.01);
}

TEST(TcpChain, SharesItsPathsWithThoseThatCompete) {
  const Hop hop{"a", "b", 40e6, 10ms, sim::CongestionControl::reno, 0, 100'000, 3};
  const double rate = tcp_chain({hop}, 1u << 20, 10s, 60s, 1).front();
  EXPECT_GT(rate, 0.15 * 40e6);
  EXPECT_LT(rate, 0.4 * 40e6);
}

}  // namespace
}  // namespace spindled::scenarios::bulk
