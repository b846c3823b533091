// What is missing of a feed, and when it is asked for.
#include "daemon/feed/gaps.h"

#include <gmock/gmock.h>

#include <deque>
#include <set>

#include "daemon/base/random.h"

namespace spindled {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint64_t kBase = (std::uint64_t{1} << 32) + 0xfffffff0;  // the lowest 32 bits wrap soon
const Time kStart{1h};

class GapsTest : public ::testing::Test {
 protected:
  GapsTest() { settle(gaps); }
  static void settle(Gaps& gaps) {
    gaps.settings().hop_round_trip = 8ms;
    gaps.near().expect(40ms, 0ms);
    gaps.far().expect(100ms, 100ms);
    gaps.packet(kStart, kBase, false);
  }
  static std::vector<std::uint64_t> sequences(const Gaps::Due& due) {
    std::vector<std::uint64_t> all;
    for (const Gaps::Ask& ask : due.asks) {
      ask.bits.for_each([&](std::size_t i) { all.push_back(ask.first + i - kBase); });
    }
    return all;
  }
  std::size_t open_all = 0;
  Gaps gaps{kBase, Time{}, open_all};
};

TEST_F(GapsTest, CountAfterThreeLaterPackets) {
  EXPECT_EQ(gaps.packet(kStart, kBase + 2, false), Gaps::Arrival::fresh);
  gaps.packet(kStart, kBase + 3, false);
  EXPECT_FALSE(gaps.is_due(kStart));
  gaps.packet(kStart, kBase + 4, false);
  ASSERT_TRUE(gaps.is_due(kStart));
  EXPECT_THAT(sequences(gaps.collect(kStart)), ElementsAre(1));
  EXPECT_EQ(gaps.next_at(), kStart + 40ms);
}

TEST_F(GapsTest, CountAfterAQuarterOfARoundTrip) {
  gaps.packet(kStart, kBase + 2, false);
  EXPECT_EQ(gaps.next_at(), kStart + 2ms);
  const Gaps::Due due = gaps.collect(kStart + 2ms);
  EXPECT_THAT(sequences(due), ElementsAre(1));
  EXPECT_EQ(due.asks[0].attempt, 1);
  EXPECT_EQ(due.asks[0].held, 2ms);
}

TEST_F(GapsTest, AreAskedForTwiceAsLateEachTimeFromTheThirdTryOn) {
  gaps.packet(kStart, kBase + 2, false);
  gaps.collect(kStart + 2ms);
  EXPECT_EQ(gaps.next_at(), kStart + 42ms);
  EXPECT_EQ(gaps.collect(kStart + 42ms).asks.at(0).attempt, 2);
  EXPECT_EQ(gaps.next_at(), kStart + 82ms);
  EXPECT_EQ(gaps.collect(kStart + 82ms).asks.at(0).attempt, 3);
  EXPECT_EQ(gaps.next_at(), kStart + 162ms);
  gaps.collect(kStart + 162ms);
  EXPECT_EQ(gaps.next_at(), kStart + 200ms) << "repairs are of use no longer";
  const Gaps::Due due = gaps.collect(kStart + 200ms);
  ASSERT_EQ(due.lost.size(), 1u);
  EXPECT_EQ(due.lost[0].first, kBase + 1);
  EXPECT_EQ(due.lost[0].why, GivenUp::too_late);
  EXPECT_EQ(gaps.next_at(), kNever);
  EXPECT_EQ(gaps.packet(kStart + 201ms, kBase + 1, true), Gaps::Arrival::late);
}

TEST_F(GapsTest, AreLostAfterSoManyTries) {
  gaps.settings().repair_for = 1h;
  gaps.packet(kStart, kBase + 2, false);
  std::vector<Gaps::Lost> lost;
  unsigned tries = 0;
  while (lost.empty()) {
    const Gaps::Due due = gaps.collect(gaps.next_at());
    tries += static_cast<unsigned>(due.asks.size());
    lost = due.lost;
  }
  EXPECT_EQ(tries, Gaps::kTriesMax);
  EXPECT_EQ(lost[0].why, GivenUp::unanswered);
}

TEST_F(GapsTest, RepairsTeachHowLongTheyTake) {
  for (std::uint64_t i = 2; i < 60; i += 2) {
    const Time now = kStart + i * 100ms;
    gaps.packet(now, kBase + i, false);
    gaps.collect(now + 2ms);
    EXPECT_EQ(gaps.packet(now + 10ms, kBase + i - 1, true), Gaps::Arrival::filled);
  }
  EXPECT_LT(gaps.near().patience(), 10ms) << "from when they were asked for";
  EXPECT_GE(gaps.near().patience(), 8ms);
  EXPECT_EQ(gaps.far().patience(), 100ms);
}

TEST_F(GapsTest, PacketsThatComeLateMakeItMorePatient) {
  for (std::uint64_t i = 2; i <= 6; ++i) gaps.packet(kStart, kBase + i, false);
  gaps.collect(kStart);
  EXPECT_EQ(gaps.packet(kStart, kBase + 1, false), Gaps::Arrival::filled);
  EXPECT_EQ(gaps.later_packets(), 6u);
  gaps.packet(kStart, kBase + 8, false);
  EXPECT_EQ(gaps.next_at(), kStart + 4ms);
  for (std::uint64_t i = 9; i <= 60; ++i) gaps.packet(kStart, kBase + i, false);
  gaps.collect(kStart);
  gaps.packet(kStart, kBase + 7, false);
  EXPECT_EQ(gaps.later_packets(), Gaps::kLaterPacketsMax);
}

TEST_F(GapsTest, OfTheUpstreamAreNotAskedForUntilASecondTryIsDue) {
  gaps.packet(kStart, kBase + 4, false);
  gaps.lack_too(kStart, kBase + 4, 2);
  EXPECT_THAT(sequences(gaps.collect(kStart + 2ms)), ElementsAre(1));
  EXPECT_EQ(gaps.open_before(kBase + 4), 3);
  gaps.packet(kStart + 3ms, kBase + 1, true);
  const Gaps::Due due = gaps.collect(kStart + 100ms);
  EXPECT_THAT(sequences(due), ElementsAre(2, 3));
  EXPECT_EQ(due.asks.at(0).attempt, 2);
}

TEST_F(GapsTest, BeatsShowThem) {
  gaps.beat(kStart, kBase + 3);
  gaps.beat(kStart + 1ms, kBase + 3);
  EXPECT_THAT(sequences(gaps.collect(kStart + 2ms)), ElementsAre(1, 2, 3));
  EXPECT_EQ(gaps.highest(), kBase + 3);
}

TEST_F(GapsTest, AreNoneBeforeThePacketThatItBeginsWith) {
  gaps.begin_with_next();
  EXPECT_EQ(gaps.packet(kStart, kBase + 100, false), Gaps::Arrival::fresh);
  EXPECT_EQ(gaps.open(), 0u);
  EXPECT_EQ(gaps.packet(kStart, kBase + 50, false), Gaps::Arrival::late);
  gaps.packet(kStart, kBase + 102, false);
  EXPECT_EQ(gaps.open(), 1u) << "it has begun";
  gaps.begin_with_next();
  gaps.beat(kStart, kBase + 200);
  EXPECT_EQ(gaps.open(), 1u);
  gaps.beat(kStart, kBase + 201);
  EXPECT_EQ(gaps.open(), 2u);
}

TEST_F(GapsTest, AreSeenBehindThePacketThatItBeginsWithThoughABeatHasToldOfThat) {
  gaps.beat(kStart, kBase + 2);
  gaps.begin_with_next();
  EXPECT_EQ(gaps.packet(kStart, kBase + 2, false), Gaps::Arrival::filled);
  gaps.beat(kStart, kBase + 3);
  EXPECT_TRUE(gaps.is_open(kBase + 3));
  gaps.beat(kStart, kBase + 4);
  gaps.begin_with_next();
  EXPECT_EQ(gaps.packet(kStart, kBase + 3, false), Gaps::Arrival::filled);
  gaps.beat(kStart, kBase + 5);
  EXPECT_FALSE(gaps.is_open(kBase + 5)) << "it was older than what is there, and it has not begun";
}

TEST_F(GapsTest, AreNotLostBeforeTheyMayHaveBeenOvertakenOnly) {
  gaps.settings().repair_for = 1ms;  // shorter than packets may be out of order: two
  gaps.packet(kStart, kBase + 2, false);
  gaps.packet(kStart + 1500us, kBase + 5, false);
  ASSERT_TRUE(gaps.is_due(kStart + 1500us));
  Gaps::Due due = gaps.collect(kStart + 1500us);
  EXPECT_THAT(due.lost, IsEmpty());
  EXPECT_THAT(sequences(due), Not(Contains(1))) << "a repair would come too late";
  EXPECT_EQ(gaps.packet(kStart + 1900us, kBase + 1, false), Gaps::Arrival::filled);
  due = gaps.collect(kStart + 4ms);
  ASSERT_EQ(due.lost.size(), 1u);
  EXPECT_EQ(due.lost[0].first, kBase + 3);
  EXPECT_EQ(due.lost[0].count, 2u);
}

TEST_F(GapsTest, AreGivenUpWhereTheyAreGone) {
  gaps.packet(kStart, kBase + 5, false);
  gaps.give_up(kStart, kBase + 2, kBase + 3, GivenUp::gone);
  const Gaps::Due due = gaps.collect(kStart + 2ms);
  ASSERT_EQ(due.lost.size(), 1u);
  EXPECT_EQ(due.lost[0].first, kBase + 2);
  EXPECT_EQ(due.lost[0].count, 2u);
  EXPECT_EQ(due.lost[0].why, GivenUp::gone);
  EXPECT_THAT(sequences(due), ElementsAre(1, 4));
}

TEST_F(GapsTest, MayBeOvertakenByTheWordThatTheyAreGone) {
  gaps.beat(kStart, kBase + 2);
  gaps.give_up(kStart, kBase, kBase + 2, GivenUp::gone);
  EXPECT_TRUE(gaps.collect(kStart).empty()) << "packets come in any order";
  EXPECT_EQ(gaps.packet(kStart + 1ms, kBase + 1, false), Gaps::Arrival::filled);
  const Gaps::Due due = gaps.collect(kStart + 2ms);
  ASSERT_EQ(due.lost.size(), 1u);
  EXPECT_EQ(due.lost[0].first, kBase + 2);
  EXPECT_EQ(due.lost[0].why, GivenUp::gone);
  EXPECT_THAT(due.asks, IsEmpty()) << "nobody has it";

  gaps.packet(kStart + 2ms, kBase + 4, false);
  gaps.collect(kStart + 4ms);
  gaps.give_up(kStart + 4ms, kBase, kBase + 3, GivenUp::gone);
  EXPECT_EQ(gaps.collect(kStart + 4ms).lost.size(), 1u) << "it was asked for";

  gaps.packet(kStart + 5ms, kBase + 6, false);
  gaps.lack_too(kStart + 5ms, kBase + 6, 1);
  gaps.give_up(kStart + 5ms, kBase, kBase + 5, GivenUp::gone);
  EXPECT_TRUE(gaps.collect(kStart + 6ms).empty()) << "it may have been overtaken on the hop before";
  EXPECT_EQ(gaps.next_at(), kStart + 7ms);
  EXPECT_EQ(gaps.collect(kStart + 7ms).lost.size(), 1u);
}

TEST_F(GapsTest, AreNotAskedForBeforeTheQuietTimeIsOver) {
  Gaps late(kBase, kStart + 50ms, open_all);
  settle(late);
  for (std::uint64_t i = 2; i <= 9; ++i) late.packet(kStart, kBase + i, false);
  EXPECT_EQ(late.next_at(), kStart + 50ms);
}

TEST_F(GapsTest, AreNotLostBeforeTheWayHasHadItsTimeToDisorderPackets) {
  gaps.settings().repair_for = 1ms;
  gaps.settings().way_round_trip = 80ms;
  gaps.packet(kStart, kBase + 2, false);
  EXPECT_THAT(gaps.collect(kStart + 19ms).lost, IsEmpty());
  EXPECT_EQ(gaps.packet(kStart + 19ms, kBase + 1, false), Gaps::Arrival::filled);
  gaps.packet(kStart + 30ms, kBase + 4, false);
  EXPECT_EQ(gaps.collect(kStart + 50ms).lost.size(), 1u);
}

TEST_F(GapsTest, ThatAreTooManyAreLost) {
  gaps.packet(kStart, kBase + 1'000'000, false);
  const Gaps::Due due = gaps.collect(kStart);
  ASSERT_EQ(due.lost.size(), 1u);
  EXPECT_EQ(due.lost[0].first, kBase + 1);
  EXPECT_EQ(due.lost[0].count, 999'999 - Gaps::kOpenMax);
  EXPECT_EQ(gaps.open(), Gaps::kOpenMax);
  EXPECT_EQ(open_all, Gaps::kOpenMax);
  gaps.packet(kStart, kBase + 1'000'002, false);
  EXPECT_EQ(gaps.collect(kStart).lost.at(0).first, kBase + 1'000'000 - Gaps::kOpenMax);
}

TEST_F(GapsTest, OfWhoDoesNotAskAreNone) {
  gaps.packet(kStart, kBase + 2, false);
  gaps.set_asking(false);
  gaps.packet(kStart, kBase + 9, false);
  EXPECT_EQ(open_all, 0u);
  EXPECT_EQ(gaps.next_at(), kNever);
  EXPECT_EQ(gaps.packet(kStart, kBase + 9, false), Gaps::Arrival::duplicate);
  EXPECT_TRUE(gaps.has_come(kBase + 2));
  EXPECT_FALSE(gaps.has_come(kBase + 1));
}

TEST_F(GapsTest, ManyAreOneRequest) {
  gaps.packet(kStart, kBase + 700, false);
  const Gaps::Due due = gaps.collect(kStart + 2ms);
  ASSERT_EQ(due.asks.size(), 2u);
  EXPECT_EQ(due.asks[0].bits.count(), SequenceBits::kMax);
  EXPECT_EQ(due.asks[1].bits.count(), 699 - SequenceBits::kMax);
}

TEST_F(GapsTest, SequencesAreExpandedNearTheHighest) {
  EXPECT_EQ(gaps.expand(static_cast<std::uint32_t>(kBase + 20)), kBase + 20);
  EXPECT_EQ(gaps.expand(static_cast<std::uint32_t>(kBase - 20)), kBase - 20);
}

/// Against a plain model: everything comes, is asked for, or is lost, and nothing twice.
TEST_F(GapsTest, AccountForEverySequence) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    std::size_t all = 0;
    Gaps some(kBase, Time{}, all);
    some.settings().repair_for = 60ms;
    some.near().expect(10ms, 0ms);
    std::map<std::uint64_t, int> seen;
    std::deque<std::pair<Time, std::uint64_t>> repairs;
    Time now = kStart;
    const std::uint64_t count = 3'000;
    const auto take = [&](std::uint64_t sequence, bool is_repair) {
      const Gaps::Arrival arrival = some.packet(now, sequence, is_repair);
      if (arrival == Gaps::Arrival::fresh || arrival == Gaps::Arrival::filled) ++seen[sequence];
    };
    const auto collect = [&] {
      const Gaps::Due due = some.collect(now);
      for (const Gaps::Ask& ask : due.asks) {
        ask.bits.for_each([&](std::size_t i) {
          if (random.chance(0.7)) repairs.emplace_back(now + 5ms, ask.first + i);
        });
      }
      for (const Gaps::Lost& lost : due.lost) {
        for (std::uint64_t i = 0; i < lost.count; ++i) ++seen[lost.first + i];
      }
    };
    for (std::uint64_t i = 0; i < count; ++i) {
      now += 200us;
      if (random.chance(0.9))
        take(kBase + i - (random.chance(0.1) ? std::min<std::uint64_t>(i, random.below(6)) : 0), false);
      while (!repairs.empty() && repairs.front().first <= now) {
        take(repairs.front().second, true);
        repairs.pop_front();
      }
      if (some.is_due(now)) collect();
    }
    some.beat(now, kBase + count - 1);
    now += 10s;
    collect();
    collect();
    EXPECT_EQ(all, 0u) << seed;
    EXPECT_EQ(seen.size(), count) << seed;
    for (const auto& [sequence, times] : seen) EXPECT_EQ(times, 1) << seed << ": " << sequence - kBase;
  }
}

