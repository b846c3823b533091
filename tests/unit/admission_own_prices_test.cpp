// A triangle of daemons, alpha, beta and gamma, over real links in memory, with overlays and prices, and nothing above.
#include "daemon/admission/own_prices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/unit/overlay_harness.h"

namespace spindled {
namespace {

using test::LinkDaemon;
using test::LinkNet;

struct Heard {
  Time at{};
  Price price;
};

struct Node final : test::OverlayDaemon {
  explicit Node(LinkDaemon& on)
      : OverlayDaemon(on), book(on.context.config.admission), own(on.context, on.links, overlay, book) {}

  bool price_received(Time now, const Price& price) override {
    heard.push_back({now, price});
    return book.hear(now, price);
  }

  /// What the link to `neighbour` costs by what this daemon knows; 0: nothing.
  double cost(MemberIndex from, MemberIndex neighbour) const {
    for (const PriceBook::LinkPrice& price : book.link_prices()) {
      if (price.from == from && price.neighbour == neighbour) return price.dollars;
    }
    return 0;
  }
  bool all_free() const { return book.link_prices().empty() && book.client_prices().empty(); }

  PriceBook book;
  OwnPrices own;
  std::vector<Heard> heard;
};

NodeConfig config(std::string name, std::vector<std::string> neighbours) {
  NodeConfig result = LinkNet::config(std::move(name), std::move(neighbours));
  // Links stay up however long nothing moves on them.
  result.link.hello_interval = 1h;
  result.link.liveness_timeout = 10h;
  result.admission.queue_packets = 24;
  result.admission.price_max = 20;
  result.admission.update_min = 40ms;
  result.admission.update_max = 1s;
  return result;
}

struct OwnPricesTest : test::OverlayFixture {
  OwnPricesTest() {
    for (Node* node : nodes) bring_up(*node);
    for (int i = 0; i < 100; ++i) turn(5ms);
    start_view(1);
  }

  void start_view(std::uint64_t number) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const View view{{number, "alpha"},
                      {{"alpha", 1}, {"beta", 1}, {"gamma", 1}},
                      {{0, 1, 1, 0}, {0, 2, 1, 0}, {1, 2, 1, 0}},
                      1,
                      static_cast<MemberIndex>(i)};
      nodes[i]->overlay.install(net.now, view);
      nodes[i]->book.start_view(view);
      nodes[i]->own.start_view(net.now);
    }
    turn(0ms);
  }

  /// Each daemon takes a turn, after `passed`.
  void turn(Duration passed) {
    net.advance(passed);
    for (Node* node : nodes) {
      node->book.expire(net.now);
      if (node->overlay.next_deadline() <= net.now) node->overlay.handle_time(net.now);
      node->daemon.links.flush(net.now);
    }
    for (Node* node : nodes) {
      if (node->own.observe(net.now)) node->daemon.links.flush(net.now);
    }
    net.settle();
  }
  void run(Duration duration, Duration between = 1ms) {
    for (const Time end = net.now + duration; net.now < end;) turn(between);
  }
  /// Turns happen at the deadlines of prices only.
  void run_by_deadlines(Duration duration) {
    const Time end = net.now + duration;
    for (;;) {
      Time next = end;
      for (const Node* node : nodes) next = std::min(next, std::max(net.now, node->own.next_deadline()));
      turn(next - net.now);
      if (next >= end) return;
      for (const Node* node : nodes) ASSERT_GT(node->own.next_deadline(), net.now) << "a deadline that does not move";
    }
  }

