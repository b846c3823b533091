// A triangle of daemons, alpha, beta and gamma, over real links in memory, with overlays and prices, and nothing above.
#include "daemon/admission/own_prices.h"

#include <gtest/gtest.h>

#include <set>

#include "daemon/admission/price_curve.h"
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
  result.admission.queue_packets = 100;
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
    for (int i = 0; i < packets; ++i) alpha.overlay.multicast(MemberSet::of(1), alpha.daemon.slice("a packet"), {});
    alpha.daemon.links.flush(net.now);
  }
  /// The connection from alpha to beta takes so many bytes, which stay on their way.
  void take(std::size_t bytes) {
    held->capacity = held->sides[1].inbox.size() + bytes;
    alpha.daemon.links.handle_writable(net.now, held->sides[0].id);
    alpha.daemon.links.flush(net.now);
  }
  double price_of(double packets) const { return queue_price(packets, 100, 20); }

  Node alpha{net.add(config("alpha", {"beta", "gamma"}))};
  Node beta{net.add(config("beta", {"gamma"}))};
  Node gamma{net.add(config("gamma", {}))};
  const std::vector<Node*> nodes{&alpha, &beta, &gamma};
  test::LinkStream* held = nullptr;
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

TEST_F(OwnPricesTest, CongestionIsToldAtOnce) {
  hold();
  queue(50);
  turn(0ms);
  EXPECT_NEAR(alpha.cost(0, 1), price_of(50), 1e-9) << "its own clients pay for the queue as it is";
  ASSERT_EQ(gamma.heard.size(), 1u);
  const Price& price = gamma.heard.front().price;
  EXPECT_EQ(price.from, 0);
  EXPECT_EQ(price.neighbour, 1);
  EXPECT_TRUE(price.name.empty());
  EXPECT_EQ(price.sequence, 1u);
  EXPECT_NEAR(price.sixteenths / 16.0, price_of(50), 1 / 16.0);
  const std::vector<OwnPrices::LinkView> links = alpha.own.links();
  ASSERT_EQ(links.size(), 2u);
  const OwnPrices::LinkView& link = links.front();
  EXPECT_EQ(link.neighbour, 1);
  EXPECT_EQ(link.packets, 50);
  EXPECT_EQ(link.soft_limit, 100);
  EXPECT_NEAR(link.dollars, price_of(50), 1e-9);
  EXPECT_EQ(links.back().packets, 0);
}

TEST_F(OwnPricesTest, AFirstQueueThatAFastLinkTakesInAMomentIsNotTold) {
  hold();
  queue(20);
  turn(0ms);
  EXPECT_NEAR(alpha.cost(0, 1), price_of(20), 1e-9) << "its own clients pay at once";
  turn(5ms);
  release();
  run(2s);
  EXPECT_TRUE(gamma.heard.empty());
  EXPECT_EQ(alpha.own.next_deadline(), kNever);
}

TEST_F(OwnPricesTest, AFirstQueueIsToldAsSoonAsItsLinkProvesSlow) {
  hold();
  queue(20);
  turn(0ms);
  EXPECT_EQ(alpha.own.next_deadline(), net.now + 10ms) << "a quarter of T_min";
  run_by_deadlines(10ms);
  ASSERT_EQ(gamma.heard.size(), 1u);
  EXPECT_NEAR(gamma.cost(0, 1), price_of(20), 1 / 16.0);
  release();
  run(kLinger + 200ms);
  ASSERT_EQ(gamma.cost(0, 1), 0);
  hold();
  queue(20);
  turn(0ms);
  EXPECT_NEAR(gamma.cost(0, 1), price_of(20), 1 / 16.0) << "at once, as the link is known";
}

TEST_F(OwnPricesTest, GoesToEachDaemonOnceAndNeverOverTheLinkItself) {
  hold();
  queue(50);
  turn(0ms);
  // beta has it by way of gamma, though nothing moves between alpha and beta, and alpha does not hear of itself.
  EXPECT_EQ(beta.heard.size(), 1u);
  EXPECT_EQ(gamma.heard.size(), 1u);
  EXPECT_TRUE(alpha.heard.empty());
  release();
  EXPECT_EQ(beta.heard.size(), 1u) << "and none was waiting there";
  EXPECT_NEAR(beta.cost(0, 1), price_of(50), 1 / 16.0);
}

