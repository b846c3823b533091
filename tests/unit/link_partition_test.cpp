// The gate of an imposed partition: what it holds, and what links do about it.
#include <gmock/gmock.h>

#include "daemon/link/hello.h"
#include "daemon/link/imposed_partition.h"
#include "daemon/link/link_limits.h"
#include "tests/unit/link_harness.h"

namespace spindled::test {
namespace {

using ::testing::HasSubstr;

PartitionOrder order(std::uint64_t number, PartitionSides sides, Duration left = 60s) {
  if (sides.empty()) left = 0s;
  return {{number, {"alpha", 1}}, std::move(sides), left};
}

TEST(ImposedPartition, ThoseNotNamedAreOneSide) {
  ImposedPartition partition("alpha");
  EXPECT_FALSE(partition.is_imposed());
  EXPECT_FALSE(partition.separates("beta"));
  EXPECT_EQ(partition.expires_at(), kNever);

  partition.adopt(Time(5s), order(1, {{"alpha", "beta"}, {"gamma"}}));
  EXPECT_TRUE(partition.is_imposed());
  EXPECT_FALSE(partition.separates("alpha"));
  EXPECT_FALSE(partition.separates("beta"));
  EXPECT_TRUE(partition.separates("gamma"));
  EXPECT_TRUE(partition.separates("delta"));
  EXPECT_FALSE(partition.separates("delta", "epsilon"));
  EXPECT_TRUE(partition.separates("delta", "gamma"));
  EXPECT_THAT(partition.explain("gamma"), HasSubstr("alpha and gamma apart: alpha,beta / gamma"));
  EXPECT_THAT(partition.explain("gamma"), HasSubstr("1@alpha"));
}

TEST(ImposedPartition, CountsDownAndEnds) {
  ImposedPartition partition("alpha");
  partition.adopt(Time(5s), order(1, {{"alpha"}}));
  EXPECT_EQ(partition.order(Time(25s)).left, 40s);
  EXPECT_FALSE(partition.expire(Time(65s) - 1ns));
  EXPECT_EQ(partition.order(Time(65s)).left, 1ms) << "until it has been ended";
  EXPECT_TRUE(partition.expire(Time(65s)));
  EXPECT_FALSE(partition.expire(Time(66s)));
  EXPECT_FALSE(partition.separates("beta"));
  EXPECT_EQ(partition.order(Time(66s)), order(1, {}));
  EXPECT_EQ(partition.expires_at(), kNever);
}

TEST(ImposedPartition, OnlyWhatIsNewerIsNews) {
  ImposedPartition partition("alpha");
  partition.adopt(Time(0s), order(3, {{"alpha"}}));
  EXPECT_FALSE(partition.is_news(order(3, {})));
  EXPECT_FALSE(partition.is_news(order(2, {{"beta"}})));
  EXPECT_TRUE(partition.is_news(order(4, {})));
  ASSERT_TRUE(partition.expire(Time(60s)));
  EXPECT_FALSE(partition.is_news(order(3, {{"alpha"}}))) << "its number outlives it";
  partition.adopt(Time(61s), order(4, {}));
  EXPECT_EQ(partition.id().number, 4u);
  EXPECT_EQ(partition.expires_at(), kNever);
}

/// Alpha dials beta and gamma.
class LinkPartition : public testing::Test {
 protected:
  void start() {
    net.start(alpha);
    net.advance(300ms);
    ASSERT_EQ(alpha.links.established().size(), 2u);
  }
  std::size_t dials_of(std::string_view address) const {
    return static_cast<std::size_t>(
        std::count_if(net.dials.begin(), net.dials.end(), [&](const auto& dial) { return dial.first == address; }));
  }
  bool has_link(const LinkDaemon& from, std::string_view to) const {
    for (const LinkId link : from.links.established()) {
      if (from.links.peer(link).name == to) return true;
    }
    return false;
  }

  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha", {"beta", "gamma"}));
  LinkDaemon& beta = net.add(LinkNet::config("beta"));
  LinkDaemon& gamma = net.add(LinkNet::config("gamma"));
};

TEST_F(LinkPartition, LinksAcrossGoDownInTheNextTurnAndSayWhy) {
  start();
  alpha.links.impose(net.now, order(1, {{"beta"}}));
  EXPECT_TRUE(has_link(alpha, "beta")) << "what is said on it in this turn still goes out";
  alpha.links.send_control(alpha.link_to("beta"), alpha.slice("last words"));
  net.advance(1ms);
  EXPECT_FALSE(has_link(alpha, "beta"));
  EXPECT_TRUE(has_link(alpha, "gamma"));
  const auto frames = beta.of_kind(LinkEvent::frame);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].body, "last words");
  const auto downs = beta.of_kind(LinkEvent::down);
  ASSERT_EQ(downs.size(), 1u);
  EXPECT_EQ(downs[0].reason.code, Errc::partitioned);
  EXPECT_THAT(downs[0].reason.text, HasSubstr("holds alpha and beta apart: beta"));
  EXPECT_EQ(alpha.logged(LogLevel::warning, "partition 1@alpha is imposed for a field test, for 60.0 s: beta"), 1u);
  ASSERT_EQ(alpha.links.unconnected().size(), 1u);
  EXPECT_THAT(alpha.links.unconnected()[0].last_error, HasSubstr("imposed for a field test"));
}