  /// Nothing moves between alpha and beta any more.
  void hold() {
    for (auto& stream : net.streams) {
      const auto joins = [&](const Node& node) {
        return stream->sides[0].daemon == &node.daemon || stream->sides[1].daemon == &node.daemon;
      };
      if (!joins(alpha) || !joins(beta) || !stream->connected) continue;
      held = stream.get();
      held->held = true;
      held->capacity = 0;
    }
    ASSERT_NE(held, nullptr);
  }
  void release() {
    held->held = false;
    held->capacity = SIZE_MAX;
    net.settle();
  }
  /// So many packets more from alpha to beta.
  void queue(int packets) {
    for (int i = 0; i < packets; ++i) alpha.streams().multicast(MemberSet::of(1), alpha.daemon.slice("a packet"), {});
    alpha.daemon.links.flush(net.now);
  }
  /// The connection from alpha to beta takes so many bytes, which stay on their way.
  void take(std::size_t bytes) {
    held->capacity = held->sides[1].inbox.size() + bytes;
    alpha.daemon.links.handle_writable(net.now, held->sides[0].id);
    alpha.daemon.links.flush(net.now);
  }
  /// A queue stands in front of the link from alpha to beta, which takes so many packets each millisecond, until told.
  void congest(int packets = 100, int taken = 1) {
    hold();
    queue(packets);
    bytes_a_packet = alpha.daemon.links.queued_bytes(alpha.daemon.link_to("beta"), FramePriority::data) /
                     static_cast<std::size_t>(packets);
    carry(20, taken, taken);
  }
  /// In each of so many milliseconds so many packets come, and so many leave.
  void carry(int milliseconds, int coming, int taken) {
    for (int i = 0; i < milliseconds; ++i) {
      queue(coming);
      take(static_cast<std::size_t>(taken) * bytes_a_packet);
      turn(1ms);
    }
  }
  /// The link takes what waits, and nothing comes any more, until it costs nothing.
  void relax() {
    release();
    for (int i = 0; i < 20'000 && alpha.cost(0, 1) != 0; ++i) turn(1ms);
  }

  Node alpha{net.add(config("alpha", {"beta", "gamma"}))};
  Node beta{net.add(config("beta", {"gamma"}))};
  Node gamma{net.add(config("gamma", {}))};
  const std::vector<Node*> nodes{&alpha, &beta, &gamma};
  test::LinkStream* held = nullptr;
  std::size_t bytes_a_packet = 0;
};

TEST_F(OwnPricesTest, NothingIsSaidOfLinksThatCostNothing) {
  queue(500);
  run(3s, 10ms);
  for (const Node* node : nodes) {
    EXPECT_TRUE(node->heard.empty());
    EXPECT_EQ(node->own.next_deadline(), kNever);
    EXPECT_EQ(node->count(Counter::bytes_prices), 0u);
  }
}

TEST_F(OwnPricesTest, AQueueThatStandsIsToldAndAllPayWhatIsTold) {
  congest();
  ASSERT_EQ(gamma.heard.size(), 1u);
  const Price& price = gamma.heard.front().price;
  EXPECT_EQ(price.from, 0);
  EXPECT_EQ(price.neighbour, 1);
  EXPECT_TRUE(price.name.empty());
  EXPECT_EQ(price.sequence, 1u);
  const double dollars = dollars_of(price.level);
  EXPECT_NEAR(std::log(dollars / (2 * std::cbrt(1e6 / 1000))), 0, 0.5) << "one sender alone would fill the link";
  EXPECT_EQ(alpha.cost(0, 1), dollars) << "its own clients as well";
  EXPECT_EQ(gamma.cost(0, 1), dollars);
  const std::vector<OwnPrices::LinkView> links = alpha.own.links();
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links.front().neighbour, 1);
  EXPECT_NEAR(links.front().packets, 100, 5);
  EXPECT_EQ(links.front().aim, 24);
  EXPECT_NEAR(links.front().rate, 1000, 100);
  EXPECT_EQ(links.front().dollars, dollars);
  EXPECT_EQ(links.back().packets, 0);
}

TEST_F(OwnPricesTest, AFirstQueueThatAFastLinkTakesInAMomentIsNotTold) {
  hold();
  queue(20);
  turn(0ms);
  turn(11ms);
  release();
  run(2s);
  EXPECT_TRUE(gamma.heard.empty());
  EXPECT_EQ(alpha.own.next_deadline(), kNever);
}

