#include <gtest/gtest.h>

#include "daemon/base/random.h"
#include "daemon/overlay/link_state_database.h"
#include "daemon/overlay/link_weight.h"

namespace spindled {
namespace {

using Outcome = LinkStateDatabase::Outcome;

constexpr Duration kRefresh = 30s;
constexpr Time kStart{1h};

AdvertisedLink link_to(const std::string& name, std::uint64_t incarnation = 1, std::uint32_t weight = 1) {
  return {name, incarnation, weight, 0, 0};
}

LinkState state_of(const std::string& name, std::uint64_t incarnation, std::uint64_t sequence,
                   std::vector<AdvertisedLink> links = {}) {
  return {{name, incarnation}, sequence, std::move(links), false};
}

/// Of daemon "m", incarnation 1, which takes part.
struct Database : LinkStateDatabase {
  Database() : LinkStateDatabase({"m", 1}, kRefresh) { own().set_stays_out(kStart, false); }
};

/// Sets and advertises links.
void advertise(LinkStateDatabase& database, std::vector<AdvertisedLink> links) {
  static Time now = kStart;
  database.own().set_links(now, std::move(links));
  now += kAdvertisementSpacing;
  database.own().take_due(now);
}

std::size_t count_lives(const LinkStateDatabase& database, const std::string& name) {
  std::size_t count = 0;
  for (const auto& [id, entry] : database.entries()) count += id.name == name ? 1 : 0;
  return count;
}

std::vector<std::string> names(const Topology& topology) {
  std::vector<std::string> result;
  for (const DaemonId& member : topology.members) result.push_back(member.name);
  return result;
}

TEST(LinkStateDatabase, KeepsTheLatestOfEachLife) {
  Database database;
  EXPECT_EQ(database.accept(kStart, state_of("a", 5, 3)), Outcome::changed);
  EXPECT_EQ(database.accept(kStart, state_of("a", 5, 3)), Outcome::old);
  EXPECT_EQ(database.accept(kStart, state_of("a", 5, 2)), Outcome::old);
  EXPECT_EQ(database.accept(kStart, state_of("a", 5, 4)), Outcome::refreshed);
  EXPECT_EQ(database.accept(kStart, state_of("a", 5, 5, {link_to("m")})), Outcome::changed);
  EXPECT_EQ(database.accept(kStart, state_of("a", 4, 99)), Outcome::changed)
      << "another life, who knows which is later";
  EXPECT_EQ(database.accept(kStart, state_of("a", 6, 1)), Outcome::changed);
  EXPECT_EQ(database.entries().at({"a", 5}).state, state_of("a", 5, 5, {link_to("m")}));
  EXPECT_EQ(database.entries().at({"a", 4}).state, state_of("a", 4, 99));
  EXPECT_EQ(database.entries().at({"a", 6}).state, state_of("a", 6, 1));
}

TEST(LinkStateDatabase, KeepsAFewLivesOfAName) {
  Database database;
  for (std::uint64_t life = 1; life <= kLivesMax; ++life) {
    EXPECT_EQ(database.accept(kStart, state_of("a", life, 10 + life)), Outcome::changed);
  }
  EXPECT_EQ(database.accept(kStart, state_of("a", 99, 5)), Outcome::old) << "of those the least recent";
  EXPECT_EQ(database.accept(kStart, state_of("a", 98, 12)), Outcome::changed);
  EXPECT_EQ(count_lives(database, "a"), kLivesMax);
  EXPECT_FALSE(database.entries().contains({"a", 1}));
  EXPECT_EQ(database.accept(kStart, state_of("a", 1, 11)), Outcome::old) << "no two daemons send it to and fro";
}

TEST(LinkStateDatabase, SeesToItThatItsLifeIsAmongThem) {
  Database database;
  advertise(database, {});
  for (std::uint64_t life = 2; life <= kLivesMax; ++life) database.accept(kStart, state_of("m", life, 10 + life));
  EXPECT_LT(database.own().published().sequence, 10u) << "there is room for it beside them";
  database.accept(kStart, state_of("m", 50, 50));
  advertise(database, {});
  EXPECT_EQ(database.own().published().sequence, 51u);
  database.accept(kStart, state_of("m", 50, 60));
  for (std::uint64_t life = 2; life <= kLivesMax; ++life) database.accept(kStart, state_of("m", life, 60 + life));
  advertise(database, {link_to("a")});
  EXPECT_EQ(database.own().published().sequence, 52u) << "those that live as well do not drive each other up at once";
  database.accept(kStart + 10s, state_of("m", 50, 70));
  advertise(database, {});
  EXPECT_EQ(database.own().published().sequence, 71u);
}

TEST(LinkStateDatabase, FollowsNoNumberThatOthersWouldNotBelieve) {
  Database database, other;
  advertise(database, {});
  other.accept(kStart, database.own().published());
  const std::uint64_t told = database.own().published().sequence;
  // Made up: each alone is as far as others believe, and both together are not.
  for (int i = 0; i < 2; ++i) {
    database.accept(kStart, state_of("m", 1, database.own().published().sequence + kSequenceJumpMax));
    database.accept(kStart, state_of("m", 1, database.own().published().sequence + kSequenceJumpMax / 2 - 1));
  }
  advertise(database, {link_to("a")});
  EXPECT_GT(database.own().published().sequence, told + 1);
  LinkState state = database.own().published();
  EXPECT_EQ(LinkStateDatabase({"b", 1}, kRefresh).accept(kStart, state), Outcome::changed);
  EXPECT_LE(state.sequence - told, kSequenceJumpMax);
}

TEST(LinkStateDatabase, GoesAboveLivesThatWereMadeUp) {
  Database database;
  advertise(database, {});
  for (std::uint64_t life = 2; life <= kLivesMax + 1; ++life) {
    database.accept(kStart, state_of("m", life, (std::uint64_t{1} << 40) + life));
  }
  advertise(database, {});
  EXPECT_GT(database.own().published().sequence, (std::uint64_t{1} << 40) + kLivesMax + 1);
}

TEST(LinkStateDatabase, ADelayAloneIsNoChange) {
  Database database;
  database.accept(kStart, state_of("a", 1, 1, {{"m", 1, 4, 100, 0}}));
  EXPECT_EQ(database.accept(kStart, state_of("a", 1, 2, {{"m", 1, 4, 120, 9}})), Outcome::refreshed);
  EXPECT_EQ(database.accept(kStart, state_of("a", 1, 3, {{"m", 1, 5, 120, 9}})), Outcome::changed);
  EXPECT_EQ(database.accept(kStart, state_of("a", 1, 4, {{"m", 2, 5, 120, 9}})), Outcome::changed);
}

TEST(LinkStateDatabase, ForgetsWhatIsNotRefreshed) {
  Database database;
  database.accept(kStart, state_of("a", 1, 1));
  database.accept(kStart, state_of("b", 1, 1));
  database.accept(kStart + kRefresh, state_of("b", 1, 2));
  EXPECT_FALSE(database.expire(kStart + 3 * kRefresh - 1ns));
  EXPECT_TRUE(database.expire(kStart + 3 * kRefresh));
  EXPECT_EQ(database.entries().count({"a", 1}), 0u);
  EXPECT_EQ(database.entries().count({"b", 1}), 1u);
  EXPECT_TRUE(database.expire(kStart + 4 * kRefresh));
}

TEST(LinkStateDatabase, HasRoomForSoManyDaemons) {
  Database database;
  for (std::size_t i = 0; i < kLinkStatesMax; ++i) {
    ASSERT_EQ(database.accept(kStart, state_of("d" + std::to_string(i), 1, 1)), Outcome::changed);
  }
  EXPECT_EQ(database.accept(kStart, state_of("one.more", 1, 1)), Outcome::full);
  EXPECT_EQ(database.accept(kStart, state_of("d0", 1, 2)), Outcome::refreshed);
}

TEST(LinkStateDatabase, TopsAnEchoOfItself) {
  LinkStateDatabase database({"m", 1}, kRefresh);
  database.own().set_links(kStart, {});
  ASSERT_NE(database.own().take_due(kStart), nullptr);
  EXPECT_EQ(database.accept(kStart, state_of("m", 1, 1)), Outcome::own);
  EXPECT_EQ(database.own().next_deadline(), kStart + kRefresh);
  EXPECT_EQ(database.accept(kStart, state_of("m", 1, 70)), Outcome::own);
  const LinkState* state = database.own().take_due(kStart + kAdvertisementSpacing);
  ASSERT_NE(state, nullptr);
  EXPECT_EQ(state->sequence, 71u);
}

TEST(LinkStateDatabase, FillsInWhatTheOtherSideLacks) {
  LinkStateDatabase a({"a", 1}, kRefresh);
  LinkStateDatabase b({"b", 1}, kRefresh);
  for (LinkStateDatabase* database : {&a, &b}) {
    database->own().set_links(kStart, {});
    database->own().take_due(kStart);
  }
  a.accept(kStart, state_of("both", 1, 1));
  b.accept(kStart, state_of("both", 1, 1));
  a.accept(kStart, state_of("newer.at.a", 1, 2));
  b.accept(kStart, state_of("newer.at.a", 1, 1));
  a.accept(kStart, state_of("other.life.at.b", 1, 9));
  b.accept(kStart, state_of("other.life.at.b", 2, 1));
  b.accept(kStart, state_of("only.at.b", 1, 1));

  std::vector<std::string> a_sends;
  for (const LinkState& state : a.lacking(b.summary())) a_sends.push_back(state.origin.name);
  EXPECT_EQ(a_sends, (std::vector<std::string>{"a", "newer.at.a", "other.life.at.b"}));
  for (const LinkState& state : a.lacking(b.summary())) b.accept(kStart, state);
  for (const LinkState& state : b.lacking(a.summary())) a.accept(kStart, state);
  EXPECT_TRUE(a.lacking(b.summary()).empty());
  EXPECT_TRUE(b.lacking(a.summary()).empty());
  for (const LinkStateDatabase* each : {&a, &b}) EXPECT_EQ(count_lives(*each, "other.life.at.b"), 2u);
}

TEST(LinkStateDatabase, SummariesAreSortedWithTheOwnStateInPlace) {
  LinkStateDatabase database({"m", 1}, kRefresh);
  EXPECT_TRUE(database.summary().entries.empty()) << "nothing was advertised yet";
  database.own().set_links(kStart, {});
  database.own().take_due(kStart);
  database.accept(kStart, state_of("z", 1, 1));
  database.accept(kStart, state_of("a", 1, 1));
  const LinkStateSummary summary = database.summary();
  ASSERT_EQ(summary.entries.size(), 3u);
  EXPECT_EQ(summary.entries[1].origin.name, "m");
  EXPECT_EQ(summary.entries[1].sequence, 1u);
}

TEST(Reachable, StartsWithTheDaemonItself) {
  const Topology topology = Database().reachable();
  EXPECT_EQ(topology.members, (std::vector<DaemonId>{{"m", 1}}));
  EXPECT_TRUE(topology.edges.empty());
}

TEST(Reachable, NeedsBothEndsOfALink) {
  Database database;
  advertise(database, {link_to("a", 1, 3)});
  EXPECT_EQ(names(database.reachable()), (std::vector<std::string>{"m"}));
  database.accept(kStart, state_of("a", 1, 1, {link_to("z")}));
  database.accept(kStart, state_of("z", 1, 1, {link_to("a")}));
  EXPECT_EQ(names(database.reachable()), (std::vector<std::string>{"m"})) << "a does not say that it sees m";
  database.accept(kStart, state_of("a", 1, 2, {{"m", 1, 7, 50, 0}, link_to("z")}));
  const Topology topology = database.reachable();
  EXPECT_EQ(names(topology), (std::vector<std::string>{"a", "m", "z"}));
  EXPECT_EQ(topology.edges, (std::vector<Edge>{{0, 1, 7, 50}, {0, 2, 1, 0}})) << "the larger weight and delay";
  database.own().set_links(kStart, {});
  EXPECT_EQ(names(database.reachable()), (std::vector<std::string>{"m"})) << "its own loss shows at once";
}

TEST(Reachable, NeedsThePresentIncarnations) {
  Database database;
  advertise(database, {link_to("a", 2)});
  database.accept(kStart, state_of("a", 1, 1, {link_to("m")}));
  EXPECT_EQ(database.reachable().members.size(), 1u) << "the link is to a later life of a";
  database.accept(kStart, state_of("a", 2, 1, {link_to("m", 9)}));
  EXPECT_EQ(database.reachable().members.size(), 1u) << "a sees another life of m";
  database.accept(kStart, state_of("a", 2, 2, {link_to("m", 1)}));
  EXPECT_EQ(database.reachable().members, (std::vector<DaemonId>{{"a", 2}, {"m", 1}}));
}

TEST(Reachable, CountsAnOwnLinkOnceItIsAdvertised) {
  Database database;
  database.accept(kStart, state_of("a", 1, 1, {link_to("m")}));
  advertise(database, {});
  database.own().set_links(kStart, {link_to("a")});
  EXPECT_EQ(database.reachable().members.size(), 1u)
      << "a view with a would be a loss to all who are yet to hear of it";
  advertise(database, {link_to("a")});
  EXPECT_EQ(database.reachable().members.size(), 2u);
}

TEST(Reachable, IsNobodyWhileItStaysOut) {
  Database database;
  database.accept(kStart, state_of("a", 1, 1, {link_to("m")}));
  advertise(database, {link_to("a")});
  EXPECT_EQ(database.reachable().members.size(), 2u);
  database.own().set_stays_out(kStart, true);
  EXPECT_EQ(database.reachable().members.size(), 1u);
  advertise(database, {link_to("a")});
  EXPECT_TRUE(database.own().published().links.empty());
  EXPECT_TRUE(database.own().published().stays_out);
}

TEST(Reachable, HasOneOfEachNameTheSameForAll) {
  // a to d in a line, with two daemons b, at a and at d: b's larger incarnation counts, and nobody is reached through
  // the other.
  const std::vector<LinkState> states{state_of("a", 1, 1, {link_to("b", 1), link_to("c")}),
                                      state_of("b", 1, 1, {link_to("a"), link_to("e")}),
                                      state_of("b", 2, 1, {link_to("d")}),
                                      state_of("c", 1, 1, {link_to("a"), link_to("d")}),
                                      state_of("d", 1, 1, {link_to("b", 2), link_to("c")}),
                                      state_of("e", 1, 1, {link_to("b", 1)})};
  MutualLinks links;
  for (const LinkState& state : states) links.set(state);
  const std::vector<DaemonId> all{{"a", 1}, {"b", 2}, {"c", 1}, {"d", 1}};
  for (const DaemonId& each : all) EXPECT_EQ(links.reachable_from(each).members, all) << each.name;
  EXPECT_EQ(links.namesake_of({"b", 1}, {{"a", 1}, {"e", 1}}), (DaemonId{"b", 2}));
  EXPECT_EQ(links.namesake_of({"b", 2}, {{"d", 1}}), (DaemonId{"b", 1}));
  EXPECT_EQ(links.namesake_of({"b", 2}, {{"e", 1}}), (DaemonId{"b", 1}));
  EXPECT_EQ(links.namesake_of({"a", 1}, {{"b", 1}}), std::nullopt);
  links.set(state_of("a", 1, 2, {link_to("c")}));
  EXPECT_EQ(links.namesake_of({"b", 2}, {{"d", 1}}), std::nullopt) << "nobody that is reached has a link to it";
}

/// Whatever one daemon knows, all that know the same see the same.
TEST(Reachable, IsTheSameForAllWhoAreInIt) {
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    constexpr std::size_t kCount = 12;
    std::vector<std::vector<AdvertisedLink>> links(kCount);
    const auto name = [](std::size_t i) { return std::string(1, static_cast<char>('a' + i)); };
    for (std::size_t i = 0; i < kCount; ++i) {
      for (std::size_t j = 0; j < kCount; ++j) {
        if (i != j && random.chance(0.3)) links[i].push_back(link_to(name(j), 1, 1 + random.below(4) % 4));
      }
    }
    std::vector<Topology> seen;
    for (std::size_t i = 0; i < kCount; ++i) {
      LinkStateDatabase database({name(i), 1}, kRefresh);
      for (std::size_t j = 0; j < kCount; ++j) {
        if (j != i) database.accept(kStart, state_of(name(j), 1, 1, links[j]));
      }
      database.own().set_stays_out(kStart, false);
      advertise(database, links[i]);
      seen.push_back(database.reachable());
    }
    for (std::size_t i = 0; i < kCount; ++i) {
      for (const DaemonId& member : seen[i].members) {
        EXPECT_EQ(seen[static_cast<std::size_t>(member.name[0] - 'a')], seen[i]);
      }
    }
  }
}

TEST(OwnAdvertisement, GathersChangesBetweenTwoAdvertisements) {
  OwnAdvertisement own({"m", 1}, kRefresh);
  EXPECT_EQ(own.next_deadline(), kNever);
  own.set_stays_out(kStart, false);
  own.set_links(kStart, {});
  const LinkState* first = own.take_due(kStart);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->sequence, 1u);
  own.set_links(kStart + 1ms, {link_to("a")});
  own.set_links(kStart + 2ms, {link_to("a"), link_to("b")});
  EXPECT_EQ(own.take_due(kStart + 2ms), nullptr);
  EXPECT_EQ(own.next_deadline(), kStart + kAdvertisementSpacing);
  const LinkState* second = own.take_due(kStart + kAdvertisementSpacing);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->sequence, 2u);
  EXPECT_EQ(second->links.size(), 2u);
  EXPECT_EQ(own.take_due(kStart + 2 * kAdvertisementSpacing), nullptr);
}

