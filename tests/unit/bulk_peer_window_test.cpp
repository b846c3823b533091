#include "daemon/bulk/relay/peer_window.h"

#include <gtest/gtest.h>

namespace spindled {
namespace {

constexpr std::uint64_t kMost = 100;

/// A peer whose symbols take so long from when they are granted, each of use or not.
class Peer {
 public:
  explicit Peer(Duration round_trip) : round_trip_(round_trip) {}

  /// One round trip: what is granted comes.
  std::uint64_t go_round(Time& now, bool is_useful) {
    if (window.may_be_tried(now)) window.grant_trial(now);
    window.grant(window.room(now, kMost));
    const std::uint64_t coming = window.owed();
    for (std::uint64_t i = 0; i < coming; ++i) {
      now += round_trip_ / static_cast<int>(coming);
      EXPECT_TRUE(window.take(now));
      is_useful ? window.note_useful() : window.note_useless();
    }
    if (coming == 0) now += round_trip_;
    return coming;
  }

  PeerWindow window;

 private:
  Duration round_trip_;
};

TEST(PeerWindow, BeginsWithATrialAndGrowsWithWhatIsOfUse) {
  Peer peer(10ms);
  Time now{1h};
  EXPECT_EQ(peer.window.room(now, kMost), 0U);
  EXPECT_FALSE(peer.window.is_in_vain()) << "it has not been tried";
  EXPECT_EQ(peer.go_round(now, true), PeerWindow::kLeast);
  std::uint64_t last = 0;
  for (int i = 0; i < 20; ++i) last = peer.go_round(now, true);
  EXPECT_EQ(last, kMost);
  EXPECT_FALSE(peer.window.take(now)) << "more than was granted";
}

TEST(PeerWindow, IsNoLargerThanWhatComesLatelyAndALittle) {
  PeerWindow window;
  Time now{1h};
  window.grant_trial(now);
  for (int i = 0; i < 200; ++i) {
    if (window.owed() == 0) window.grant(std::max<std::uint64_t>(window.room(now, kMost), 1));
    ASSERT_TRUE(window.take(now += 25ms));
    window.note_useful();
    EXPECT_LE(window.owed() + window.room(now, kMost), PeerWindow::kLeast + 2) << "40 a second are 2 in the reach";
  }
  window.set_round_trip(100ms);
  for (int i = 0; i < 50; ++i) {
    window.grant(window.room(now, kMost));
    ASSERT_TRUE(window.take(now += 25ms));
    window.note_useful();
  }
  EXPECT_GT(window.owed() + window.room(now, kMost), PeerWindow::kLeast + 2) << "over a long path it is more";
  while (window.owed() > 0) window.take(now);
  EXPECT_EQ(window.room(now + 10s, kMost), PeerWindow::kLeast) << "of what came long ago nothing is left";
}

TEST(PeerWindow, WhoGivesInVainIsWorthNothingAndIsTriedNowAndThen) {
  Peer peer(10ms);
  Time now{1h};
  for (int i = 0; i < 20; ++i) peer.go_round(now, true);
  std::uint64_t wasted = 0;
  for (int i = 0; i < 20 && !peer.window.is_in_vain(); ++i) wasted += peer.go_round(now, false);
  EXPECT_TRUE(peer.window.is_in_vain());
  EXPECT_LE(wasted, kMost + 10);
  EXPECT_FALSE(peer.window.may_be_tried(now));
  const Time until = now + 100 * PeerWindow::kTrial;
  std::uint64_t tried = 0;
  while (now < until) tried += peer.go_round(now, false);
  EXPECT_LE(tried, 100 * PeerWindow::kLeast);
  EXPECT_GE(tried, 50 * PeerWindow::kLeast);
  for (int i = 0; i < 10; ++i) peer.go_round(now += PeerWindow::kTrial, true);
  EXPECT_GT(peer.window.room(now, kMost) + peer.window.owed(), 0U) << "what is of use again counts again";
  EXPECT_FALSE(peer.window.is_in_vain());
}

TEST(PeerWindow, AThirdInVainIsTooMuch) {
  for (const int useful : {1, 9}) {
    PeerWindow window;
    Time now{1h};
    window.grant_trial(now);
    window.take(now);
    window.note_useful();
    bool was_worthless = false;
    for (int i = 0; i < 100; ++i) {
      for (int k = 0; k < useful; ++k) window.note_useful();
      window.note_useless();
      was_worthless = was_worthless || window.room(now, kMost) == 0;
    }
    EXPECT_EQ(was_worthless, useful == 1) << useful;
  }
}

TEST(PeerWindow, WhatATrialOwesCountsForAWhile) {
  PeerWindow window;
  Time now{1h};
  window.grant_trial(now);
  EXPECT_EQ(window.on_trial(now), PeerWindow::kLeast);
  EXPECT_EQ(window.on_trial(now + PeerWindow::kTrial), 0U) << "it has nothing to give";
  window.take(now);
  window.note_useful();
  EXPECT_EQ(window.on_trial(now), 0U) << "it is worth something";
}

TEST(PeerTrials, AreAPartOfWhatComes) {
  PeerTrials trials;
  const Time now{1h};
  const std::uint64_t all = trials.symbols();
  EXPECT_GT(all, 0U);
  for (std::uint64_t i = 0; i < 2 * all; ++i) trials.note_useless();
  EXPECT_EQ(trials.symbols(), 0U);
  for (int i = 0; i < 101; ++i) trials.note_useful(now);
  EXPECT_EQ(trials.symbols(), 5U);
  for (int i = 0; i < 10'000; ++i) trials.note_useful(now);
  EXPECT_EQ(trials.symbols(), all) << "what was not spent is not saved";
}

TEST(PeerTrials, AreAFewWhereNothingOfUseComes) {
  PeerTrials trials;
  Time now{1h};
  trials.note_useful(now);
  const std::uint64_t all = trials.symbols();
  for (std::uint64_t i = 0; i < 2 * all; ++i) trials.note_useless();
  trials.handle_time(now += PeerTrials::kStill - 1ms);
  EXPECT_EQ(trials.symbols(), 0U);
  trials.handle_time(now += 1ms);
  trials.handle_time(now);
  EXPECT_EQ(trials.symbols(), PeerWindow::kLeast);
  for (std::uint64_t i = 0; i < all; ++i) trials.handle_time(now += PeerTrials::kStill);
  EXPECT_EQ(trials.symbols(), all) << "what was not spent is not saved";
}

}  // namespace
}  // namespace spindled
