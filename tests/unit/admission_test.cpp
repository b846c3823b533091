// What may enter, and what a flow is told of itself: a daemon, alpha, at one end of a line alpha - beta - gamma. There
// are an Order and Groups as in the daemon, but nobody at the other end of its links: prices are told by the test.
#include "daemon/admission/admission.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "daemon/admission/balance.h"
#include "daemon/link/link_limits.h"
#include "tests/support/nobody.h"
#include "tests/unit/overlay_harness.h"

namespace spindled {
namespace {

using Wait = Flow::Wait;

constexpr std::uint32_t kAlphaBetaUs = 4'000, kBetaGammaUs = 10'000;  // round trips
constexpr std::uint16_t kDelay = 400;                                 // with which prices are told: 100 ms

NodeConfig config_of_alpha() {
  NodeConfig config = test::LinkNet::config("alpha");
  config.session.send_window_bytes = 10'000;
  AdmissionConfig& admission = config.admission;
  admission.salary = 10;
  admission.fee = 1;
  admission.price_threshold = 2;
  admission.price_max = 20;
  admission.savings_max = 20;
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
    return admission.try_admit(now, line.flow, line.to, {static_cast<std::uint32_t>(bytes)}).is_admitted();
  }
  /// How many more messages enter in one turn.
  int burst(Line& line) {
    int count = 0;
    while (count < 100'000 && enter(line)) ++count;
    return count;
  }
  /// The flow is deep in debt, and its next message is refused.
  void indebt(Line& line) {
    groups.sender().resolve(line.to);
    line.flow.set_entry(1);  // nothing is drawn for it
    ASSERT_TRUE(enter(line, 1u << 30));
    ASSERT_FALSE(enter(line));
  }
  /// Another daemon tells what its link, or its clients, cost.
  void hear_link(MemberIndex from, MemberIndex neighbour, double dollars) {
    ASSERT_TRUE(admission.price_received(now, {0, from, neighbour, {}, ++sequence, level_of(dollars), kDelay}));
  }
  void hear_clients(MemberIndex from, std::string name, double dollars) {
    ASSERT_TRUE(admission.price_received(now, {0, from, 0, std::move(name), ++sequence, level_of(dollars), kDelay}));
  }
  /// Fills the send window with messages that nobody confirms.
  void take_up_room() {
    Sender sender;
    while (order.unstable_bytes() < on.context.config.session.send_window_bytes) {
      const Slice chunk = on.slice(std::string(1000, 'x'));
      ClientSend message;
      message.total = 1000;
      message.chunks = std::span(&chunk, 1);
      groups.sender().resolve(far.to);
      groups.sender().send(now, sender, far.to, message);
    }
  }

  FlowSnapshot state(Line& line) {
    groups.sender().resolve(line.to);
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
  EXPECT_NEAR(state(far).price, 4, 0.004);
  EXPECT_EQ(state(near).price, 1);
  ASSERT_TRUE(enter(near, 3 * kPacketBytes));
  EXPECT_EQ(state(near).dollars, 3) << "for each packet";
  EXPECT_EQ(count(Counter::packets_paid), 3u);
  EXPECT_EQ(count(Counter::cents_paid), 300u);
}

TEST_F(AdmissionTest, NamesThatArePacketsOfTheirOwnAreToBePaid) {
  Line many = line("near");
  for (int i = 0; i < 3; ++i) many.to.names.push_back(fmt::format("nobody {}", i));
  ASSERT_TRUE(enter(many));
  EXPECT_EQ(count(Counter::packets_paid), 1u) << "a few are the head of a message";
  many = line("near");
  for (int i = 0; i < 100; ++i) many.to.names.push_back(fmt::format("nobody of a long name, which goes along {}", i));
  ASSERT_TRUE(enter(many));
  EXPECT_EQ(count(Counter::packets_paid), 1 + packets_of(100 + many.to.targets.size()));
  EXPECT_GT(count(Counter::packets_paid), 3u);
}

TEST_F(AdmissionTest, WhoSendsWithinTheDaemonPaysOnlyWhereAClientDoesNotKeepUp) {
  EXPECT_EQ(burst(home), 100'000);
  EXPECT_EQ(state(home).price, 0);
  EXPECT_EQ(state(home).dollars, 0);
  admission.set_client_price("home", 3000, "slow");
  EXPECT_EQ(state(home).price, 3001) << "as much as senders elsewhere";
  EXPECT_LE(burst(home), 3) << "a new flow has two packets";
  EXPECT_EQ(state(home).limited_by, "client #slow#alpha of home");
  EXPECT_GE(state(home).dollars, 3001);
}

TEST_F(AdmissionTest, ARestIsWorthTheSavings) {
  EXPECT_EQ(burst(far), 2) << "what a new flow has";
  now += 1h;
  EXPECT_EQ(burst(far), 20) << "savings_max";
  hear_link(1, 2, 9);
  now += 10ms;
  EXPECT_LE(burst(far), 3) << "it buys two where packets are dear, of which one may enter early";
}

TEST_F(AdmissionTest, AFlowGoesByAnotherConfigurationAtOnce) {
  ASSERT_TRUE(enter(near));
  EXPECT_EQ(state(near).dollars, 1);
  now += 1h;
  NodeConfig next = on.context.config;
  next.admission.fee = 2;
  next.admission.savings_max = 20;
  on.context.reconfigure(next);
  admission.reconsider();
  EXPECT_EQ(burst(near), 10) << "savings_max over the fee";
  EXPECT_EQ(state(near).dollars, 1 + 10 * 2);
  now += 1h;
  next.admission.savings_max = 30;
  on.context.reconfigure(next);
  admission.reconsider();
  EXPECT_EQ(burst(near), 15) << "though its price is what it was";
}

TEST(AdmissionSavings, AreWhatIsEarnedInTenMillisecondsWhereThatIsMore) {
  NodeConfig config = config_of_alpha();
  config.admission.salary = 100'000;
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
  EXPECT_EQ(patience(near), 1us * kAlphaBetaUs) << "a round trip";
  EXPECT_EQ(patience(far), 1us * (kAlphaBetaUs + kBetaGammaUs));
  hear_link(1, 2, 10);
  Line other = line("far");
  EXPECT_EQ(patience(other), 50ms);
  // What the time is for: in so much of it a salary grows by a factor of e.
  const double before = near.flow.salary();
  constexpr int looks = 40;
  for (int i = 0; i < looks; ++i) {
    now += 1ms;
    ASSERT_FALSE(enter(near));
  }
  EXPECT_NEAR(std::log(near.flow.salary() / before), looks * 0.001 / 0.004, 0.1);
}

TEST(AdmissionFeedback, TakesSomeTimeHoweverShortTheWay) {
  Daemon daemon(config_of_alpha(), 0);
  daemon.open();
  daemon.indebt(daemon.near);
  EXPECT_EQ(daemon.near.flow.retry_at() - daemon.now, 2500us) << "beta is no time away";
}

TEST_F(AdmissionTest, SalariesFollowThePriceInTheDelayThatItComesWith) {
  hear_link(1, 2, 50);
  Line line = this->line("far");
  indebt(line);
  const double balance = 2e6 * std::pow(2 / state(line).price, 2);
  ASSERT_NEAR(line.flow.salary(), balance / 2, 0.01 * balance);
  now += 500ms;
  ASSERT_FALSE(enter(line));
  EXPECT_NEAR(std::log(balance / line.flow.salary()), std::log(2) * std::exp(-4), 0.01) << "five delays";
}

TEST_F(AdmissionTest, APartOfALargeMessageIsOfAsManyPacketsOnTheLinkAsArePaidFor) {
  hear_link(1, 2, 50);
  ASSERT_TRUE(enter(far));
  int parts = 0;
  std::uint64_t paid = far.flow.packets();
  for (int i = 0; i < 1000; ++i) {
    now += 5ms;
    admission.start_turn(now);
    const std::size_t bytes = admission.try_admit(now, far.flow, far.to, {1'000'000, 100'000}).bytes;
    if (bytes == 0) continue;
    ++parts;
    const std::uint64_t packets = far.flow.packets() - std::exchange(paid, far.flow.packets());
    EXPECT_LE(bytes + 60, packets * kPacketBytes) << "with what stands in front of it";
    EXPECT_GT(bytes, (packets - 1) * kPacketBytes);
  }
  EXPECT_GT(parts, 10);
}

TEST_F(AdmissionTest, OfALargeMessageAPartEntersAtOnceWhereNothingCostsAnything) {
  const Offer offer{16u << 20, 16u << 20};
  EXPECT_EQ(admission.try_admit(now, far.flow, far.to, offer).bytes, Admission::kIdlePartBytes);
  EXPECT_EQ(admission.try_admit(now, far.flow, far.to, offer).bytes, 0u) << "it has a debt";
  std::size_t entered = 0;
  for (int i = 0; i < 2000 && entered < offer.bytes; ++i) {
    now += 1ms;
    admission.start_turn(now);
    const std::uint32_t rest = offer.bytes - static_cast<std::uint32_t>(entered);
    entered += admission.try_admit(now, far.flow, far.to, {rest, rest}).bytes;
  }
  EXPECT_EQ(entered, offer.bytes);
}

TEST_F(AdmissionTest, WholeEntersWhatFitsIntoAPartAndWhatHasNoRoomToEnterInParts) {
  EXPECT_EQ(admission.try_admit(now, far.flow, far.to, {Admission::kIdlePartBytes, 50'000}).bytes,
            Admission::kIdlePartBytes);
  EXPECT_EQ(admission.try_admit(now, near.flow, near.to, {16u << 20, 0}).bytes, 16u << 20);
}

TEST_F(AdmissionTest, WhatBeginsToCostSomethingHalvesTheRateAndWhatComesOnTopLeavesIt) {
  indebt(far);
  for (int i = 0; i < 20; ++i) {
    now += 1ms;
    ASSERT_FALSE(enter(far));
  }
  const double idle = far.flow.earning();
  hear_link(1, 2, 15);
  ASSERT_FALSE(enter(far));
  EXPECT_NEAR(far.flow.earning(), idle / 2, 1e-6 * idle);
  hear_clients(2, "far", 400);
  ASSERT_FALSE(enter(far));
  EXPECT_NEAR(far.flow.earning(), idle / 2, 1e-6 * idle);
  hear_link(1, 2, 0);
  ASSERT_FALSE(enter(far));
  EXPECT_NEAR(far.flow.earning(), idle / 2, 1e-6 * idle);
  hear_clients(2, "far", 800);
  ASSERT_FALSE(enter(far));
  EXPECT_NEAR(far.flow.earning(), idle / 4, 0.01 * idle) << "what costs more buys less";
  hear_clients(2, "far", 0);
  ASSERT_FALSE(enter(far));
  EXPECT_NEAR(far.flow.earning(), idle / 4, 0.01 * idle);
}

TEST_F(AdmissionTest, AFlowEarnsAtTheOldPriceUntilItKnowsTheNew) {
  hear_link(1, 2, 20);
  indebt(far);
  const double debt = far.flow.credit(), earning = far.flow.earning();
  now += 30ms;
  hear_link(1, 2, 2000);  // the flow is looked at later
  now += 10ms;
  ASSERT_FALSE(enter(far));
  EXPECT_NEAR(far.flow.credit() - debt, 0.03 * earning + 0.01 * far.flow.earning(), 0.01);
}

TEST_F(AdmissionTest, MessagesEnterSoonerOrLaterByHalfOfThemselves) {
  hear_link(1, 2, 20);
  Line line = this->line("far");
  ASSERT_TRUE(enter(line)) << "what a new flow has";
  double least = 100, most = -100, sum = 0;
  constexpr int kMessages = 1000, kPackets = 8;
  for (int i = 0; i < kMessages; ++i) {
    while (!enter(line, kPackets * kPacketBytes)) now = line.flow.retry_at();
    const double entered_at = line.flow.credit() + kPackets;
    least = std::min(least, entered_at);
    most = std::max(most, entered_at);
    sum += entered_at;
  }
  const double turn = line.flow.earning() * 0.0005;  // no message is looked at sooner than that
  EXPECT_NEAR(sum / kMessages, 1, 0.3 + turn);
  EXPECT_GE(least, 1 - kPackets / 2);
  EXPECT_LT(least, 1 - 0.9 * kPackets / 2);
  EXPECT_LE(most, 1 + kPackets / 2 + turn);
  EXPECT_GT(most, 1 + 0.9 * kPackets / 2);
}

TEST_F(AdmissionTest, OnAnIdleWayNothingIsDrawn) {
  for (int i = 0; i < 100; ++i) {
    while (!enter(far)) now = far.flow.retry_at();
    EXPECT_EQ(far.flow.entry(), 1);
  }
}

// However many flows wait: they are not looked at in turns in which their price does not fall, and get what they earn.
TEST_F(AdmissionTest, APriceThatHardlyChangesCostsNoTriesAndNoPackets) {
  admission.set_client_price("home", 300, "slow");
  burst(home);
  ASSERT_TRUE(home.flow.is_blocked());
  std::uint64_t seen = admission.news();
  int tries = 0, entered = 0;
  const Time end = now + 20s;
  for (int i = 0; now < end; ++i) {
    now += 100us;
    admission.set_client_price("home", 300 + 10 * (i % 4), "slow");
    admission.start_turn(now);
    if (std::exchange(seen, admission.news()) == seen && now < home.flow.retry_at()) continue;
    for (bool may = true; may; ++tries) {
      may = admission.try_admit(now, home.flow, home.to, {100}).is_admitted();
      entered += may ? 1 : 0;
    }
  }
  EXPECT_LT(tries, 2000) << "in 200,000 turns";
  // At 315 dollars in the mean a million packets divided by 157.5 cubed.
  EXPECT_NEAR(entered, 20 * 1e6 / std::pow(157.5, 3), 2.5);
  EXPECT_LT(home.flow.credit(), 1.5) << "and nothing is left that could be spent";
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
  const Verdict verdict = daemon.admission.try_admit(daemon.now, budget, Admission::Change::join, "far");
  EXPECT_EQ(verdict.waits_for, AdmissionWait::room);
  EXPECT_EQ(verdict.retry_at, kNever);
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
  ASSERT_EQ(admission.try_admit(now, budget, Admission::Change::join, "far").waits_for, AdmissionWait::room);
  const std::uint64_t news = admission.news();
  now += 1ms;
  order.acknowledgement_received(now, {1, 3});  // what the view begins with went to both
  order.acknowledgement_received(now, {2, 5});
  admission.start_turn(now);
  ASSERT_TRUE(admission.try_admit(now, budget, Admission::Change::join, "far").is_admitted());
  EXPECT_NE(admission.news(), news);
}

// Leaves, of 400 bytes each, as many as may be: in the tenth second, when the burst is spent.
TEST_F(AdmissionTest, WhoJoinsAndLeavesWithoutEndGetsOfACongestedLinkWhatAFlowDoes) {
  const auto leaves_a_second = [&](double dollars) {
    MembershipBudget budget;
    std::size_t count = 0;
    for (const Time start = now; now < start + 10s; now += 1ms) {
      if (dollars > 0 && (now - start) % 500ms == 0ms) hear_link(1, 2, dollars);
      admission.start_turn(now);
      while (admission.try_admit(now, budget, Admission::Change::leave, "far").is_admitted()) {
        if (now >= start + 9s) ++count;
      }
    }
    return static_cast<double>(count);
  };
  const double free = static_cast<double>(on.context.config.session.membership_rate_bytes) / MembershipRate::kBaseBytes;
  EXPECT_NEAR(leaves_a_second(0), free, free / 100);
  // At 80 times the threshold, with the fee, a flow sends two packets of 1,400 bytes a second, which are seven leaves.
  const double share = rate_of_balance(2, 160) * kPacketBytes / MembershipRate::kBaseBytes;
  EXPECT_NEAR(share, 6.8, 0.1);
  EXPECT_NEAR(leaves_a_second(159), share, 1);
  EXPECT_NEAR(leaves_a_second(2), free, free / 100) << "on a fast link a flow sends more than that";
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
  EXPECT_NEAR(state(far).price, 6, 0.006);
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
  const FlowSnapshot flow = state(far);
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