TEST(OwnAdvertisement, IsRepeated) {
  OwnAdvertisement own({"m", 1}, kRefresh);
  own.set_links(kStart, {});
  own.take_due(kStart);
  own.set_links(kStart + 1s, {});
  EXPECT_EQ(own.next_deadline(), kStart + kRefresh);
  ASSERT_NE(own.take_due(kStart + kRefresh), nullptr);
  EXPECT_EQ(own.next_deadline(), kStart + 2 * kRefresh);
}

TEST(OwnAdvertisement, AlwaysTellsOfALoss) {
  OwnAdvertisement own({"m", 1}, kRefresh);
  own.set_stays_out(kStart, false);
  own.set_links(kStart, {link_to("a"), link_to("b")});
  own.take_due(kStart);
  const Time later = kStart + 1s;
  own.set_links(later, {link_to("a", 1, 2), link_to("b")});
  own.take_due(later);
  // The link to b goes down and is back before the next advertisement may leave.
  own.neighbour_lost(later + 1ms, {"b", 1});
  own.set_links(later + 1ms, {link_to("a", 1, 2)});
  own.set_links(later + 2ms, {link_to("a", 1, 2), link_to("b")});
  EXPECT_EQ(own.current().links.size(), 1u);
  const LinkState* lost = own.take_due(later + kAdvertisementSpacing);
  ASSERT_NE(lost, nullptr);
  EXPECT_EQ(lost->links, (std::vector<AdvertisedLink>{link_to("a", 1, 2)}));
  const LinkState* back = own.take_due(later + 2 * kAdvertisementSpacing);
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(back->links.size(), 2u);
  EXPECT_EQ(own.take_due(later + 3 * kAdvertisementSpacing), nullptr);
}