TEST_F(OwnPricesTest, AFirstQueueIsToldAsSoonAsItsLinkProvesSlow) {
  hold();
  queue(20);
  turn(0ms);
  EXPECT_EQ(alpha.own.next_deadline(), net.now + 12'500us);
  run_by_deadlines(12'500us);
  ASSERT_EQ(gamma.heard.size(), 1u);
  EXPECT_GT(gamma.cost(0, 1), 0);
}

TEST_F(OwnPricesTest, GoesToEachDaemonOnceAndNeverOverTheLinkItself) {
  congest();
  // beta has it by way of gamma, though nothing of it moves between alpha and beta, and alpha does not hear of itself.
  EXPECT_EQ(beta.heard.size(), 1u);
  EXPECT_EQ(gamma.heard.size(), 1u);
  EXPECT_TRUE(alpha.heard.empty());
  release();
  EXPECT_EQ(beta.heard.size(), 1u) << "and none was waiting there";
  EXPECT_EQ(beta.cost(0, 1), gamma.cost(0, 1));
}

TEST_F(OwnPricesTest, IsToldAsOftenAsItIsSet) {
  congest();
  carry(100, 1, 1);
  const Duration interval = from_seconds(0.04 * std::sqrt(178 / 1000.0));
  gamma.heard.clear();
  carry(250, 1, 1);
  ASSERT_GT(gamma.heard.size(), 10u);
  for (std::size_t i = 1; i < gamma.heard.size(); ++i) {
    EXPECT_NEAR(to_seconds(gamma.heard[i].at - gamma.heard[i - 1].at), to_seconds(interval), 0.0025)
        << "there is a turn each millisecond";
    EXPECT_EQ(gamma.heard[i].price.sequence, gamma.heard[i - 1].price.sequence + 1);
    EXPECT_GT(gamma.heard[i].price.level, gamma.heard[i - 1].price.level) << "the queue is longer than it should be";
  }
}

TEST_F(OwnPricesTest, ComesWithTheDelayInWhichSendersAnswer) {
  congest();
  carry(500, 1, 1);
  const double interval_s = 0.04 * std::sqrt(178 / 1000.0);
  const Duration told = gamma.heard.back().price.delay * kPriceDelayUnit;
  EXPECT_NEAR(to_seconds(told), 2 * interval_s, 0.001) << "no daemon is any time away";
}

TEST_F(OwnPricesTest, WhatStaysIsRepeatedEachTMaxAndDoesNotExpire) {
  congest(30);
  // Nearly all of the link is used, and hardly anything waits: its price becomes the least that it can be.
  const auto carry_most = [&](int milliseconds) {
    for (int i = 0; i < milliseconds; ++i) carry(1, i % 10 == 0 ? 0 : 1, 1);
  };
  carry_most(5000);
  ASSERT_GT(gamma.cost(0, 1), 0);
  gamma.heard.clear();
  carry_most(5000);
  EXPECT_GT(gamma.cost(0, 1), 0);
  EXPECT_GE(gamma.heard.size(), 4u);
  EXPECT_LE(gamma.heard.size(), 12u) << "it is set some sixty times a second";
}

TEST_F(OwnPricesTest, TheEndIsToldOnce) {
  congest();
  relax();
  run(3s);
  ASSERT_FALSE(gamma.heard.empty());
  EXPECT_EQ(gamma.heard.back().price.level, 0u);
  EXPECT_EQ(
      std::count_if(gamma.heard.begin(), gamma.heard.end(), [](const Heard& heard) { return heard.price.level == 0; }),
      1);
  for (const Node* node : nodes) {
    EXPECT_TRUE(node->all_free());
    EXPECT_EQ(node->own.next_deadline(), kNever);
  }
}

TEST_F(OwnPricesTest, DeadlinesAloneAreEnough) {
  hold();
  queue(50);
  turn(0ms);
  run_by_deadlines(5s);
  EXPECT_GE(gamma.heard.size(), 5u);
  release();
  run_by_deadlines(60s);
  EXPECT_EQ(gamma.heard.back().price.level, 0u);
  EXPECT_EQ(alpha.own.next_deadline(), kNever);
}

TEST_F(OwnPricesTest, AQueueThatComesBackIsToldAgain) {
  congest();
  relax();
  ASSERT_EQ(gamma.cost(0, 1), 0);
  hold();
  queue(50);
  carry(6, 1, 1);
  EXPECT_GT(gamma.cost(0, 1), 1) << "after five milliseconds, as the link is known";
}

TEST_F(OwnPricesTest, NothingIsToldWhileViewsChange) {
  hold();
  queue(50);
  alpha.overlay.freeze();
  alpha.own.set_clients(net.now, "news", 3);
  EXPECT_FALSE(alpha.own.observe(net.now));
  EXPECT_EQ(alpha.count(Counter::prices_told), 0u);
  EXPECT_EQ(alpha.own.next_deadline(), kNever) << "the new view begins anew";
  start_view(2);
  EXPECT_EQ(alpha.count(Counter::prices_told), 1u);
  ASSERT_FALSE(beta.heard.empty());
  EXPECT_EQ(beta.heard.front().price.sequence, 1u);
}

TEST_F(OwnPricesTest, ANewViewIsToldAnewWhatALinkCosts) {
  congest();
  alpha.own.set_clients(net.now, "news", 3);
  carry(100, 1, 1);
  const double before = gamma.cost(0, 1);
  gamma.heard.clear();
  for (Node* node : nodes) node->overlay.freeze();
  start_view(2);
  // What waited on the link went with the old view, and yet those who sent over it are to go on as they did.
  ASSERT_LE(alpha.own.links().front().packets, 1) << "the rest of what was begun";
  EXPECT_NEAR(gamma.cost(0, 1), before, 0.02 * before);
  EXPECT_EQ(alpha.cost(0, 1), gamma.cost(0, 1));
  ASSERT_EQ(gamma.book.client_prices().size(), 1u);
  std::set<std::uint64_t> sequences;
  for (const Heard& heard : gamma.heard) {
    EXPECT_EQ(heard.price.view, 2);
    if (heard.price.from == 0) sequences.insert(heard.price.sequence);
  }
  EXPECT_EQ(sequences, (std::set<std::uint64_t>{1, 2})) << "counted anew";
}

TEST_F(OwnPricesTest, PricesOfClientsTakeAllLinksAndStopWhereTheyAreKnown) {
  alpha.own.set_clients(net.now, "news", 3);
  turn(0ms);
  EXPECT_EQ(alpha.count(Counter::prices_told), 1u);
  // From alpha, and from each other, which none passes on once more.
  EXPECT_EQ(beta.heard.size(), 2u);
  EXPECT_EQ(gamma.heard.size(), 2u);
  EXPECT_TRUE(alpha.heard.empty());
  ASSERT_EQ(beta.book.client_prices().size(), 1u);
  EXPECT_EQ(beta.book.client_prices().front().name, "news");
  EXPECT_EQ(beta.book.client_prices().front().daemon, 0);
  EXPECT_NEAR(beta.book.client_prices().front().dollars, 3, 0.003);
}

TEST_F(OwnPricesTest, ClientsAreToldLikeLinks) {
  alpha.own.set_clients(net.now, "news", 3);
  run(3s, 5ms);
  EXPECT_GE(beta.heard.size(), 2 * 3u) << "repeated each T_max; each comes twice";
  EXPECT_LE(beta.heard.size(), 2 * 5u);
  for (int i = 0; i < 400; ++i) {
    alpha.own.set_clients(net.now, "news", 3 + i / 10.0);
    turn(1ms);
  }
  EXPECT_LE(beta.heard.size(), 2 * (5u + 11u)) << "at most every T_min";
  alpha.own.set_clients(net.now, "news", 0);
  run(1s);
  EXPECT_EQ(beta.heard.back().price.level, 0u);
  EXPECT_TRUE(beta.all_free());
  EXPECT_EQ(alpha.own.next_deadline(), kNever);
  // And once more: sequence numbers go on.
  alpha.own.set_clients(net.now, "news", 2);
  run(100ms);
  EXPECT_FALSE(beta.all_free());
}

TEST_F(OwnPricesTest, AClientThatHasCaughtUpIsToldSooner) {
  const auto cost = [&] { return std::round(100 * beta.book.client_prices().front().dollars) / 100; };
  alpha.own.set_clients(net.now, "news", 8);
  turn(1ms);
  ASSERT_EQ(cost(), 8);
  alpha.own.set_clients(net.now, "news", 5);
  turn(1ms);
  EXPECT_EQ(cost(), 8) << "it has fallen by little";
  alpha.own.set_clients(net.now, "news", 4);
  turn(1ms);
  EXPECT_EQ(cost(), 4);
  alpha.own.set_clients(net.now, "news", 2);
  run(38ms);
  EXPECT_EQ(cost(), 4) << "no second time before T_min has passed";
  run(2ms);
  EXPECT_EQ(cost(), 2);
  // However a price goes up and down, it is told no more often in the mean.
  run(1s);
  beta.heard.clear();
  for (int i = 0; i < 400; ++i) {
    alpha.own.set_clients(net.now, "news", i % 2 == 0 ? 8 : 1);
    turn(1ms);
  }
  EXPECT_LE(beta.heard.size(), 2 * (10u + 2u)) << "each comes twice";
  EXPECT_GE(beta.heard.size(), 2 * 9u);
}

TEST_F(OwnPricesTest, NamesThatCostNothingAnyMoreAreForgotten) {
  std::uint64_t sequence = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "g" + std::to_string(i);
    alpha.own.set_clients(net.now, name, 3);
    turn(10ms);
    alpha.own.set_clients(net.now, name, 0);
    run(50ms, 10ms);
    ASSERT_EQ(beta.heard.back().price.name, name);
    EXPECT_EQ(beta.heard.back().price.level, 0u);
    EXPECT_GT(beta.heard.back().price.sequence, sequence) << "of all names";
    sequence = beta.heard.back().price.sequence;
    EXPECT_LE(alpha.own.names(), 2u);
  }
  run(50ms);
  EXPECT_EQ(alpha.own.names(), 0u);
  alpha.own.set_clients(net.now, "nobody", 0);
  turn(1ms);
  EXPECT_EQ(alpha.own.names(), 0u);
}

TEST_F(OwnPricesTest, OfManyNamesSoManyAreToldInTMin) {
  constexpr std::size_t kNames = 3 * OwnPrices::kNamesToldMax;
  const auto name = [](std::size_t i) { return "g" + std::to_string(i); };
  for (std::size_t i = 0; i < kNames; ++i) alpha.own.set_clients(net.now, name(i), 3);
  turn(0ms);
  EXPECT_EQ(alpha.count(Counter::prices_told), OwnPrices::kNamesToldMax);
  EXPECT_LE(alpha.own.next_deadline(), net.now + 40ms) << "T_min";
  run_by_deadlines(80ms);
  EXPECT_EQ(alpha.count(Counter::prices_told), kNames);
  EXPECT_EQ(beta.book.client_prices().size(), kNames);
  // They change all the time, and none is forgotten for others.
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < kNames; ++i) alpha.own.set_clients(net.now, name(i), 4 + round);
    turn(0ms);
    run_by_deadlines(120ms);
  }
  EXPECT_LE(alpha.count(Counter::prices_told), kNames + 31 * OwnPrices::kNamesToldMax);
  for (const PriceBook::ClientPrice& price : beta.book.client_prices()) EXPECT_GT(price.dollars, 11) << price.name;
  for (std::size_t i = 0; i < kNames; ++i) alpha.own.set_clients(net.now, name(i), 0);
  turn(0ms);
  run_by_deadlines(500ms);
  EXPECT_TRUE(beta.book.client_prices().empty());
  EXPECT_EQ(alpha.own.names(), 0u);
}

TEST_F(OwnPricesTest, AClientsPriceThatStaysWakesNobodyBeforeItIsDue) {
  alpha.own.set_clients(net.now, "news", 3);
  turn(0ms);
  EXPECT_EQ(alpha.own.next_deadline(), net.now + 1s) << "T_max";
  run(500ms);
  EXPECT_EQ(alpha.own.next_deadline(), net.now + 500ms);
  alpha.own.set_clients(net.now, "news", 4);
  turn(0ms);
  EXPECT_NEAR(beta.book.client_prices().front().dollars, 4, 0.004);
  alpha.own.set_clients(net.now, "news", 5);
  turn(0ms);
  EXPECT_EQ(alpha.own.next_deadline(), net.now + 40ms) << "a change waits for T_min";
}

}  // namespace
}  // namespace spindled
