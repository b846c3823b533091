// What may enter, and what a flow is told of itself: a daemon, alpha, at one end of a line alpha - beta - gamma. There
// are an Order and Groups as in the daemon, but nobody at the other end of its links: prices are told by the test.
#include "daemon/admission/admission.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "daemon/link/link_limits.h"
#include "tests/support/nobody.h"
#include "tests/unit/overlay_harness.h"

namespace spindled {
namespace {

using Wait = Flow::Wait;

constexpr std::uint32_t kAlphaBetaUs = 2'000, kBetaGammaUs = 10'000;  // round trips

NodeConfig config_of_alpha() {
  NodeConfig config = test::LinkNet::config("alpha");
  config.session.send_window_bytes = 10'000;
  AdmissionConfig& admission = config.admission;
  admission.salary = 10;
  admission.fee = 1;
  admission.price_threshold = 2;
  admission.price_max = 20;
  admission.savings_max = 20;
  admission.period_first = 1s;
  admission.step = 30ms;
  admission.delay_max = 50ms;
  return config;
}

struct Line {
  DestinationSet to;
  Flow flow;
};

/// Groups "home", "near" and "far" with a member each, at alpha, beta and gamma.
struct Daemon {
  explicit Daemon(const NodeConfig& config = config_of_alpha(), std::uint32_t alpha_beta_us = kAlphaBetaUs)
      : on(net.add(config)) {
    groups.attach(order, no_clients);
    const View view{{1, "alpha"},
                    {{"alpha", 1}, {"beta", 1}, {"gamma", 1}},
                    {{0, 1, 1, alpha_beta_us}, {1, 2, 1, kBetaGammaUs}},
                    1,
                    0};
    order.install(now, view, {});
    for (MemberIndex daemon = 0; daemon < 3; ++daemon) deliver(daemon, TableState{1, 2, daemon, {}, false});
    announce(2, "far");
    announce(0, "home");
    admission.start_turn(now);
    EXPECT_FALSE(groups.is_ready());
    near = line("near");
    home = line("home");
    far = line("far");
  }
  /// As the constructor leaves it the group table is not complete.
  void open() {
    announce(1, "near");
    admission.start_turn(now);
    ASSERT_TRUE(groups.is_ready());
  }

  void announce(MemberIndex daemon, const std::string& group) {
    Announce operation;
    operation.groups.push_back({group, 0, {{1, "member"}}});
    deliver(daemon, operation);
  }
  void deliver(MemberIndex daemon, const GroupOperation& operation) {
    Delivery delivery;
    delivery.origin = daemon;
    delivery.message_class = MessageClass::group;
    delivery.position = ++position;
    delivery.first = on.context.arena.copy(write_operation(operation));
    groups.deliver(now, delivery);
  }
  static Line line(const std::string& group) {
    Line line;
    line.to.names = {group};
    return line;
  }