TEST(LinkWeight, IsTheConfiguredOneWhereThereIsOne) {
  LinkWeight weight(17);
  EXPECT_EQ(weight.value(), 17u);
  EXPECT_FALSE(weight.update(80ms));
  EXPECT_EQ(weight.value(), 17u);
}

TEST(LinkWeight, GrowsWithTheRoundTrip) {
  std::uint32_t before = 0;
  for (const Duration round_trip : std::initializer_list<Duration>{100us, 1ms, 3ms, 10ms, 30ms, 100ms, 300ms}) {
    LinkWeight weight;
    weight.update(round_trip);
    EXPECT_GT(weight.value(), before);
    before = weight.value();
    // In proportion: a weight stands for half a millisecond, give or take a step of half as much again.
    EXPECT_LE(std::chrono::microseconds(500) * (weight.value() - 1), round_trip);
    EXPECT_GE(std::chrono::microseconds(500) * weight.value() * 3 / 2, round_trip);
  }
  LinkWeight longest;
  longest.update(24h);
  EXPECT_GT(longest.value(), before);
}

TEST(LinkWeight, NoiseChangesNothing) {
  Random random(1);
  for (const std::int64_t middle_us : {400, 510, 760, 5'000, 50'000}) {
    LinkWeight weight;
    weight.update(std::chrono::microseconds(middle_us));
    for (int i = 0; i < 1000; ++i) {
      const auto noise = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(middle_us) / 5));
      EXPECT_FALSE(weight.update(std::chrono::microseconds(middle_us - middle_us / 10 + noise)));
    }
  }
}

TEST(LinkWeight, FollowsTheShortestRoundTripOfLately) {
  LinkWeight weight;
  weight.update(400us);
  for (int i = 0; i < LinkWeight::kWindow - 1; ++i) EXPECT_FALSE(weight.update(5ms)) << "something waits on the link";
  int changes = 0;
  for (int i = 0; i < LinkWeight::kWindow + 1; ++i) changes += weight.update(5ms) ? 1 : 0;
  EXPECT_EQ(changes, 1) << "the path has become longer";
  EXPECT_GT(weight.value(), 1u);
  EXPECT_TRUE(weight.update(400us));
  EXPECT_EQ(weight.value(), 1u);
}

}  // namespace
}  // namespace spindled
