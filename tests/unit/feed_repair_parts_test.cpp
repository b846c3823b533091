// The small parts of the repair of feeds: where requests are steered, what it may take, and when beats come.
#include <gmock/gmock.h>

#include "daemon/feed/beats.h"
#include "daemon/feed/feed_sender.h"
#include "daemon/feed/feed_table.h"
#include "daemon/feed/repair_limits.h"
#include "daemon/feed/replier_link.h"
#include "daemon/feed/served_naks.h"

namespace spindled {
namespace {

constexpr LinkId kA{1}, kB{2}, kC{3};
const Time kStart{1h};

TEST(ReplierLink, IsTheNearest) {
  ReplierLink link;
  EXPECT_FALSE(link.choose(kStart, {}, 100ms));
  const ReplierLink::Candidate candidates[] = {{kA, 20ms}, {kB, 10ms}, {kC, 30ms}};
  EXPECT_EQ(link.choose(kStart, candidates, 100ms), kB);
  EXPECT_EQ(link.best_of(std::span(candidates).first(1), 100ms), kA);
}

TEST(ReplierLink, IsNotOneThatLosesMuch) {
  ReplierLink link;
  link.packets_sent(500);
  link.asked(kB, 100);
  const ReplierLink::Candidate candidates[] = {{kA, 20ms}, {kB, 10ms}};
  EXPECT_EQ(link.choose(kStart, candidates, 100ms), kA);
}

TEST(ReplierLink, ChangesWhereAnotherHasBeenBetterForASecond) {
  ReplierLink link;
  const ReplierLink::Candidate before[] = {{kA, 10ms}, {kB, 20ms}};
  const ReplierLink::Candidate little_better[] = {{kA, 10ms}, {kB, 8ms}};
  const ReplierLink::Candidate better[] = {{kA, 10ms}, {kB, 7ms}};
  link.choose(kStart, before, 0ms);
  EXPECT_EQ(link.choose(kStart + 1s, little_better, 0ms), kA);
  EXPECT_EQ(link.choose(kStart + 9s, little_better, 0ms), kA);
  EXPECT_EQ(link.choose(kStart + 10s, better, 0ms), kA);
  EXPECT_EQ(link.choose(kStart + 10s + 500ms, before, 0ms), kA) << "it was for a moment only";
  EXPECT_EQ(link.choose(kStart + 11s, better, 0ms), kA);
  EXPECT_EQ(link.choose(kStart + 12s, better, 0ms), kB);
}

TEST(ReplierLink, ChangesAtOnceWhereItIsGone) {
  ReplierLink link;
  const ReplierLink::Candidate both[] = {{kA, 10ms}, {kB, 20ms}};
  EXPECT_EQ(link.choose(kStart, both, 0ms), kA);
  EXPECT_EQ(link.choose(kStart, std::span(both).last(1), 0ms), kB);
}

TEST(ReplierLink, ForgetsOldLosses) {
  ReplierLink link;
  const ReplierLink::Candidate both[] = {{kA, 10ms}, {kB, 20ms}};
  link.asked(kA, 500);
  EXPECT_EQ(link.choose(kStart, both, 100ms), kB);
  for (int i = 0; i < 20; ++i) link.packets_sent(1'024);
  link.choose(kStart + 1s, both, 100ms);
  EXPECT_EQ(link.choose(kStart + 2s, both, 100ms), kA);
}

TEST(RepairBudget, IsSomePacketsAndAQuarterOfWhatWasFed) {
  for (const std::size_t packet : {1'400u, 8'900u}) {
    RepairBudget budget(packet);
    int taken = 0;
    while (budget.take(kStart, packet)) ++taken;
    EXPECT_EQ(taken, 16);
    budget.fed(100 * packet);
    while (budget.take(kStart, packet)) ++taken;
    EXPECT_EQ(taken, 16 + 25);
  }
}

TEST(RepairBudget, ForgetsWhatIsLongAgo) {
  RepairBudget budget(1'400);
  while (budget.take(kStart, 1'400)) {
  }
  int taken = 0;
  while (budget.take(kStart + 10s, 1'400)) ++taken;
  EXPECT_EQ(taken, 15);
  RepairBudget idle(1'400);
  idle.fed(1u << 30);
  taken = 0;
  while (idle.take(kStart + 60s, 1'400)) ++taken;
  EXPECT_EQ(taken, 16);
}

TEST(NakLimit, IsARateWithABurst) {
  NakLimit limit;
  int taken = 0;
  for (int i = 0; i < 5'000; ++i) taken += limit.take(kStart) ? 1 : 0;
  EXPECT_EQ(taken, 1'000);
  for (int i = 0; i < 5'000; ++i) taken += limit.take(kStart + 10ms) ? 1 : 0;
  EXPECT_EQ(taken, 1'100);
}

TEST(RecentRepairs, CoverThoseWhoHaveThem) {
  RecentRepairs recent;
  recent.sent(kStart, 5, MemberSet::first(4));
  EXPECT_TRUE(recent.covers(kStart + 10ms, 5, MemberSet::of(2), 10ms, false));
  EXPECT_FALSE(recent.covers(kStart + 11ms, 5, MemberSet::of(2), 10ms, false)) << "too long ago";
  EXPECT_FALSE(recent.covers(kStart, 6, MemberSet::of(2), 10ms, false));
  EXPECT_FALSE(recent.covers(kStart, 5, MemberSet::of(9), 10ms, true)) << "it was sent for others";
  recent.received(kStart, 5, MemberSet::of(1));
  EXPECT_TRUE(recent.covers(kStart, 5, MemberSet::of(9), 10ms, true));
  EXPECT_FALSE(recent.covers(kStart, 5, MemberSet::of(9), 10ms, false));
  for (std::uint64_t i = 100; i < 100 + RecentRepairs::kMax; ++i) recent.sent(kStart, i, MemberSet::of(1));
  EXPECT_FALSE(recent.covers(kStart, 5, MemberSet::of(1), 10ms, true)) << "forgotten for later ones";
}

TEST(MeanRoundTrip, IsThatOfTheLastLooks) {
  MeanRoundTrip mean;
  EXPECT_EQ(mean.mean(), Duration::zero());
  mean.look(10ms);
  EXPECT_EQ(mean.mean(), 10ms);
  mean.look(30ms);
  EXPECT_EQ(mean.mean(), 20ms);
  for (int i = 0; i < 200; ++i) mean.look(i % 2 == 0 ? 40ms : 60ms);
  EXPECT_NEAR(to_seconds(mean.mean()), 0.05, 0.003) << "what was before is forgotten";
}

TEST(FeedLinks, AddUpTheMeanRoundTripsOfAWay) {
  FeedLinks links(1'400);
  EXPECT_EQ(links.way_with(0, kA), FeedNak::kWayUnknown) << "nobody has measured it";
  links.set_round_trip(kA, 20ms);
  links.set_round_trip(kA, 30ms);
  EXPECT_EQ(links.way_with(0, kA), 25'000u);
  EXPECT_EQ(links.way_with(7, kA), 25'007u);
  EXPECT_EQ(links.way_with(FeedNak::kWayUnknown, kA), FeedNak::kWayUnknown) << "another one is not known";
  EXPECT_EQ(links.way_with(FeedNak::kWayUnknown - 1, kA), FeedNak::kWayUnknown) << "more than there can be";
  EXPECT_EQ(links.way_with(7, kB), FeedNak::kWayUnknown);
}

FeedNak nak_of(MemberIndex reporter, std::uint32_t first) {
  FeedNak nak{{1, 0, 7}, FeedNak::kServed, 1, 32, reporter, 100, {}, first, {}};
  nak.bits.insert(0);
  return nak;
}

TEST(ServedNaks, TheFirstGoesAtOnceAndOthersAreMerged) {
  ServedNaks naks;
  EXPECT_EQ(naks.add(kStart, nak_of(1, 10)).size(), 1u);
  EXPECT_EQ(naks.next_at(), kNever);
  EXPECT_TRUE(naks.add(kStart + 1ms, nak_of(1, 20)).empty());
  EXPECT_TRUE(naks.add(kStart + 2ms, nak_of(2, 20)).empty());
  EXPECT_TRUE(naks.add(kStart + 3ms, nak_of(1, 25)).empty());
  EXPECT_TRUE(naks.add(kStart + 3ms, nak_of(1, 5'000)).empty()) << "out of reach of the first one's bitmap";
  EXPECT_EQ(naks.next_at(), kStart + 5ms);
  const auto taken = naks.take(kStart + 5ms);
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].reporter, 1);
  EXPECT_EQ(taken[0].first, 20u);
  EXPECT_TRUE(taken[0].bits.contains(5));
  EXPECT_EQ(taken[0].bits.count(), 2u);
  EXPECT_EQ(taken[0].held_us, 100u + 4'000u);
  EXPECT_EQ(taken[1].held_us, 100u + 3'000u);
  EXPECT_TRUE(naks.add(kStart + 6ms, nak_of(3, 9)).empty()) << "5 ms since the last ones";
  EXPECT_EQ(naks.next_at(), kStart + 10ms);
}

TEST(ServedNaks, HaveRoomForSomeReporters) {
  ServedNaks naks;
  naks.add(kStart, nak_of(0, 1));
  for (MemberIndex i = 1; i < 50; ++i) naks.add(kStart, nak_of(i, 1));
  EXPECT_EQ(naks.take(kStart + 5ms).size(), ServedNaks::kReportersMax);
}

TEST(Beats, ComeLessAndLessOftenAndEnd) {
  Beats beats;
  EXPECT_EQ(beats.next_at(), kNever);
  beats.sent(kStart);
  std::vector<long> at_ms;
  while (beats.next_at() != kNever) {
    at_ms.push_back((beats.next_at() - kStart) / 1ms);
    beats.beaten(beats.next_at(), 1'200ms);
  }
  EXPECT_THAT(at_ms, ::testing::ElementsAre(2, 6, 14, 30, 62, 126, 254, 510, 1'010, 1'510));
}

TEST(FeedTable, ForgetsAFeedWhereItStands) {
  const auto routes = [](std::initializer_list<const char*> names) {
    View view;
    for (const char* name : names) view.members.push_back({name, 1});
    return FeedRoutes(view, {});
  };
  using View = FeedTable::View;
  FeedTable table;
  const auto left = [](Feed&) {};
  table.install(routes({"b", "c"}), left, left);
  Feed* b = table.add({{"b", 1}, 7}, 0, 100, kStart);
  Feed* c = table.add({{"c", 1}, 7}, 1, 100, kStart);
  Feed* second = table.add({{"b", 1}, 8}, 0, 100, kStart);
  ASSERT_EQ(table.find(View::installed, 1, 7), c);
  table.wake(*c, kStart);
  // Where c stood stands b now, when c is forgotten.
  table.install(routes({"a", "b"}), left, left);
  EXPECT_EQ(table.find(View::installed, 1, 7), b);
  EXPECT_EQ(table.find(View::former, 0, 7), b);
  EXPECT_EQ(table.find(View::former, 1, 7), nullptr);
  EXPECT_EQ(table.take_due(kStart), nullptr);
  Feed* later = table.add({{"b", 1}, 9}, 1, 100, kStart);
  EXPECT_EQ(table.find(View::former, 1, 9), nullptr);
  table.remove(*later);
  table.remove(*b);
  EXPECT_EQ(table.find(View::installed, 1, 7), nullptr);
  EXPECT_EQ(table.find(View::former, 0, 7), nullptr);
  EXPECT_EQ(table.find(View::installed, 1, 8), second);
  EXPECT_EQ(table.find(View::former, 0, 8), second);
  table.install(routes({"a", "b"}), left, left);
  table.remove(*second);
  EXPECT_EQ(table.size(), 0u);
  for (const View view : {View::installed, View::former}) EXPECT_EQ(table.find(view, 1, 8), nullptr);
}

}  // namespace
}  // namespace spindled