TEST_F(OwnPricesTest, PricesOfClientsTakeAllLinksAndStopWhereTheyAreKnown) {
  alpha.own.set_clients("news", 3);
  turn(0ms);
  EXPECT_EQ(alpha.count(Counter::prices_told), 1u);
  // From alpha, and from each other, which none passes on once more.
  EXPECT_EQ(beta.heard.size(), 2u);
  EXPECT_EQ(gamma.heard.size(), 2u);
  EXPECT_TRUE(alpha.heard.empty());
  ASSERT_EQ(beta.book.client_prices().size(), 1u);
  EXPECT_EQ(beta.book.client_prices().front().name, "news");
  EXPECT_EQ(beta.book.client_prices().front().daemon, 0);
  EXPECT_EQ(beta.book.client_prices().front().dollars, 3);
}

TEST_F(OwnPricesTest, ChangesAreToldAtMostEveryTMinAndAsSoonAsThat) {
  hold();
  for (int i = 0; i < 500; ++i) {
    queue(1);
    turn(1ms);
  }
  ASSERT_GT(gamma.heard.size(), 3u);
  for (std::size_t i = 1; i < gamma.heard.size(); ++i) {
    const Duration gap = gamma.heard[i].at - gamma.heard[i - 1].at;
    EXPECT_GE(gap, 40ms);
    EXPECT_LE(gap, 41ms) << "there is a turn each millisecond";
    EXPECT_EQ(gamma.heard[i].price.sequence, i + 1);
    EXPECT_GT(gamma.heard[i].price.sixteenths, gamma.heard[i - 1].price.sixteenths);
  }
}

TEST_F(OwnPricesTest, TheMeanSinceTheLastTimeIsTold) {
  hold();
  queue(50);
  turn(0ms);
  run(20ms);
  queue(100);
  run(60ms);
  ASSERT_GE(gamma.heard.size(), 2u);
  EXPECT_NEAR(gamma.heard[1].price.sixteenths / 16.0, price_of(100), price_of(104) - price_of(100))
      << "50 packets half of the time, 150 the other half";
  EXPECT_NEAR(alpha.cost(0, 1), price_of(150), 1e-9);
}

TEST_F(OwnPricesTest, WhatStaysIsRepeatedEachTMax) {
  hold();
  queue(50);
  run(10s, 5ms);
  // Once the mean is the queue as it is, nothing changes any more.
  EXPECT_GE(gamma.heard.size(), 10u);
  EXPECT_LE(gamma.heard.size(), 13u);
  for (std::size_t i = 3; i < gamma.heard.size(); ++i) {
    EXPECT_GE(gamma.heard[i].at - gamma.heard[i - 1].at, 1s);
    EXPECT_LE(gamma.heard[i].at - gamma.heard[i - 1].at, 1005ms);
  }
  EXPECT_NEAR(gamma.cost(0, 1), price_of(50), 1 / 16.0) << "and it never expires";
}

