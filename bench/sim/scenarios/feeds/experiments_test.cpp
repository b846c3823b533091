// A small form of the experiments on the rate of feeds: marks hold that are to hold, and tables have what plots want.
#include "bench/sim/scenarios/feeds/experiments.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "bench/sim/scenarios/feeds/paths.h"
#include "bench/sim/scenarios/report.h"

namespace spindled::scenarios::feeds {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

ExperimentOutcome run(const std::string& name, double share) {
  const auto found = std::find_if(experiments().begin(), experiments().end(),
                                  [&](const NamedExperiment& each) { return each.name == name; });
  return found->run({.seed = 1, .share = share});
}

class FeedExperiment : public ::testing::TestWithParam<std::string> {};

TEST_P(FeedExperiment, MeetsItsMarks) {
  const ExperimentOutcome outcome = run(GetParam(), 1);
  ASSERT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.is_ok()) << table_of(outcome.figures);
  EXPECT_TRUE(std::any_of(outcome.figures.begin(), outcome.figures.end(),
                          [](const Figure& figure) { return !figure.must.empty(); }));
  EXPECT_THAT(outcome.table.rows, Not(IsEmpty()));
  for (const auto& row : outcome.table.rows) EXPECT_EQ(row.size(), outcome.table.columns.size());
}

// The others have marks that are not met (docs/performance.md).
INSTANTIATE_TEST_SUITE_P(All, FeedExperiment, ::testing::Values("fig6", "fig7", "fig8", "fig9", "fig10", "reductions"),
                         [](const auto& each) { return each.param; });

TEST(FeedExperiments, ManyLossyListenersDoNotStopTheSource) {
  const ExperimentOutcome outcome = run("listeners", 0.1);
  EXPECT_TRUE(outcome.is_ok()) << table_of(outcome.figures);
}

TEST(FeedExperiments, SameSeedIsTheSameRun) {
  const ExperimentOutcome first = run("capacity", 0.1), second = run("capacity", 0.1);
  EXPECT_EQ(first.table.rows, second.table.rows);
}

TEST(FeedFlow, DeliversEveryPacketOnAPathWithoutLoss) {
  Paths paths(1);
  FeedFlow flow(paths.events, our_rules(1000, 100ms), 1);
  const FeedFlow::Node node = flow.add_node(0, {&paths.add(0, 50ms)}, {&paths.add(0, 50ms)});
  flow.add_receiver(node);
  flow.start();
  paths.run_for(400ms);
  EXPECT_NEAR(static_cast<double>(flow.sent()), 16, 1.1) << "four in a round trip";
  EXPECT_NEAR(static_cast<double>(flow.delivered(node)), 14, 1.1);
  EXPECT_EQ(flow.repairs(), 0u);
}

TEST(FeedFlow, RepairsWhatIsLostOnceForAllBelow) {
  for (const bool aggregates : {true, false}) {
    Paths paths(1);
    FeedFlowProperties properties = our_rules(1000, 40ms);
    properties.aggregates = aggregates;
    properties.rate.like_tcp = false;  // what is counted below is what feeds send, and no questions
    FeedFlow flow(paths.events, properties, 1);
    sim::PacketPath& common = paths.add(0, 10ms);
    sim::PacketPath& naks = paths.add(0, 10ms);
    const FeedFlow::Node router = flow.add_node(0, {&common}, {&naks});
    for (int i = 0; i < 3; ++i) {
      flow.add_receiver(flow.add_node(router, {&paths.add(0, 10ms)}, {&paths.add(0, 10ms)}));
    }
    common.lose(5);
    flow.start();
    paths.run_for(450ms);
    EXPECT_EQ(flow.repairs(), 1u);
    EXPECT_EQ(flow.reductions().size(), 1u);
    EXPECT_EQ(naks.counts().entered, aggregates ? 1u : 3u);
  }
}

}  // namespace
}  // namespace spindled::scenarios::feeds