  /// A turn with one message of that flow.
  bool enter(Line& line, std::size_t bytes = 100) {
    admission.start_turn(now);
    return admission.may_enter(now, line.flow, line.to, bytes);
  }
  /// How many more messages enter in one turn.
  int burst(Line& line) {
    int count = 0;
    while (count < 100'000 && enter(line)) ++count;
    return count;
  }
  /// The flow is deep in debt, and its next message is refused.
  void indebt(Line& line) {
    ASSERT_TRUE(enter(line, 1u << 30));
    ASSERT_FALSE(enter(line));
  }
  /// Another daemon tells what its link, or its clients, cost.
  void hear_link(MemberIndex from, MemberIndex neighbour, double dollars) {
    ASSERT_TRUE(admission.price_received(now, {0, from, neighbour, {}, ++sequence, sixteenths(dollars)}));
  }
  void hear_clients(MemberIndex from, std::string name, double dollars) {
    ASSERT_TRUE(admission.price_received(now, {0, from, 0, std::move(name), ++sequence, sixteenths(dollars)}));
  }
  static std::uint32_t sixteenths(double dollars) { return static_cast<std::uint32_t>(dollars * 16); }
  /// Fills the send window with messages that nobody confirms.
  void take_up_room() {
    Sender sender;
    while (order.unstable_bytes() < on.context.config.session.send_window_bytes) {
      const Slice chunk = on.slice(std::string(1000, 'x'));
      ClientSend message;
      message.total = 1000;
      message.chunks = std::span(&chunk, 1);
      groups.resolve(far.to);
      groups.send(now, sender, far.to, message);
    }
  }

  FlowState state(Line& line) {
    groups.resolve(line.to);
    return admission.state(now, line.flow, line.to);
  }
  std::uint64_t count(Counter counter) const { return on.context.counters.value(counter); }

  test::LinkNet net;
  test::LinkDaemon& on;
  test::NoTransport transport;
  test::NoClients no_clients;
  Overlay overlay{on.context, on.links};
  Groups groups{on.context};
  Order order{on.context, transport, groups};
  Admission admission{on.context, on.links, overlay, order, groups};
  Time now{100s};
  std::uint64_t position = 0;  // of the last group operation
  std::uint64_t sequence = 0;
  Line home, near, far;
};

struct AdmissionTest : testing::Test, Daemon {
  AdmissionTest() { open(); }
};

TEST_F(AdmissionTest, AFlowPaysTheFeeAndWhatItsWayCosts) {
  EXPECT_EQ(state(far).price, 1);
  hear_link(1, 2, 3);
  EXPECT_EQ(state(far).price, 4);
  EXPECT_EQ(state(near).price, 1);
  ASSERT_TRUE(enter(near, 3 * kPacketBytes));
  EXPECT_EQ(state(near).dollars, 3) << "for each packet";
  EXPECT_EQ(count(Counter::packets_paid), 3u);
  EXPECT_EQ(count(Counter::cents_paid), 300u);
}

TEST_F(AdmissionTest, WhoSendsWithinTheDaemonPaysOnlyWhereAClientDoesNotKeepUp) {
  EXPECT_EQ(burst(home), 100'000);
  EXPECT_EQ(state(home).price, 0);
  EXPECT_EQ(state(home).dollars, 0);
  admission.set_client_price("home", 3, "slow");
  EXPECT_EQ(state(home).price, 4) << "as much as senders elsewhere";
  EXPECT_FALSE(enter(home)) << "a new flow has two fees";
  EXPECT_EQ(state(home).limited_by, "client #slow#alpha of home");
  now += 200ms;
  EXPECT_TRUE(enter(home));
  EXPECT_EQ(state(home).dollars, 4);
}

TEST_F(AdmissionTest, ARestIsWorthTheSavings) {
  EXPECT_EQ(burst(far), 2) << "the two fees of a new flow";
  now += 1h;
  EXPECT_EQ(burst(far), 20) << "savings_max";
}

TEST(AdmissionSavings, AreWhatIsEarnedInTenMillisecondsWhereThatIsMore) {
  NodeConfig config = config_of_alpha();
  config.admission.period_first = 100us;
  Daemon daemon(config);
  daemon.open();
  ASSERT_TRUE(daemon.enter(daemon.far));
  daemon.now += 1h;
  EXPECT_EQ(daemon.burst(daemon.far), 1000);
}

TEST_F(AdmissionTest, SalariesGrowAsFastAsNewsComeBackWhereNothingCostsAnything) {
  const auto patience = [&](Line& line) {
    indebt(line);
    return line.flow.retry_at() - now;
  };
  EXPECT_EQ(patience(near), 4us * kAlphaBetaUs) << "four round trips";
  EXPECT_EQ(patience(far), 4us * (kAlphaBetaUs + kBetaGammaUs));
  hear_link(1, 2, 1.0 / 16);
  Line other = line("far");
  EXPECT_EQ(patience(other), 30ms) << "T_update";
  // What the time is for: in so much of it a salary grows by a factor of e, at the price of the fee.
  const double before = 1 / to_seconds(near.flow.period());
  constexpr int looks = 20;
  for (int i = 0; i < looks; ++i) {
    now += 5ms;
    ASSERT_FALSE(enter(near));
  }
  const double steady = config_of_alpha().admission.salary_increase * 0.1;
  const double grown = 1 / to_seconds(near.flow.period());
  EXPECT_GT(grown, before * std::exp(0.1 / 0.008 - 1));
  EXPECT_LT(grown, (before + steady) * std::exp(0.1 / 0.008));
}

TEST(AdmissionStep, HasALeast) {
  Daemon daemon(config_of_alpha(), 0);
  daemon.open();
  daemon.indebt(daemon.near);
  EXPECT_EQ(daemon.near.flow.retry_at() - daemon.now, 1ms) << "beta is no time away";
}

// Section IV-B.7 of the paper.
TEST_F(AdmissionTest, LotsAreDrawnWhereOthersToldPartOfThePrice) {
  constexpr int kFlows = 2000;
  std::vector<Line> lines;
  for (int i = 0; i < kFlows; ++i) lines.push_back(line("far"));
  hear_link(1, 2, 3);
  for (Line& line : lines) ASSERT_FALSE(enter(line)) << "a new flow has less than four dollars";
  now += 1s;
  int at_once = 0;
  Duration longest{}, all{};
  for (Line& line : lines) {
    if (enter(line)) {
      ++at_once;
      continue;
    }
    ASSERT_EQ(line.flow.waits_for(), Wait::lot);
    EXPECT_TRUE(state(line).is_blocked);
    EXPECT_EQ(state(line).limited_by, "link beta-gamma");
    const Duration wait = line.flow.retry_at() - now;
    longest = std::max(longest, wait);
    all += wait;
  }
  EXPECT_NEAR(at_once, kFlows / 4, kFlows / 20) << "a chance of one fee to four";
  EXPECT_EQ(count(Counter::messages_delayed), static_cast<std::uint64_t>(kFlows - at_once));
  EXPECT_LE(longest, 150ms) << "delay_max for each of three fees above the fee";
  EXPECT_GT(longest, 140ms);
  EXPECT_NEAR(to_seconds(all) / (kFlows - at_once), 0.075, 0.01);
  // Nobody draws twice while he can pay.
  for (Line& line : lines) {
    if (!line.flow.is_blocked()) continue;
    now = std::max(now, line.flow.retry_at());
    EXPECT_TRUE(enter(line));
  }
  EXPECT_EQ(count(Counter::messages_delayed), static_cast<std::uint64_t>(kFlows - at_once));
}

TEST(AdmissionLots, PutNobodyOffForLongerThanTwoPacketsTakeToEarn) {
  NodeConfig config = config_of_alpha();
  config.admission.period_first = 10ms;
  Daemon daemon(config);
  daemon.open();
  Duration longest{};
  for (int i = 0; i < 200; ++i) {
    daemon.hear_link(1, 2, 3);
    Line rich = Daemon::line("far");
    ASSERT_FALSE(daemon.enter(rich));
    daemon.now += 100ms;
    if (daemon.enter(rich)) continue;
    const Duration earning = rich.flow.period() * 4 / 10;
    EXPECT_LE(rich.flow.retry_at() - daemon.now, 2 * earning + 1us);
    longest = std::max(longest, rich.flow.retry_at() - daemon.now);
  }
  EXPECT_GT(daemon.count(Counter::messages_delayed), 100u);
  EXPECT_GT(longest, 5ms);
}

TEST(AdmissionLots, PutNobodyOffForLessThanATurn) {
  NodeConfig config = config_of_alpha();
  config.admission.period_first = 200us;
  Daemon daemon(config);
  daemon.open();
  for (int i = 0; i < 200; ++i) {
    daemon.hear_link(1, 2, 3);
    Line rich = Daemon::line("far");
    ASSERT_FALSE(daemon.enter(rich));
    daemon.now += 100ms;
    EXPECT_TRUE(daemon.enter(rich)) << "two packets are earned in less";
  }
  EXPECT_EQ(daemon.count(Counter::messages_delayed), 0u);
}

// A flow that earned much has saved much: it can pay for a moment's enormous price, at which its salary falls to next
// to nothing, and with it the time in which it earns two packets becomes long.
TEST(AdmissionLots, HoldForNoLongerThanThePriceThatTheyWereDrawnAt) {
  NodeConfig config = config_of_alpha();
  config.admission.period_first = 10us;
  int drawn = 0;
  for (int i = 0; i < 20; ++i) {
    Daemon daemon(config);
    daemon.open();
    ASSERT_EQ(daemon.burst(daemon.far), 2);
    daemon.now += 1s;
    daemon.hear_link(1, 2, 1000);
    if (daemon.enter(daemon.far)) continue;
    ASSERT_EQ(daemon.far.flow.waits_for(), Wait::lot);
    drawn += daemon.far.flow.retry_at() - daemon.now > 5s ? 1 : 0;
    const std::uint64_t news = daemon.admission.news();
    daemon.now += 200ms;
    daemon.hear_link(1, 2, 1.0 / 16);
    EXPECT_TRUE(daemon.enter(daemon.far)) << "it costs hardly more than the fee";
    EXPECT_NE(daemon.admission.news(), news);
  }
  EXPECT_GT(drawn, 10);
}

TEST_F(AdmissionTest, NoLotsAreDrawnForPricesOfThisDaemon) {
  admission.set_client_price("home", 3, "slow");
  for (int i = 0; i < 200; ++i) {
    Line local = line("home");
    ASSERT_FALSE(enter(local));
    now += 1s;
    ASSERT_TRUE(enter(local));
  }
  EXPECT_EQ(count(Counter::messages_delayed), 0u);
}

TEST_F(AdmissionTest, AFlowThatWaitsForRoomIsLimitedByThatWhateverItsWayCosts) {
  hear_link(1, 2, 3);
  EXPECT_EQ(state(far).limited_by, "link beta-gamma");
  take_up_room();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(enter(far)) << i;
  EXPECT_EQ(far.flow.retry_at(), kNever);
  EXPECT_EQ(state(far).limited_by, "room");
  EXPECT_EQ(state(near).limited_by, "") << "it does not wait";
  EXPECT_EQ(count(Counter::messages_held_for_room), 1u) << "one message, tried three times";
  EXPECT_EQ(count(Counter::messages_blocked), 0u);
}

TEST(AdmissionRoom, AFirstMessageThatWaitsForAViewCountsAsBlockedSinceThen) {
  Daemon daemon;
  EXPECT_FALSE(daemon.enter(daemon.far));
  MembershipBudget budget;
  EXPECT_EQ(daemon.admission.membership_waits_until(daemon.now, budget), kNever);
  const std::uint64_t news = daemon.admission.news();
  daemon.now += 10s;
  EXPECT_EQ(daemon.state(daemon.far).limited_by, "room");
  EXPECT_EQ(daemon.state(daemon.far).blocked_share, 1);
  daemon.open();
  EXPECT_NE(daemon.admission.news(), news) << "there is room";
  EXPECT_TRUE(daemon.enter(daemon.far));
  daemon.now += 10s;
  EXPECT_NEAR(daemon.state(daemon.far).blocked_share, 0.5, 1e-9);
}

TEST_F(AdmissionTest, WhoFindsNoRoomForAJoinInTheMiddleOfATurnIsToldWhereThereIsRoomInTheNext) {
  admission.start_turn(now);
  take_up_room();  // by others, in the same turn
  MembershipBudget budget;
  ASSERT_EQ(admission.membership_waits_until(now, budget), kNever);
  const std::uint64_t news = admission.news();
  now += 1ms;
  order.report_received(now, {1, 3});  // what the view begins with went to both
  order.report_received(now, {2, 5});
  admission.start_turn(now);
  ASSERT_FALSE(admission.membership_waits_until(now, budget));
  EXPECT_NE(admission.news(), news);
}

TEST_F(AdmissionTest, AMessageCountsOnceForEachReasonToWait) {
  ASSERT_EQ(burst(far), 2);
  EXPECT_FALSE(enter(far));
  EXPECT_EQ(count(Counter::messages_blocked), 1u);
  take_up_room();
  EXPECT_FALSE(enter(far));
  EXPECT_EQ(count(Counter::messages_held_for_room), 1u) << "it could not enter with all the dollars of the world";
}

TEST_F(AdmissionTest, FlowsAreLimitedByTheDearestPartOfTheirPrice) {
  indebt(far);
  EXPECT_EQ(state(far).limited_by, "salary");
  EXPECT_EQ(state(near).limited_by, "");
  hear_link(1, 2, 3);
  hear_clients(2, "far", 2);
  EXPECT_EQ(state(far).limited_by, "link beta-gamma");
  EXPECT_EQ(state(far).price, 6);
  hear_clients(2, "far", 4);
  EXPECT_EQ(state(far).limited_by, "clients of far at gamma");
}

TEST_F(AdmissionTest, ThoseThatWaitAreTriedAgainWhereItIsWorthIt) {
  const auto makes_news = [&](auto&& change) {
    const std::uint64_t before = admission.news();
    change();
    admission.start_turn(now);
    return admission.news() != before;
  };
  EXPECT_TRUE(makes_news([&] { take_up_room(); }));
  EXPECT_FALSE(makes_news([&] { admission.set_client_price("home", 3, "slow"); })) << "nobody enters for that";
  int news = 0;
  for (int i = 0; i < 1000; ++i) {
    news += makes_news([&] { admission.set_client_price("home", 2.7 + 0.1 * (i % 4), "slow"); }) ? 1 : 0;
  }
  EXPECT_EQ(news, 0) << "a queue that changes in each turn, but hardly";
  EXPECT_TRUE(makes_news([&] { admission.set_client_price("home", 2, "slow"); }));
  EXPECT_TRUE(makes_news([&] { admission.set_client_price("home", 0, "slow"); }));
}

// However many flows wait: they are not looked at in turns in which their price does not fall, and get what they earn.
TEST_F(AdmissionTest, APriceThatHardlyChangesCostsNoTriesAndNoDollars) {
  admission.set_client_price("home", 3, "slow");
  ASSERT_FALSE(enter(home));
  std::uint64_t seen = admission.news();
  int tries = 0, entered = 0;
  const Time end = now + 10s;
  for (int i = 0; now < end; ++i) {
    now += 100us;
    admission.set_client_price("home", 3 + 0.1 * (i % 4), "slow");
    admission.start_turn(now);
    if (std::exchange(seen, admission.news()) == seen && now < home.flow.retry_at()) continue;
    for (bool may = true; may; ++tries) {
      may = admission.may_enter(now, home.flow, home.to, 100);
      entered += may ? 1 : 0;
    }
  }
  EXPECT_LT(tries, 1000) << "in 100,000 turns";
  EXPECT_GT(entered, 20);
  EXPECT_LT(home.flow.budget(), 4.4) << "and nothing is left that could be spent";
}

TEST_F(AdmissionTest, IsSwitchedOffAndOnWhileAFlowWaits) {
  hear_link(1, 2, 1000);
  burst(far);
  ASSERT_FALSE(enter(far));
  ASSERT_EQ(far.flow.waits_for(), Wait::dollars);
  const std::uint64_t news = admission.news();
  admission.set_enabled(false);
  EXPECT_NE(admission.news(), news) << "who waits is to try again";
  EXPECT_EQ(burst(far), 100'000);
  EXPECT_FALSE(far.flow.is_blocked());

  admission.set_enabled(true);
  EXPECT_LT(burst(far), 100) << "what it sent meanwhile was free, but it has saved no more than it may";
  EXPECT_EQ(far.flow.waits_for(), Wait::dollars);
}

TEST_F(AdmissionTest, SwitchingToWhatItIsIsNoNews) {
  const std::uint64_t news = admission.news();
  admission.set_enabled(true);
  EXPECT_EQ(admission.news(), news);
}

struct AdmissionOff : testing::Test, Daemon {
  static NodeConfig config() {
    NodeConfig config = config_of_alpha();
    config.admission.enabled = false;
    return config;
  }
  AdmissionOff() : Daemon(config()) { open(); }
};

TEST_F(AdmissionOff, NothingIsPaid) {
  hear_link(1, 2, 1000);
  EXPECT_EQ(burst(far), 100'000);
  const FlowState flow = state(far);
  EXPECT_EQ(flow.price, 0);
  EXPECT_EQ(flow.dollars, 0);
  EXPECT_EQ(flow.packets, 100'000u);
  EXPECT_EQ(flow.limited_by, "") << "it does not wait";
}

TEST_F(AdmissionOff, TheQueuesOfClientsHoldSendersBackHoweverDearLinksAre) {
  hear_clients(2, "far", 19);
  hear_link(1, 2, 1000);
  ASSERT_TRUE(enter(far));
  hear_clients(2, "far", 20);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(enter(far)) << i;
  EXPECT_EQ(far.flow.waits_for(), Wait::clients);
  EXPECT_EQ(far.flow.retry_at() - now, 50ms);
  EXPECT_EQ(state(far).limited_by, "clients of far at gamma");
  EXPECT_EQ(count(Counter::messages_held_for_room), 1u);
  EXPECT_TRUE(enter(near));
  take_up_room();
  EXPECT_FALSE(enter(far));
  EXPECT_EQ(state(far).limited_by, "room");
  EXPECT_EQ(count(Counter::messages_held_for_room), 1u) << "still the same message";
}

TEST_F(AdmissionOff, ThereIsABlockedShareAllTheSame) {
  ASSERT_TRUE(enter(far));
  now += 300ms;
  hear_clients(2, "far", 20);
  ASSERT_FALSE(enter(far));
  now += 100ms;
  EXPECT_NEAR(state(far).blocked_share, 0.25, 1e-9);
}

}  // namespace
}  // namespace spindled