TEST_F(OwnPricesTest, TheEndIsToldOnce) {
  hold();
  queue(50);
  run(100ms);
  release();
  run(3s);
  ASSERT_FALSE(gamma.heard.empty());
  EXPECT_EQ(gamma.heard.back().price.sixteenths, 0u);
  EXPECT_EQ(std::count_if(gamma.heard.begin(), gamma.heard.end(),
                          [](const Heard& heard) { return heard.price.sixteenths == 0; }),
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
  EXPECT_LE(gamma.heard.size(), 8u);
  release();
  run_by_deadlines(kLinger + 200ms);
  EXPECT_EQ(gamma.heard.back().price.sixteenths, 0u);
  EXPECT_EQ(alpha.own.next_deadline(), kNever);
}

TEST_F(OwnPricesTest, AQueueThatIsGoneLingersAndIsToldAtOnceWhereItComesBackAfterThat) {
  hold();
  queue(50);
  run(100ms);
  release();
  run(100ms);
  EXPECT_EQ(gamma.cost(0, 1), kLingerDollars);
  run(kLinger - 200ms);
  EXPECT_EQ(gamma.cost(0, 1), kLingerDollars);
  EXPECT_EQ(alpha.cost(0, 1), 0) << "where it is, it is known at any time how long it is";
  for (int i = 0; i < 500 && gamma.cost(0, 1) != 0; ++i) turn(1ms);
  ASSERT_EQ(gamma.cost(0, 1), 0);
  hold();
  queue(50);
  turn(0ms);
  EXPECT_GT(gamma.cost(0, 1), 1) << "before T_min has passed";
}

TEST_F(OwnPricesTest, AQueueThatComesBackWhileItLingersIsToldAfterTMin) {
  hold();
  queue(50);
  run(100ms);
  release();
  run(500ms);
  const std::size_t before = gamma.heard.size();
  hold();
  queue(50);
  run(200ms);
  EXPECT_GT(gamma.cost(0, 1), 1);
  EXPECT_LE(gamma.heard.size(), before + 6) << "at most every T_min";
}

TEST_F(OwnPricesTest, ClientsAreToldLikeLinks) {
  alpha.own.set_clients("news", 3);
  run(3s, 5ms);
  EXPECT_GE(beta.heard.size(), 2 * 3u) << "repeated each T_max; each comes twice";
  EXPECT_LE(beta.heard.size(), 2 * 5u);
  for (int i = 0; i < 400; ++i) {
    alpha.own.set_clients("news", 3 + i / 10.0);
    turn(1ms);
  }
  EXPECT_LE(beta.heard.size(), 2 * (5u + 11u)) << "at most every T_min";
  alpha.own.set_clients("news", 0);
  run(1s);
  EXPECT_EQ(beta.heard.back().price.sixteenths, 0u);
  EXPECT_TRUE(beta.all_free());
  EXPECT_EQ(alpha.own.next_deadline(), kNever);
  // And once more: sequence numbers go on.
  alpha.own.set_clients("news", 2);
  run(100ms);
  EXPECT_FALSE(beta.all_free());
}

TEST_F(OwnPricesTest, AClientThatHasCaughtUpIsToldSooner) {
  const auto cost = [&] { return beta.book.client_prices().front().dollars; };
  alpha.own.set_clients("news", 8);
  turn(1ms);
  ASSERT_EQ(cost(), 8);
  alpha.own.set_clients("news", 5);
  turn(1ms);
  EXPECT_EQ(cost(), 8) << "it has fallen by little";
  alpha.own.set_clients("news", 4);
  turn(1ms);
  EXPECT_EQ(cost(), 4);
  alpha.own.set_clients("news", 2);
  run(38ms);
  EXPECT_EQ(cost(), 4) << "no second time before T_min has passed";
  run(2ms);
  EXPECT_EQ(cost(), 2);
  // However a price goes up and down, it is told no more often in the mean.
  run(1s);
  beta.heard.clear();
  for (int i = 0; i < 400; ++i) {
    alpha.own.set_clients("news", i % 2 == 0 ? 8 : 1);
    turn(1ms);
  }
  EXPECT_LE(beta.heard.size(), 2 * (10u + 2u)) << "each comes twice";
  EXPECT_GE(beta.heard.size(), 2 * 9u);
}

TEST_F(OwnPricesTest, NamesThatCostNothingAnyMoreAreForgotten) {
  std::uint64_t sequence = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "g" + std::to_string(i);
    alpha.own.set_clients(name, 3);
    turn(10ms);
    alpha.own.set_clients(name, 0);
    run(50ms, 10ms);
    ASSERT_EQ(beta.heard.back().price.name, name);
    EXPECT_EQ(beta.heard.back().price.sixteenths, 0u);
    EXPECT_GT(beta.heard.back().price.sequence, sequence) << "of all names";
    sequence = beta.heard.back().price.sequence;
    EXPECT_LE(alpha.own.names(), 2u);
  }
  run(50ms);
  EXPECT_EQ(alpha.own.names(), 0u);
  alpha.own.set_clients("nobody", 0);
  turn(1ms);
  EXPECT_EQ(alpha.own.names(), 0u);
}

