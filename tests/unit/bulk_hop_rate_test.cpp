// How bulk content yields to ordered messages, and what paths carry.
#include "daemon/bulk/hop_rate.h"

#include <gtest/gtest.h>

#include "daemon/bulk/path_capacity.h"
#include "daemon/link/link_limits.h"

namespace spindled {
namespace {

constexpr std::uint64_t kCapacity = 10'000'000;
constexpr double kShare = 0.05;

class Hop {
 public:
  Hop() { rate.start(now_, path, now_ - 1s); }
  /// An interval in which the hop carries what it may.
  bool interval(bool link_waits, double carried = kCapacity) {
    rate.note_link(now_, link_waits);
    now_ += HopRate::kInterval;
    path.bulk_bytes += static_cast<std::uint64_t>(std::min(carried, rate.is_limited() ? rate.rate() : carried) * 0.05);
    return rate.adjust(now_, path, kCapacity, kShare);
  }
  /// Sends what may be sent now, in bytes.
  double send(bool link_waits = false) {
    double sent = 0;
    for (; rate.may_send(now_, link_waits); sent += 8'192) rate.sent(8'192);
    return sent;
  }
  /// The same for some time.
  double send_for(Duration time, bool link_waits) {
    double sent = 0;
    for (const Time end = now_ + time; now_ < end; now_ = rate.next_at()) {
      sent += send(link_waits);
      if (rate.next_at() > now_) continue;
      ADD_FAILURE() << "it may not be sent, and is to be at once";
      break;
    }
    return sent;
  }
  Time now() const { return now_; }
  HopRate rate;
  HopRate::Path path;