TEST(SequenceWindow, AgreesWithASet) {
  Random random(3);
  SequenceWindow window(kBase - 1);
  std::set<std::uint64_t> model;
  std::uint64_t highest = kBase - 1;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t next = highest + 1 + (random.chance(0.01) ? random.below(5'000) : random.below(3));
    window.advance(next, next);
    window.insert(next);
    model.insert(next);
    highest = next;
    const std::uint64_t behind = highest - random.below(1'100);
    if (behind < kBase) continue;
    if (window.is_before(behind)) {
      EXPECT_GE(highest - behind, SequenceWindow::kSpanMin - 64);
    } else {
      EXPECT_EQ(window.contains(behind), model.contains(behind)) << behind - kBase;
    }
  }
}

TEST(SequenceWindow, GrowsForWhatIsToBeKept) {
  SequenceWindow window(99);
  window.advance(100, 100);
  window.insert(100);
  window.advance(100 + 10'000, 100);
  EXPECT_FALSE(window.is_before(100));
  EXPECT_TRUE(window.contains(100));
  EXPECT_FALSE(window.contains(101));
  window.advance(200'000, 100);
  EXPECT_TRUE(window.is_before(100));
  EXPECT_EQ(window.span(), SequenceWindow::kSpanMax);
}

}  // namespace
}  // namespace spindled