TEST_F(LinkPartition, TheOtherEndLearnsFromTheHandshakeAndRefusesToo) {
  start();
  alpha.links.impose(net.now, order(1, {{"beta"}}));
  net.advance(600ms);
  ASSERT_EQ(beta.links.partition().id().number, 1u);
  EXPECT_TRUE(beta.links.partition().separates("alpha"));
  EXPECT_LE(beta.links.partition().order(net.now).left, 60s) << "relative times: no clock is shared";
  EXPECT_GT(beta.links.partition().order(net.now).left, 59s);
  EXPECT_EQ(gamma.links.partition().id().number, 0u) << "links only carry orders across; the overlay floods them";
  // Tried again all the time, without a warning each.
  const std::size_t before = dials_of("beta");
  const std::size_t warnings = alpha.logged(LogLevel::warning) + beta.logged(LogLevel::warning);
  net.advance(10s);
  EXPECT_GE(dials_of("beta") - before, 10s / kPartitionRedialMax);
  EXPECT_LE(dials_of("beta") - before, 2 * (10s / kPartitionRedialMax) + 1);
  EXPECT_EQ(alpha.logged(LogLevel::warning) + beta.logged(LogLevel::warning), warnings);
  EXPECT_EQ(alpha.context.counters.value(Counter::link_handshakes_refused), 0u);
}

TEST_F(LinkPartition, EndsByItselfAtBothEnds) {
  start();
  alpha.links.impose(net.now, order(1, {{"beta"}}, 5s));
  net.advance(4900ms);
  EXPECT_FALSE(has_link(alpha, "beta"));
  net.advance(101ms);  // each order that is passed on is rounded up to a millisecond
  EXPECT_FALSE(alpha.links.partition().is_imposed());
  EXPECT_FALSE(beta.links.partition().is_imposed());
  net.advance(kPartitionRedialMax);
  EXPECT_TRUE(has_link(alpha, "beta"));
  EXPECT_EQ(alpha.logged(LogLevel::warning, "is over: its time has passed"), 1u);
}

TEST_F(LinkPartition, AHealAtTheDialledEndCrossesTheGapWithTheNextAttempt) {
  start();
  alpha.links.impose(net.now, order(1, {{"beta"}}));
  net.advance(1s);
  ASSERT_TRUE(beta.links.partition().is_imposed());
  beta.links.impose(net.now, order(2, {}));
  EXPECT_EQ(beta.logged(LogLevel::warning, "partition 1@alpha is healed by order 2@alpha"), 1u);
  net.advance(kPartitionRedialMax);
  EXPECT_TRUE(has_link(alpha, "beta"));
  EXPECT_FALSE(alpha.links.partition().is_imposed());
  EXPECT_EQ(alpha.links.partition().id().number, 2u);
}

TEST_F(LinkPartition, AHealAtTheDiallingEndDialsAtOnce) {
  start();
  alpha.links.impose(net.now, order(1, {{"beta"}}));
  net.advance(1s);
  alpha.links.impose(net.now, order(2, {}));
  net.advance(1ms);
  EXPECT_TRUE(has_link(alpha, "beta"));
  EXPECT_FALSE(beta.links.partition().is_imposed());
}

TEST_F(LinkPartition, AnotherOrderTakesThePlaceOfTheFirst) {
  start();
  alpha.links.impose(net.now, order(1, {{"beta"}}));
  net.advance(1s);
  alpha.links.impose(net.now, order(2, {{"gamma"}}));
  net.advance(1s);
  EXPECT_TRUE(has_link(alpha, "beta"));
  EXPECT_FALSE(has_link(alpha, "gamma"));
}

TEST_F(LinkPartition, ADaemonOfALaterLifeLearnsTheOrder) {
  start();
  alpha.links.impose(net.now, order(1, {{"beta"}}));
  net.advance(1s);
  net.kill(beta);
  NodeConfig config = LinkNet::config("beta");
  config.incarnation = 2;
  LinkDaemon& later = net.add(std::move(config));
  net.start(later);
  net.advance(kPartitionRedialMax);
  EXPECT_TRUE(later.links.partition().is_imposed());
  EXPECT_FALSE(has_link(alpha, "beta"));
  EXPECT_FALSE(has_link(later, "alpha"));
}

TEST_F(LinkPartition, AConnectionThatIsKeptWaitingIsClosedToo) {
  start();
  // A second connection of the neighbour's, which beta keeps until alpha decides.
  LinkStream& second = net.stranger(beta);
  second.sides[1].inbox = control_frame(
      LinkHello{kLinkVersionMin, kLinkVersionMax, "spindle", {"alpha", 1}, settings_digest(beta.context.config)});
  net.settle();
  ASSERT_TRUE(second.sides[1].open);
  beta.links.impose(net.now, order(1, {{"beta"}}));
  net.advance(1ms);
  EXPECT_FALSE(second.sides[1].open);
  EXPECT_FALSE(has_link(beta, "alpha"));
}

}  // namespace
}  // namespace spindled::test