 private:
  Time now_{1s};
};

TEST(HopRate, IsUnlimitedWhileNothingWaits) {
  Hop hop;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(hop.interval(false));
  EXPECT_FALSE(hop.rate.is_limited());
  hop.rate.sent(1u << 30);
  EXPECT_TRUE(hop.rate.may_send(hop.now(), false));
}

TEST(HopRate, FallsWhileOrderedMessagesWaitAndNotBelowItsShare) {
  Hop hop;
  EXPECT_FALSE(hop.interval(true)) << "it may be a burst";
  EXPECT_TRUE(hop.interval(true));
  EXPECT_DOUBLE_EQ(hop.rate.rate(), 0.7 * kCapacity);
  EXPECT_TRUE(hop.interval(true));
  EXPECT_DOUBLE_EQ(hop.rate.rate(), 0.49 * kCapacity);
  for (int i = 0; i < 20; ++i) hop.interval(true);
  EXPECT_DOUBLE_EQ(hop.rate.rate(), kShare * kCapacity);
  EXPECT_FALSE(hop.interval(true));
}

TEST(HopRate, GrowsUntilItIsUnlimited) {
  Hop hop;
  for (int i = 0; i < 20; ++i) hop.interval(true);
  hop.interval(false);
  EXPECT_DOUBLE_EQ(hop.rate.rate(), (kShare + 0.02) * kCapacity);
  for (int i = 0; i < 60; ++i) hop.interval(false);
  EXPECT_FALSE(hop.rate.is_limited());
}

TEST(HopRate, IsTheLeastShareWhileTheLinkHasSomethingWaiting) {
  Hop hop;
  hop.interval(false);
  ASSERT_FALSE(hop.rate.is_limited());
  const double sent = hop.send_for(2s, true);
  EXPECT_NEAR(sent, 2 * kShare * kCapacity, 20'000);
  EXPECT_TRUE(hop.rate.may_send(hop.now(), false)) << "whatever was sent before";
  hop.rate.sent(1u << 30);
  EXPECT_TRUE(hop.rate.may_send(hop.now(), false));
}

TEST(HopRate, DoesNotFallForWhatWaitsHalfOfTheTime) {
  Hop hop;
  for (int i = 0; i < 20; ++i) {
    hop.rate.note_link(hop.now(), true);
    hop.rate.note_link(hop.now() + 30ms, false);
    EXPECT_FALSE(hop.interval(false));
  }
  EXPECT_FALSE(hop.rate.is_limited());
}

TEST(HopRate, ForgetsWhatHasWaitedWhenItStartsAnew) {
  Hop hop;
  hop.interval(true);
  hop.rate.start(hop.now(), hop.path, hop.now());
  EXPECT_FALSE(hop.interval(true)) << "it may be a burst";
}

TEST(HopRate, DoesNotFallForAQueueThatLeavesBetweenBursts) {
  Hop hop;
  hop.path.shortest = 10ms;
  for (int i = 0; i < 20; ++i) {
    hop.path.message_packets += 10;
    hop.path.round_trip = 60ms;
    if (i % 2 == 0) hop.rate.note_hop(hop.now(), 0, 12ms);
    EXPECT_FALSE(hop.interval(false));
  }
}

/// What a round trip of 10 ms takes, a quarter more as nothing stands in the queue, and 2.5 ms of it.
TEST(HopRate, HasNoMoreInFlightBesideMessagesThanThePathTakes) {
  Hop hop;
  hop.path.shortest = 10ms;
  EXPECT_FALSE(hop.rate.wants_hop(hop.now()));
  hop.path.message_packets += 10;
  hop.interval(false);
  constexpr double kMost = 0.015 * kCapacity;
  ASSERT_TRUE(hop.rate.wants_hop(hop.now()));
  hop.rate.note_hop(hop.now(), 0, {});
  EXPECT_NEAR(hop.send(), kMost, 8'192);
  EXPECT_FALSE(hop.rate.wants_hop(hop.now()));
  EXPECT_GT(hop.rate.next_at(), hop.now());
  EXPECT_TRUE(hop.rate.wants_hop(hop.rate.next_at()));
  hop.rate.note_hop(hop.rate.next_at(), 60'000, {});
  EXPECT_NEAR(hop.send(), kMost - 60'000, 8'192);
  for (Duration passed{}; passed < HopRate::kSharedFor; passed += HopRate::kInterval) hop.interval(false);
  EXPECT_FALSE(hop.rate.wants_hop(hop.now()));
  EXPECT_TRUE(hop.rate.may_send(hop.now(), false)) << "they have gone by";
}

TEST(HopRate, AMomentOfWaitingIsNone) {
  Hop hop;
  hop.rate.note_link(hop.now(), true);
  hop.rate.note_link(hop.now() + 5ms, false);
  EXPECT_FALSE(hop.interval(false));
  EXPECT_FALSE(hop.rate.is_limited());
}

TEST(HopRate, FallsByAsMuchAsRoundTripsAreTooLong) {
  Hop hop;
  hop.path.round_trip = 10ms;
  hop.interval(false);
  hop.path.round_trip = 260ms;
  EXPECT_FALSE(hop.interval(false));
  hop.path.round_trip = 300ms;
  EXPECT_FALSE(hop.interval(false)) << "it may be a burst";
  EXPECT_TRUE(hop.interval(false));
  EXPECT_NEAR(hop.rate.rate(), 260.0 / 300 * kCapacity, 1);
  hop.path.round_trip = 1s;
  EXPECT_FALSE(hop.interval(false)) << "what is on its way was sent before";
  for (int i = 0; i < 21; ++i) hop.interval(false);
  EXPECT_LE(hop.rate.rate(), 0.7 * 260 / 300 * kCapacity);
}

TEST(HopRate, DoesNotMindAQueueThatNobodyElseWaitsIn) {
  Hop hop;
  hop.path.round_trip = 10ms;
  hop.interval(false);
  hop.path.round_trip = 200ms;
  for (int i = 0; i < 100; ++i) {
    hop.path.ordered_bytes += kCapacity / 100;  // what daemons tell each other
    hop.path.message_packets += 3;              // less than a part in a hundred, were they full
    EXPECT_FALSE(hop.interval(false));
  }
  EXPECT_FALSE(hop.rate.is_limited());
  hop.path.message_packets += 4;
  EXPECT_TRUE(hop.interval(false));
  EXPECT_TRUE(hop.rate.is_limited());
  for (int i = 0; i < 18; ++i) hop.interval(false);
  EXPECT_TRUE(hop.rate.is_limited());
  for (int i = 0; i < 4; ++i) hop.interval(false);
  EXPECT_FALSE(hop.rate.is_limited()) << "they have gone by";
}

TEST(HopRate, DoesNotMindWhatOthersWaitForWhileItCarriesNothing) {
  HopRate rate;
  HopRate::Path path;
  Time now{1s};
  path.round_trip = 1ms;
  rate.start(now, path, now - 1s);
  path.bulk_bytes = 1'000;
  rate.adjust(now += 50ms, path, 0, kShare);
  // Another path ends in the same queue.
  path.round_trip = 400ms;
  for (int i = 0; i < 100; ++i) {
    rate.note_link(now, true);
    path.ordered_bytes += 10;
    path.bulk_bytes += 100;
    EXPECT_FALSE(rate.adjust(now += 50ms, path, 0, kShare));
  }
  EXPECT_FALSE(rate.is_limited());
}

TEST(HopRate, DoesMindALongQueueOfItsOwn) {
  Hop hop;
  hop.path.round_trip = 10ms;
  hop.interval(false);
  hop.path.round_trip = 300ms;
  hop.interval(false);
  EXPECT_TRUE(hop.interval(false));
}

TEST(HopRate, KeepsRoundTripsShorterBesideOrderedMessages) {
  Hop hop;
  hop.path.round_trip = 10ms;
  hop.interval(false);
  hop.path.round_trip = 20ms;
  EXPECT_FALSE(hop.interval(false)) << "there are none";
  const auto interval_beside_messages = [&] {
    hop.path.ordered_bytes += kCapacity / 100;
    hop.path.message_packets += kCapacity / 100 / kPacketBytes;
    return hop.interval(false);
  };
  EXPECT_TRUE(interval_beside_messages());
  EXPECT_NEAR(hop.rate.rate(), 16.25 / 20 * kCapacity, 1);
  hop.path.round_trip = 15ms;
  EXPECT_FALSE(interval_beside_messages());
  for (int i = 0; i < 40; ++i) hop.interval(false);
  hop.path.round_trip = 20ms;
  EXPECT_FALSE(hop.interval(false)) << "there are none any more";
}

TEST(HopRate, BeginsSlowlyBesideMessages) {
  Hop hop;
  hop.path.message_packets += 10;
  hop.rate.begin(hop.now(), hop.path.message_packets, kShare);
  EXPECT_DOUBLE_EQ(hop.rate.rate(), HopRate::kRateAtBegin);
  EXPECT_FALSE(hop.rate.is_to_begin());
  for (int i = 1; hop.rate.rate() < kCapacity; ++i) {
    ASSERT_LT(i, 8);
    hop.path.message_packets += 1000;
    hop.interval(false);
    EXPECT_DOUBLE_EQ(hop.rate.rate(), std::min<double>(HopRate::kRateAtBegin * (1 << i), kCapacity));
  }
  for (int i = 0; i < 6; ++i) {
    hop.path.message_packets += 1000;
    hop.interval(false);
  }
  EXPECT_FALSE(hop.rate.is_limited());
}

TEST(HopRate, BeginsSlowlyUntilSomethingWaits) {
  Hop hop;
  hop.path.message_packets += 10;
  hop.rate.begin(hop.now(), hop.path.message_packets, kShare);
  for (int i = 0; i < 5; ++i) {
    hop.path.message_packets += 1000;
    hop.interval(i >= 3);
  }
  const double fallen = 8 * HopRate::kRateAtBegin;
  EXPECT_NEAR(hop.rate.rate(), fallen, 100) << "what nothing has waited for";
  hop.path.message_packets += 1000;
  hop.interval(false);
  EXPECT_NEAR(hop.rate.rate(), fallen + fallen * 2 / 3, 100);
}

TEST(HopRate, BeginsAtOnceWhereThereAreNoMessages) {
  Hop hop;
  hop.rate.begin(hop.now(), hop.path.message_packets, kShare);
  EXPECT_FALSE(hop.rate.is_limited());
  hop.interval(false);
  hop.interval(false, 0);
  EXPECT_TRUE(hop.rate.is_to_begin());
  hop.path.message_packets += 1;  // too few to be minded for long
  hop.rate.begin(hop.now(), hop.path.message_packets, kShare);
  EXPECT_TRUE(hop.rate.is_limited());
  hop.interval(false);
  EXPECT_FALSE(hop.rate.is_limited());
}

TEST(HopRate, LooksForMessagesForAMomentWhereNobodyHasBefore) {
  constexpr Time kNow{7s};
  for (const bool has_messages : {false, true}) {
    HopRate rate;
    rate.start(kNow, {}, kNow);
    rate.begin(kNow, 0, kShare);
    EXPECT_TRUE(rate.is_limited());
    ASSERT_TRUE(rate.may_send(kNow, false));
    rate.sent(8192);
    EXPECT_EQ(rate.next_at(), kNow + HopRate::kLook);
    EXPECT_TRUE(rate.is_to_begin());
    rate.begin(rate.next_at(), has_messages ? 5 : 0, kShare);
    EXPECT_EQ(rate.is_limited(), has_messages);
    EXPECT_FALSE(rate.is_to_begin());
  }
}

TEST(HopRate, GoesByItsRateWhereItCannotBeSeenWhetherThereAreMessages) {
  constexpr Time kNow{7s};
  HopRate rate;
  rate.start(kNow, {}, kNow);
  rate.begin(kNow, 0, kShare);
  ASSERT_TRUE(rate.may_send(kNow, false));
  rate.sent(1u << 20);
  // The link is gone, and nobody says what it was given meanwhile.
  const Time later = kNow + 2 * HopRate::kLook;
  EXPECT_FALSE(rate.may_send(later, false));
  EXPECT_GT(rate.next_at(), later);
}

TEST(HopRate, DoesNotLookAgainWhereThereHaveBeenNoMessages) {
  Hop hop;
  hop.rate.begin(hop.now(), 0, kShare);
  for (int i = 0; i < 3; ++i) hop.interval(false, 0);
  hop.rate.begin(hop.now() + 1ms, 0, kShare);
  EXPECT_FALSE(hop.rate.is_limited());
}

TEST(HopRate, BeginsSlowlyWhateverThePathMayCarry) {
  HopRate rate;
  HopRate::Path path;
  Time now{1s};
  rate.start(now, path, Time{});
  rate.begin(now, 1, kShare);
  for (int i = 1; i < 8; ++i) {
    now += HopRate::kInterval;
    path.message_packets += 30;
    path.bulk_bytes += static_cast<std::uint64_t>(rate.rate() * 0.05);
    rate.adjust(now, path, 0, kShare);
    EXPECT_DOUBLE_EQ(rate.rate(), HopRate::kRateAtBegin * (1 << i));
  }
}

TEST(HopRate, WhatBeginsAndSendsNothingBeginsAnew) {
  Hop hop;
  hop.path.message_packets += 1000;
  hop.rate.begin(hop.now(), hop.path.message_packets, kShare);
  hop.path.message_packets += 1000;
  hop.interval(false, 0);
  EXPECT_FALSE(hop.rate.is_limited());
  EXPECT_TRUE(hop.rate.is_to_begin());
  hop.rate.begin(hop.now(), hop.path.message_packets, kShare);
  EXPECT_DOUBLE_EQ(hop.rate.rate(), HopRate::kRateAtBegin);
}

TEST(HopRate, IsUnlimitedAgainWhenMessagesHaveGoneBy) {
  Hop hop;
  hop.path.round_trip = 10ms;
  hop.interval(false);
  hop.path.round_trip = 40ms;
  for (int i = 0; i < 10; ++i) {
    hop.path.message_packets += 10;
    hop.interval(false);
  }
  EXPECT_LT(hop.rate.rate(), 0.2 * kCapacity);
  Duration passed{};
  for (; hop.rate.is_limited() && passed < 2 * HopRate::kSharedFor; passed += HopRate::kInterval) hop.interval(false);
  EXPECT_GE(passed, HopRate::kSharedFor);
  EXPECT_LE(passed, HopRate::kSharedFor + 2 * HopRate::kInterval);
}

TEST(HopRate, ThatFellForItsOwnQueueComesBackInSteps) {
  Hop hop;
  hop.path.round_trip = 10ms;
  hop.interval(false);
  hop.path.round_trip = 300ms;
  for (int i = 0; i < 20; ++i) hop.interval(false);
  ASSERT_TRUE(hop.rate.is_limited());
  hop.path.message_packets += 10;  // messages come then
  hop.interval(false);
  hop.path.round_trip = 10ms;
  for (Duration passed{}; passed < HopRate::kSharedFor; passed += HopRate::kInterval) hop.interval(false);
  EXPECT_TRUE(hop.rate.is_limited());
}

TEST(HopRate, WaitsWhileAQueueOfThePathIsLeaving) {
  Hop hop;
  hop.path.round_trip = 10ms;
  hop.path.message_packets += 4;
  hop.interval(false);
  hop.path.round_trip = 70ms;
  hop.interval(false);
  EXPECT_TRUE(hop.interval(false));
  hop.path.round_trip = 60ms;
  hop.interval(false);  // sent before
  EXPECT_TRUE(hop.interval(false)) << "it is not";
  const double fallen = hop.rate.rate();
  for (const Duration round_trip : {Duration(40ms), Duration(20ms)}) {
    hop.path.round_trip = round_trip;
    hop.interval(false);
  }
  EXPECT_EQ(hop.rate.rate(), fallen);
}

TEST(HopRate, GoesByTheShortestRoundTripThatTheSystemHasSeen) {
  Hop hop;
  hop.path.round_trip = 400ms;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(hop.interval(false));
  hop.path.shortest = 1ms;
  EXPECT_TRUE(hop.interval(false));
}

TEST(HopRate, IsNeverNothing) {
  HopRate rate;
  HopRate::Path path;
  path.shortest = 1ms;
  path.round_trip = 400ms;
  Time now{1s};
  rate.start(now, path, now - 1s);
  double carried = 1'000'000;
  for (int i = 0; i < 400; ++i) {
    path.bulk_bytes += static_cast<std::uint64_t>(carried / 20);
    now += HopRate::kInterval;
    rate.adjust(now, path, 0, kShare);
    carried = std::min(carried, rate.rate());
  }
  EXPECT_NEAR(rate.rate(), kShare * 1'000'000, 1) << "of what the path has carried before";
  path = {};
  HopRate slow;
  slow.start(now, path, Time{});
  slow.note_link(now, true);
  path.bulk_bytes = 1'000;
  slow.adjust(now + HopRate::kInterval, path, 0, kShare);
  path.bulk_bytes = 2'000;
  EXPECT_TRUE(slow.adjust(now + 2 * HopRate::kInterval, path, 0, kShare));
  slow.sent(8'192);
  EXPECT_LE(slow.next_at(), now + 10s);
}

TEST(HopRate, SendsAtItsRate) {
  Hop hop;
  for (int i = 0; i < 20; ++i) hop.interval(true);
  const double sent = hop.send_for(2s, false);
  EXPECT_NEAR(sent, 2 * kShare * kCapacity, 20'000);
}

TEST(HopRate, ThatIsToTakeAllDoesNotFall) {
  HopRate rate;
  HopRate::Path path;
  rate.start(Time{1s}, path, Time{});
  rate.note_link(Time{1s}, true);
  for (int i = 1; i < 4; ++i) {
    path.bulk_bytes += 500'000;
    EXPECT_FALSE(rate.adjust(Time{1s} + i * HopRate::kInterval, path, kCapacity, 1));
  }
  EXPECT_FALSE(rate.is_limited());
}

TEST(HopRate, NeedsNoCapacityToFall) {
  HopRate rate;
  HopRate::Path path;
  rate.start(Time{1s}, path, Time{});
  rate.note_link(Time{1s}, true);
  for (int i = 1; i < 3; ++i) {
    path.bulk_bytes += 500'000;
    path.ordered_bytes += 250'000;
    EXPECT_EQ(rate.adjust(Time{1s} + i * HopRate::kInterval, path, 0, kShare), i == 2);
  }
  EXPECT_DOUBLE_EQ(rate.rate(), 0.7 * 10'000'000);
}

TEST(PathCapacity, IsWhatWasCarriedWhileBusy) {
  PathCapacity capacity;
  Time now{1s};
  std::uint64_t bytes = 77;
  capacity.start(now, bytes);
  const auto interval = [&](std::uint64_t carried, bool busy) {
    now += 50ms;
    bytes += carried;
    capacity.observe(now, bytes, busy);
  };
  for (int i = 0; i < 10; ++i) interval(1'000'000, false);
  EXPECT_EQ(capacity.bytes_per_second(), 0u);
  for (int i = 0; i < 3; ++i) interval(100'000, true);
  EXPECT_EQ(capacity.bytes_per_second(), 0u) << "it is not long enough";
  interval(0, false);
  for (int i = 0; i < 4; ++i) interval(100'000, true);
  EXPECT_EQ(capacity.bytes_per_second(), 2'000'000u);
  for (int i = 0; i < 4; ++i) interval(200'000, true);
  EXPECT_EQ(capacity.bytes_per_second(), 4'000'000u) << "more counts at once";
  for (int i = 0; i < 4; ++i) interval(100'000, true);
  EXPECT_EQ(capacity.bytes_per_second(), 3'750'000u) << "less by and by";
  EXPECT_FALSE(capacity.is_over(now + 299s));
  EXPECT_TRUE(capacity.is_over(now + 300s));
}

}  // namespace
}  // namespace spindled