TEST_F(OwnPricesTest, AClientsPriceThatStaysWakesNobodyBeforeItIsDue) {
  alpha.own.set_clients("news", 3);
  turn(0ms);
  EXPECT_EQ(alpha.own.next_deadline(), net.now + 1s) << "T_max";
  run(500ms);
  EXPECT_EQ(alpha.own.next_deadline(), net.now + 500ms);
  alpha.own.set_clients("news", 4);
  turn(0ms);
  EXPECT_EQ(beta.book.client_prices().front().dollars, 4);
  alpha.own.set_clients("news", 5);
  turn(0ms);
  EXPECT_EQ(alpha.own.next_deadline(), net.now + 40ms) << "a change waits for T_min";
}

TEST_F(OwnPricesTest, NothingIsToldWhileViewsChange) {
  hold();
  queue(50);
  alpha.overlay.freeze();
  alpha.own.set_clients("news", 3);
  EXPECT_FALSE(alpha.own.observe(net.now));
  EXPECT_EQ(alpha.count(Counter::prices_told), 0u);
  EXPECT_EQ(alpha.own.next_deadline(), kNever) << "the new view begins anew";
  start_view(2);
  EXPECT_EQ(alpha.count(Counter::prices_told), 1u);
  ASSERT_FALSE(beta.heard.empty());
  EXPECT_EQ(beta.heard.front().price.sequence, 1u);
}

TEST_F(OwnPricesTest, ANewViewIsToldAnew) {
  hold();
  queue(50);
  alpha.own.set_clients("news", 3);
  run(100ms);
  gamma.heard.clear();
  for (Node* node : nodes) node->overlay.freeze();
  start_view(2);
  // What waited on the link went with the old view.
  ASSERT_EQ(alpha.own.links().front().packets, 0);
  EXPECT_EQ(gamma.cost(0, 1), 0);
  ASSERT_EQ(gamma.book.client_prices().size(), 1u);
  queue(80);
  turn(1ms);
  EXPECT_NEAR(gamma.cost(0, 1), price_of(80), 1 / 16.0) << "at once, though T_min has not passed";
  std::set<std::uint64_t> sequences;
  for (const Heard& heard : gamma.heard) {
    EXPECT_EQ(heard.price.view, 2);
    if (heard.price.from == 0) sequences.insert(heard.price.sequence);
  }
  EXPECT_EQ(sequences, (std::set<std::uint64_t>{1, 2})) << "counted anew";
}

TEST_F(OwnPricesTest, TheSoftLimitGrowsWithTheRateOfTheLink) {
  hold();
  // Each millisecond alpha queues 20 packets, and the link takes as much: 20,000 a second.
  queue(200);
  const std::size_t bytes_a_packet = alpha.daemon.links.queued_data_bytes(alpha.daemon.link_to("beta")) / 200;
  for (int i = 0; i < 2000; ++i) {
    queue(20);
    take(20 * bytes_a_packet);
    turn(1ms);
  }
  const OwnPrices::LinkView link = alpha.own.links().front();
  EXPECT_NEAR(link.rate, 20'000, 2'000);
  EXPECT_NEAR(link.soft_limit, link.rate * 0.08, 1) << "what goes in twice T_min";
}

TEST_F(OwnPricesTest, TheFirstQueueOfALinkThatHasCarriedMuchIsCheap) {
  for (int i = 0; i < 200; ++i) {
    queue(20);
    turn(1ms);
    ASSERT_EQ(alpha.own.links().front().packets, 0) << "nothing waits";
  }
  EXPECT_NEAR(alpha.own.links().front().rate, 20'000, 2'000);
  hold();
  queue(100);
  turn(1ms);
  EXPECT_NEAR(alpha.own.links().front().dollars, queue_price(100, 20'000 * 0.08, 20), 0.5);
}

}  // namespace
}  // namespace spindled
