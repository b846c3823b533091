// Equation (8) of the cost-benefit paper: what a message costs is the sum over the links of its tree.
#include "daemon/admission/price_book.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/overlay_graphs.h"

namespace spindled {
namespace {

using LinkPrices = std::map<std::pair<MemberIndex, MemberIndex>, std::uint32_t>;  // in sixteenths

/// The links that copies of a message take, hop by hop: every relay looks only at its own shortest paths.
std::set<std::pair<MemberIndex, MemberIndex>> tree_of(const std::vector<ShortestPaths>& paths, MemberIndex from,
                                                      const MemberSet& to) {
  std::set<std::pair<MemberIndex, MemberIndex>> links;
  to.for_each([&](MemberIndex destination) {
    for (MemberIndex at = from; at != destination;) {
      const MemberIndex next = paths[at].next_hop(destination);
      links.insert({at, next});
      at = next;
    }
  });
  return links;
}

MemberSet random_set(Random& random, std::size_t members) {
  MemberSet set;
  for (std::uint64_t i = random.between(1, 6); i > 0; --i) set.insert(static_cast<MemberIndex>(random.below(members)));
  return set;
}

Price link_price(MemberIndex from, MemberIndex neighbour, std::uint64_t sequence, std::uint32_t sixteenths,
                 std::uint16_t delay = 100) {
  return {0, from, neighbour, {}, sequence, level_of(sixteenths / 16.0), delay};
}

Price client_price(MemberIndex from, std::string name, std::uint64_t sequence, std::uint32_t sixteenths) {
  return {0, from, 0, std::move(name), sequence, level_of(sixteenths / 16.0), 100};
}

/// Prices are told to within a two-thousandth.
void expect_dollars(double dollars, double expected, const std::string& why = {}) {
  EXPECT_NEAR(dollars, expected, expected / 1000) << why;
}

TEST(PriceBookModel, QuotesAreTheSumOverTheTreeThatFramesTake) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const std::size_t size = random.between(2, 90);
    const Topology topology =
        test::random_topology(random, size, random.chance(0.5) ? 0 : 4 / static_cast<double>(size), 3);
    std::vector<ShortestPaths> paths;
    const Adjacency adjacency(size, topology.edges);
    for (std::size_t i = 0; i < size; ++i) paths.emplace_back(adjacency, static_cast<MemberIndex>(i));

    const auto self = static_cast<MemberIndex>(random.below(size));
    const AdmissionConfig config;
    PriceBook book(config);
    book.start_view(test::view_of(topology, self));
    LinkPrices prices;
    for (int step = 0; step < 40; ++step) {
      // One more price, in either direction of some edge; every fourth is zero.
      const Edge& edge = topology.edges[random.below(topology.edges.size())];
      const auto [from, neighbour] = random.chance(0.5) ? std::pair(edge.a, edge.b) : std::pair(edge.b, edge.a);
      const auto sixteenths = random.chance(0.25) ? 0 : static_cast<std::uint32_t>(random.between(1, 1000));
      prices[{from, neighbour}] = sixteenths;
      if (from == self) {
        book.set_own_link(Time{1s}, neighbour, sixteenths / 16.0, 10ms);
      } else {
        ASSERT_TRUE(book.hear(Time{1s}, link_price(from, neighbour, static_cast<std::uint64_t>(step) + 1, sixteenths)));
      }

      DestinationSet to;
      to.daemons = random_set(random, size);
      double expected = 0, dearest = 0;
      for (const auto& link : tree_of(paths, self, to.daemons)) {
        const auto at = prices.find(link);
        if (at == prices.end()) continue;
        expected += at->second / 16.0;
        dearest = std::max(dearest, at->second / 16.0);
      }
      const Quote quote = book.quote(to);
      ASSERT_NEAR(quote.congestion, expected, expected / 1000) << "round " << round << ", step " << step;
      ASSERT_NEAR(quote.link.dollars, dearest, dearest / 1000);
      if (dearest > 0) {
        EXPECT_NEAR((prices[{quote.link.from, quote.link.neighbour}] / 16.0), dearest, dearest / 1000);
        EXPECT_TRUE(tree_of(paths, self, to.daemons).contains({quote.link.from, quote.link.neighbour}));
      }
      EXPECT_EQ(quote.receivers, to.daemons.count() - (to.daemons.contains(self) ? 1 : 0));
    }
  }
}

