// What a relay of bulk content stands on: which places of its ring belong to somebody, its patience, its size, and when
// it looks what to tell.
#include <gtest/gtest.h>

#include "daemon/base/random.h"
#include "daemon/bulk/relay/look_times.h"
#include "daemon/bulk/relay/owned_places.h"
#include "daemon/bulk/relay/patience.h"
#include "daemon/bulk/relay/ring_size.h"

namespace spindled {
namespace {

TEST(OwnedPlaces, TellsWhatBelongsToNobody) {
  OwnedPlaces places;
  places.add(1);
  EXPECT_EQ(places.first_free(), 0u);
  EXPECT_TRUE(places.contains(1));
  places.add(0);
  EXPECT_EQ(places.first_free(), 2u);
  EXPECT_TRUE(places.contains(0));
  EXPECT_FALSE(places.contains(2));
  places.add(5);
  places.forget_before(4);
  EXPECT_EQ(places.first_free(), 4u);
  places.forget_before(5);
  EXPECT_EQ(places.first_free(), 6u);
  places.forget_before(3);
  places.add(2);
  EXPECT_EQ(places.first_free(), 6u) << "what is gone does not come back";
}

TEST(OwnedPlaces, AgreesWithASetOfAll) {
  OwnedPlaces places;
  std::set<std::uint64_t> all;
  Random random(1);
  for (std::uint64_t begin = 0; begin < 2'000; begin += random.below(4)) {
    places.forget_before(begin);
    const std::uint64_t place = begin + random.below(30);
    places.add(place);
    all.insert(place);
    std::uint64_t free = begin;
    while (all.contains(free)) ++free;
    ASSERT_EQ(places.first_free(), free);
    for (std::uint64_t each = begin; each < begin + 40; ++each) ASSERT_EQ(places.contains(each), all.contains(each));
  }
}

TEST(Patience, IsOnePartInTwoHundredOfTheTime) {
  Patience patience;
  Time now = Time() + 10s;
  Duration waited{};
  const Time until = now + 20s;
  bool waits = false;
  for (; now < until; now += 500us) {
    waits = patience.is_left(now);
    patience.set_spent(waits);
    if (waits) waited += 500us;
  }
  EXPECT_NEAR(to_seconds(waited), 0.1 + 0.01, 0.01);
}

TEST(Patience, IsNotSpentInCrumbs) {
  Patience patience;
  Time now = Time() + 10s;
  ASSERT_TRUE(patience.is_left(now));
  patience.set_spent(true);
  now += Patience::kMost;
  EXPECT_FALSE(patience.is_left(now));
  patience.set_spent(false);
  now += 900ms;
  EXPECT_FALSE(patience.is_left(now));
  now += 200ms;
  EXPECT_TRUE(patience.is_left(now));
  EXPECT_GE(patience.left(), Patience::kMost / 2);
}

TEST(LookTimes, AreTheEndOfTheTurnButFor200ASecond) {
  LookTimes looks;
  Time now = Time() + 10s;
  EXPECT_EQ(looks.next(), kNever);
  int times = 0;
  for (int i = 0; i < 1'000; ++i, now += 1ms) {
    looks.look_soon(now);
    if (i < 10) {
      EXPECT_EQ(looks.next(), now);
    }
    if (now < looks.next()) continue;
    looks.looked(now);
    EXPECT_EQ(looks.next(), kNever);
    ++times;
  }
  EXPECT_NEAR(times, 200, 15);
  while (now >= looks.next() || looks.next() == kNever) {
    looks.looked(now);
    looks.look_soon(now);
  }
  looks.look_at(now);
  EXPECT_EQ(looks.next(), now);
}

TEST(LookTimes, AreSoonBehindManyThatWereAskedForByOthers) {
  LookTimes looks;
  Time now = Time() + 10s;
  for (int i = 0; i < 1'000; ++i, now += 1ms) {
    looks.look_at(now);
    looks.looked(now);
  }
  looks.look_soon(now);
  EXPECT_LE(looks.next(), now + LookTimes::kInterval);
}

TEST(LookTimes, AreFewWhereNothingIsUrgent) {
  LookTimes looks;
  const Time now = Time() + 10s;
  looks.look_later(now, now - 1s);
  EXPECT_EQ(looks.next(), now) << "nobody has looked for long";
  looks.looked(now);
  looks.look_later(now + 1ms, now + 250ms);
  EXPECT_EQ(looks.next(), now + 250ms);
  looks.look_later(now + 2ms, now);
  EXPECT_GE(looks.next(), now + LookTimes::kProgressInterval);
  looks.look_soon(now + 3ms);
  EXPECT_EQ(looks.next(), now + 3ms);
}

class RingSizes : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kSymbol = 1'024;
  /// So many symbols come in each of so many intervals of 50 ms.
  void come(int intervals, std::size_t symbols, Duration round_trip = {}) {
    for (int i = 0; i < intervals; ++i) {
      for (std::size_t each = 0; each < symbols; ++each) ring.push({});
      now += 50ms;
      size.follow(now, round_trip, ring);
    }
  }

  RingSize size{kSymbol};
  SymbolRing ring{size.first()};
  Time now = Time() + 1s;
};

TEST_F(RingSizes, HoldsATenthOfASecond) {
  size.follow(now, {}, ring);
  come(2, 4'000);
  EXPECT_EQ(ring.capacity(), 8'000u);
  come(1, 4'000, 100ms);
  EXPECT_EQ(ring.capacity(), RingSize::kBytesMax / kSymbol) << "of 32 MB in four round trips";
}

TEST_F(RingSizes, BecomesSmallerByAndBy) {
  size.follow(now, {}, ring);
  come(2, 4'000);
  come(1, 0);
  EXPECT_EQ(ring.capacity(), 6'000u);
  come(20, 0);
  EXPECT_EQ(ring.capacity(), RingSize::kBytesMin / kSymbol);
}

TEST_F(RingSizes, HasNoMoreThanItMay) {
  size.set_bytes_max(64u << 10, ring);
  EXPECT_EQ(ring.capacity(), 64u);
  come(4, 4'000);
  EXPECT_EQ(ring.capacity(), 64u);
  EXPECT_LE(ring.end() - ring.begin(), 64u);
}

}  // namespace
}  // namespace spindled
