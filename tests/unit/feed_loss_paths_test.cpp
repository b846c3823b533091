// Which path of a feed is the worst, by what its links lose.
#include "daemon/feed/loss_paths.h"

#include <gtest/gtest.h>

#include <map>

#include "daemon/base/random.h"

namespace spindled {
namespace {

/// Links by who is below them: 0 is the source.
class Tree : public FeedTree {
 public:
  explicit Tree(std::map<FeedReporter, FeedReporter> above) : above_(std::move(above)) {}
  FeedReporter above(FeedReporter reporter) const override {
    const auto found = above_.find(reporter);
    return found == above_.end() ? reporter : found->second;
  }

 private:
  std::map<FeedReporter, FeedReporter> above_;
};

/// A packet a millisecond, losses of which are one event within 20 ms.
class Losses {
 public:
  explicit Losses(const FeedTree* tree = nullptr) : paths(tree) {}
  /// Whether it counts.
  bool lose(FeedReporter reporter, std::uint64_t sequence) {
    paths.lost(reporter, sequence, Time(1s) + sequence * 1ms, 20ms);
    return paths.is_on_worst(reporter, sequence);
  }
  /// Packets that links lose by chance; says how many losses count, by link.
  std::map<FeedReporter, int> run(const std::map<FeedReporter, double>& loss, int packets) {
    std::map<FeedReporter, int> obeyed;
    for (int i = 0; i < packets; ++i, ++next_) {
      for (const auto& [reporter, probability] : loss) {
        if (random_.chance(probability)) obeyed[reporter] += lose(reporter, next_) ? 1 : 0;
      }
    }
    return obeyed;
  }
  LossPaths paths;

 private:
  Random random_{1};
  std::uint64_t next_ = 1;
};

TEST(LossPaths, TheFirstThatLosesLeads) {
  Losses losses;
  EXPECT_FALSE(losses.paths.has_leader());
  EXPECT_TRUE(losses.lose(1, 1000));
  EXPECT_FALSE(losses.lose(2, 2000));
  EXPECT_TRUE(losses.lose(1, 3000));
  EXPECT_EQ(losses.paths.leader(), 1u);
}

TEST(LossPaths, LossesOfARoundTripAreOne) {
  Losses losses;
  losses.lose(1, 1000);
  for (std::uint64_t i = 1; i < 20; ++i) losses.lose(1, 1000 + i);
  losses.lose(1, 2000);
  EXPECT_NEAR(losses.paths.loss(2000), 0.001, 1e-6);
}

TEST(LossPaths, ManyThatAreAlikeCountAsOne) {
  Losses losses;
  std::map<FeedReporter, double> alike;
  for (FeedReporter reporter = 1; reporter <= 60; ++reporter) alike[reporter] = 0.01;
  int obeyed = 0;
  for (const auto& [reporter, count] : losses.run(alike, 50'000)) obeyed += count;
  EXPECT_GT(obeyed, 400);
  EXPECT_LT(obeyed, 600) << "of 30,000, where one of them has 500";
}

TEST(LossPaths, OneThatIsWorseTakesTheLead) {
  Losses losses;
  losses.run({{1, 0.005}, {2, 0.01}}, 20'000);
  EXPECT_EQ(losses.paths.leader(), 2u);
}

TEST(LossPaths, OneThatOverloadsTakesTheLeadAfterAFewRoundTrips) {
  Losses losses;
  for (std::uint64_t i = 1; i <= 20; ++i) losses.lose(1, 1000 * i);
  std::uint64_t sequence = 20'500;
  for (int events = 1; events <= 3; ++events, sequence += 20) losses.lose(2, sequence);
  EXPECT_EQ(losses.paths.leader(), 2u);
}

TEST(LossPaths, ALeaderThatLosesNothingMoreIsFollowed) {
  Losses losses;
  losses.run({{1, 0.02}}, 10'000);
  losses.run({{2, 0.002}}, 40'000);
  EXPECT_EQ(losses.paths.leader(), 2u);
}

TEST(LossPaths, LongerRoundTripsAreWorse) {
  for (const Duration second : {100ms, 200ms}) {
    Losses losses;
    losses.lose(1, 10);
    losses.lose(2, 20);
    losses.paths.sample(1, 100ms);
    losses.paths.sample(2, second);
    losses.run({{1, 0.01}, {2, 0.006}}, 20'000);
    EXPECT_EQ(losses.paths.leader(), second == 100ms ? 1u : 2u) << "0.006 · 2² is more than 0.01";
  }
}

TEST(LossPaths, APathHasTheLossesOfAllItsLinks) {
  // 1 is above 2 and 3; 4 is alone.
  const Tree tree({{1, 0}, {2, 1}, {3, 1}, {4, 0}});
  Losses losses(&tree);
  std::map<FeedReporter, int> obeyed = losses.run({{1, 0.01}, {2, 0.004}, {3, 0.002}, {4, 0.01}}, 40'000);
  EXPECT_EQ(losses.paths.leader(), 2u);
  EXPECT_GT(obeyed[1], 300) << "all links of the path count";
  EXPECT_NEAR(losses.paths.loss(40'000), 0.014, 0.004);
  EXPECT_LT(obeyed[4] + obeyed[3], 30);
}

TEST(LossPaths, KeepsSoManyLinksAndTheLeader) {
  Losses losses;
  losses.run({{1, 0.01}}, 1'000);
  ASSERT_EQ(losses.paths.leader(), 1u);
  for (FeedReporter reporter = 2; reporter < 500; ++reporter) losses.lose(reporter, 1'000 + 100 * reporter);
  EXPECT_EQ(losses.paths.leader(), 1u);
  EXPECT_TRUE(losses.lose(1, 60'000));
}

}  // namespace
}  // namespace spindled