/// alpha (0) - beta (1) - gamma (2) in a line, and delta (3) at beta; seen from alpha.
struct PriceBookTest : ::testing::Test {
  PriceBookTest() {
    config.update_max = 2s;
    book.start_view(view(1));
  }

  static View view(std::uint64_t number) {
    return {{number, "alpha"},
            {{"alpha", 1}, {"beta", 1}, {"gamma", 1}, {"delta", 1}},
            {{0, 1, 1, 1000}, {1, 2, 1, 20'000}, {1, 3, 1, 5000}},
            1,
            0};
  }
  Quote quote(std::initializer_list<int> daemons, std::vector<std::string> names = {}) const {
    DestinationSet to;
    for (const int daemon : daemons) to.daemons.insert(static_cast<MemberIndex>(daemon));
    to.names = std::move(names);
    return book.quote(to);
  }
  double cost(std::initializer_list<int> daemons, std::vector<std::string> names = {}) const {
    return quote(daemons, std::move(names)).congestion;
  }
  void set_own_link(MemberIndex neighbour, double dollars) { book.set_own_link(now, neighbour, dollars, 10ms); }
  void set_own_clients(const std::string& name, double dollars) { book.set_own_clients(now, name, dollars, 20ms); }
  bool all_free() const { return book.link_prices().empty() && book.client_prices().empty(); }

  AdmissionConfig config;
  Time now{50s};
  PriceBook book{config};
};

TEST_F(PriceBookTest, SeveralCongestedLinksAddUp) {
  EXPECT_TRUE(all_free());
  expect_dollars(cost({1, 2, 3}), 0);
  set_own_link(1, 2.5);
  book.hear(now, link_price(1, 2, 1, 16));
  book.hear(now, link_price(1, 3, 1, 64));
  EXPECT_FALSE(all_free());
  expect_dollars(cost({1}), 2.5);
  expect_dollars(cost({2}), 3.5);
  expect_dollars(cost({0, 2, 3}), 7.5, "the link that both share counts once");
  expect_dollars(cost({0}), 0);
  expect_dollars(quote({2, 3}).link.dollars, 4);
  EXPECT_EQ(quote({2, 3}).link.from, 1);
  EXPECT_EQ(quote({2, 3}).link.neighbour, 3);
}

TEST_F(PriceBookTest, TheOtherDirectionOfALinkCostsNothing) {
  EXPECT_TRUE(book.hear(now, link_price(2, 1, 1, 160)));
  EXPECT_TRUE(book.hear(now, link_price(1, 0, 1, 160)));
  expect_dollars(cost({1, 2, 3}), 0);
  EXPECT_EQ(book.link_prices().size(), 2u) << "but is known";
}

TEST_F(PriceBookTest, ClientsCostWhoeverSendsToTheirNameAtTheirDaemon) {
  EXPECT_TRUE(book.hear(now, client_price(2, "news", 1, 48)));
  EXPECT_TRUE(book.hear(now, client_price(3, "news", 1, 32)));
  EXPECT_TRUE(book.hear(now, client_price(3, "#slow#delta", 1, 16)));
  set_own_clients("news", 0.5);
  expect_dollars(cost({2, 3}, {"news"}), 3, "the slowest of them");
  expect_dollars(cost({0, 3}, {"news"}), 2);
  expect_dollars(cost({0}, {"news"}), 0.5);
  expect_dollars(cost({2}, {"news"}), 3, "no member of the group is at delta for this message");
  expect_dollars(cost({2, 3}, {"weather"}), 0);
  expect_dollars(cost({3}, {"#slow#delta", "weather"}), 1);
  expect_dollars(cost({3}, {"#slow#delta", "news"}), 2);
  set_own_link(1, 9);
  const Quote::Clients dearest = quote({2, 3}, {"news"}).clients;
  EXPECT_EQ(dearest.name, "news") << "though a link is dearer";
  EXPECT_EQ(dearest.daemon, 2);
  expect_dollars(dearest.dollars, 3);
  expect_dollars(quote({2, 3}, {"news"}).link.dollars, 9);
  expect_dollars(quote({2, 3}, {"weather"}).clients.dollars, 0);
}

TEST_F(PriceBookTest, WhatIsZeroIsForgotten) {
  set_own_link(1, 2);
  set_own_clients("news", 1);
  book.hear(now, link_price(1, 2, 1, 16));
  book.hear(now, client_price(2, "news", 1, 16));
  ASSERT_EQ(book.link_prices().size(), 2u);
  ASSERT_EQ(book.client_prices().size(), 2u);
  set_own_link(1, 0);
  set_own_clients("news", 0);
  EXPECT_TRUE(book.hear(now, link_price(1, 2, 2, 0)));
  EXPECT_TRUE(book.hear(now, client_price(2, "news", 2, 0)));
  EXPECT_TRUE(all_free());
}

TEST_F(PriceBookTest, OldSequenceNumbersAreNoNews) {
  EXPECT_TRUE(book.hear(now, link_price(1, 2, 5, 16)));
  const std::uint64_t version = book.version();
  EXPECT_FALSE(book.hear(now, link_price(1, 2, 5, 32))) << "heard before, on another way";
  EXPECT_FALSE(book.hear(now, link_price(1, 2, 4, 32)));
  expect_dollars(cost({2}), 1);
  EXPECT_EQ(book.version(), version);
  // Zero is no reason to begin anew: a late copy of an older price must not raise it from the dead.
  EXPECT_TRUE(book.hear(now, link_price(1, 2, 6, 0)));
  EXPECT_FALSE(book.hear(now, link_price(1, 2, 5, 16)));
  EXPECT_TRUE(all_free());
  // Each price counts for itself.
  EXPECT_TRUE(book.hear(now, link_price(1, 3, 1, 16)));
  EXPECT_TRUE(book.hear(now, client_price(1, "news", 1, 16)));
  EXPECT_FALSE(book.hear(now, client_price(1, "news", 1, 0)));
}

TEST_F(PriceBookTest, ARepeatedPriceIsNewsButNoChange) {
  book.hear(now, link_price(1, 2, 1, 16));
  const std::uint64_t version = book.version();
  EXPECT_TRUE(book.hear(now, link_price(1, 2, 2, 16))) << "to be passed on";
  EXPECT_EQ(book.version(), version);
  EXPECT_TRUE(book.hear(now, link_price(1, 2, 3, 17)));
  EXPECT_GT(book.version(), version);
}

TEST_F(PriceBookTest, WhatCannotBeOfTheViewIsNoNews) {
  EXPECT_FALSE(book.hear(now, link_price(4, 1, 1, 16))) << "no such member";
  EXPECT_FALSE(book.hear(now, client_price(4, "news", 1, 16)));
  EXPECT_FALSE(book.hear(now, link_price(2, 3, 1, 16))) << "no such link";
  EXPECT_FALSE(book.hear(now, link_price(2, 2, 1, 16)));
  EXPECT_FALSE(book.hear(now, link_price(2, 900, 1, 16)));
  EXPECT_FALSE(book.hear(now, link_price(0, 1, 1, 16))) << "nobody tells this daemon its own prices";
  EXPECT_FALSE(book.hear(now, client_price(0, "news", 1, 16)));
  EXPECT_TRUE(all_free());
}

TEST_F(PriceBookTest, PricesThatAreRepeatedNoLongerExpire) {
  set_own_link(1, 2);
  book.hear(now, link_price(1, 2, 1, 16));
  book.hear(now, client_price(2, "news", 1, 16));
  const Time first = book.next_expiry();
  EXPECT_GT(first, now + config.update_max) << "one repetition may be late";
  EXPECT_LE(first, now + 10 * config.update_max);
  now += config.update_max;
  book.hear(now, link_price(1, 2, 2, 16));
  const std::uint64_t version = book.version();
  book.expire(first - 1ns);
  EXPECT_EQ(book.version(), version);
  book.expire(first);
  EXPECT_GT(book.version(), version);
  EXPECT_TRUE(book.client_prices().empty());
  EXPECT_EQ(book.link_prices().size(), 2u) << "the link's was repeated";
  book.expire(book.next_expiry());
  EXPECT_EQ(book.link_prices().size(), 1u);
  EXPECT_EQ(book.next_expiry(), kNever) << "this daemon's own prices last until it changes them";
  expect_dollars(cost({2}), 2);
  EXPECT_FALSE(book.hear(now, link_price(1, 2, 2, 16))) << "the numbers are remembered";
}

TEST_F(PriceBookTest, ANewViewStartsFromNothing) {
  set_own_link(1, 2);
  book.hear(now, link_price(1, 2, 7, 16));
  book.hear(now, client_price(2, "news", 7, 16));
  const std::uint64_t version = book.version();
  book.start_view(view(2));
  EXPECT_TRUE(all_free());
  EXPECT_GT(book.version(), version);
  EXPECT_EQ(book.next_expiry(), kNever);
  EXPECT_TRUE(book.hear(now, link_price(1, 2, 1, 16)));
  EXPECT_TRUE(book.hear(now, client_price(2, "news", 1, 16)));
}

TEST_F(PriceBookTest, NamesWithAPriceAreBounded) {
  for (std::size_t i = 0; i < kClientPricesMax; ++i) {
    ASSERT_TRUE(book.hear(now, client_price(2, fmt::format("g{}", i), 1, 16)));
  }
  EXPECT_FALSE(book.hear(now, client_price(2, "one-too-many", 1, 16)));
  EXPECT_TRUE(book.hear(now, client_price(2, "g0", 2, 32))) << "those that are known go on";
  EXPECT_EQ(book.client_prices().size(), kClientPricesMax);
}

TEST_F(PriceBookTest, NamesThatCostNothingAnyMoreMakeRoom) {
  std::uint64_t sequence = 0;
  for (std::size_t i = 0; i < 3 * kClientPricesMax; ++i) {
    const std::string name = fmt::format("g{}", i);
    ASSERT_TRUE(book.hear(now, client_price(2, name, ++sequence, 16))) << i;
    ASSERT_TRUE(book.hear(now, client_price(2, name, ++sequence, 0))) << i;
    // A copy that came another way.
    ASSERT_FALSE(book.hear(now, client_price(2, name, sequence - 1, 16))) << i;
  }
  EXPECT_FALSE(book.hear(now, client_price(2, "g0", 1, 16))) << "forgotten, but not what was before it";
  EXPECT_TRUE(book.hear(now, client_price(3, "g0", 1, 16))) << "another daemon counts for itself";
  EXPECT_EQ(book.client_prices().size(), 1u);
}

TEST_F(PriceBookTest, WhatWasHeardOfANameIsForgottenAfterAWhile) {
  ASSERT_TRUE(book.hear(now, client_price(2, "news", 7, 16)));
  ASSERT_TRUE(book.hear(now, client_price(2, "news", 8, 0)));
  ASSERT_NE(book.next_expiry(), kNever);
  book.expire(book.next_expiry() - 1ns);
  EXPECT_FALSE(book.hear(now, client_price(2, "news", 8, 16)));
  EXPECT_TRUE(book.hear(now, client_price(2, "weather", 6, 16))) << "another way took longer";
  now = book.next_expiry();
  book.expire(now);
  EXPECT_EQ(book.next_expiry(), kNever);
  EXPECT_FALSE(book.hear(now, client_price(2, "news", 8, 16)));
  EXPECT_FALSE(book.hear(now, client_price(2, "sports", 8, 16))) << "what is that old is no news";
  EXPECT_TRUE(book.hear(now, client_price(2, "news", 9, 16)));
  EXPECT_TRUE(book.hear(now, link_price(1, 2, 1, 16))) << "links are known for good";
}

TEST_F(PriceBookTest, FallsCountWhereTheyMatter) {
  const auto falls_by = [&](auto&& change) {
    const std::uint64_t before = book.falls();
    change();
    return book.falls() - before;
  };
  config.fee = 1;
  EXPECT_EQ(falls_by([&] { set_own_link(1, 3); }), 0u) << "a rise helps nobody";
  EXPECT_EQ(falls_by([&] {
              for (int i = 0; i < 100; ++i) set_own_link(1, i % 2 == 0 ? 2.6 : 3);
            }),
            0u)
      << "a packet or two less";
  EXPECT_EQ(falls_by([&] { set_own_link(1, 2.5); }), 1u) << "an eighth of four dollars";
  EXPECT_EQ(falls_by([&] { set_own_link(1, 2.2); }), 0u);
  EXPECT_EQ(falls_by([&] { set_own_link(1, 2.05); }), 1u) << "little by little";
  EXPECT_EQ(falls_by([&] { set_own_link(1, 0); }), 1u);
  EXPECT_EQ(falls_by([&] {
              set_own_link(1, 0.125);
              set_own_link(1, 0);
            }),
            0u)
      << "a packet waited for a moment";
  book.hear(now, link_price(1, 2, 1, 32));
  EXPECT_EQ(falls_by([&] { book.hear(now, link_price(1, 2, 2, 16)); }), 1u);
  EXPECT_EQ(falls_by([&] { book.expire(book.next_expiry()); }), 1u);
  EXPECT_EQ(falls_by([&] { book.start_view(view(2)); }), 1u) << "all is void";
}

TEST_F(PriceBookTest, LocalSetsMeetNoLink) {
  EXPECT_TRUE(book.is_local({}));
  EXPECT_TRUE(book.is_local(MemberSet::of(0)));
  EXPECT_FALSE(book.is_local(MemberSet::of(1)));
  EXPECT_FALSE(book.is_local(MemberSet::first(2)));
}

TEST_F(PriceBookTest, TheRoundTripIsThatOfTheFarthest) {
  EXPECT_EQ(book.round_trip(MemberSet::of(0)), 0us);
  EXPECT_EQ(book.round_trip(MemberSet::of(3)), 6000us);
  EXPECT_EQ(book.round_trip(MemberSet::first(4)), 21'000us);
}

TEST_F(PriceBookTest, TheRoundTripBeforeALinkIsThatOfWhoeverSendsOverIt) {
  book.start_view({{2, "beta"}, view(1).members, view(1).edges, 1, 1});
  EXPECT_EQ(book.round_trip_before(2), 5000us) << "delta's packets to gamma come here, gamma's own do not";
  EXPECT_EQ(book.round_trip_before(3), 20'000us);
  EXPECT_EQ(book.round_trip_before(0), 20'000us);
  book.start_view(view(3));
  EXPECT_EQ(book.round_trip_before(1), 0us) << "all others are behind it";
}

TEST_F(PriceBookTest, TheDelayIsTheLongestOfAllThatIsPaid) {
  EXPECT_EQ(quote({2}).delay, 0ms);
  set_own_link(1, 2);
  EXPECT_EQ(quote({2}).delay, 10ms);
  book.hear(now, link_price(1, 2, 1, 16, 200));
  book.hear(now, link_price(1, 3, 1, 16, 4000));
  EXPECT_EQ(quote({2}).delay, 50ms) << "in quarters of a millisecond";
  EXPECT_EQ(quote({2, 3}).delay, 1s);
  book.hear(now, link_price(1, 2, 2, 16, 100));
  EXPECT_EQ(quote({2}).delay, 25ms) << "though the price is the same";
}

TEST_F(PriceBookTest, PartsSayWhatCostsSomethingAndNotHowMuch) {
  EXPECT_EQ(quote({2}).parts, 0u);
  set_own_link(1, 2);
  const std::uint64_t own = quote({2}).parts;
  EXPECT_NE(own, 0u);
  set_own_link(1, 3);
  EXPECT_EQ(quote({2}).parts, own);
  book.hear(now, link_price(1, 2, 1, 16));
  const std::uint64_t both = quote({2}).parts;
  EXPECT_NE(both, own);
  EXPECT_EQ(quote({3}).parts, own);
  set_own_link(1, 0);
  EXPECT_NE(quote({2}).parts, both);
  EXPECT_NE(quote({2}).parts, own) << "another link";
  const std::uint64_t link = quote({2}, {"news"}).parts;
  book.hear(now, client_price(2, "news", 1, 16));
  const std::uint64_t client = quote({2}, {"news"}).parts;
  EXPECT_NE(client, link);
  book.hear(now, client_price(2, "news", 2, 64));
  EXPECT_EQ(quote({2}, {"news"}).parts, client);
}

TEST_F(PriceBookTest, KnowsWhenSomethingChangedLast) {
  set_own_link(1, 2);
  EXPECT_EQ(book.changed_at(), now);
  const Time first = now;
  now += 10ms;
  set_own_link(1, 2);
  book.hear(now, link_price(1, 2, 1, 0));
  EXPECT_EQ(book.changed_at(), first) << "nothing has";
  book.hear(now, link_price(1, 2, 2, 16));
  EXPECT_EQ(book.changed_at(), now);
}

}  // namespace
}  // namespace spindled
