// Feeds while daemons agree on another view.
#include "tests/sim/feed_scenario.h"

namespace spindled::sim {
namespace {

class FeedViews : public FeedScenario {
 protected:
  /// The longest time that nothing came in.
  static Duration longest_pause(const FeedEar::Heard& heard) {
    Duration longest{};
    for (std::size_t i = 1; i < heard.packets.size(); ++i) {
      longest = std::max(longest, heard.packets[i].at - heard.packets[i - 1].at);
    }
    return longest;
  }
  std::uint64_t views(std::size_t host) { return counted(host, Counter::views_installed); }
};

TEST_F(FeedViews, ThatADaemonComesIntoHoldUpNothing) {
  start_line(41, 4);
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(3);
  const auto feed = open(source);
  stream(feed, 3'000, 1ms);
  sim().run_for(500ms);
  const std::uint64_t before = views(3);
  add_host(4, {3});
  start(4);
  await([this] { return have_one_view(sim().hosts()); }, 10s, "a view of five");
  const Member newcomer = add_member(4);
  sim().run_for(4s);
  EXPECT_GT(views(3), before);
  const FeedEar::Heard& heard = heard_by(listener);
  EXPECT_EQ(heard.packets.size(), feed->sent);
  EXPECT_EQ(feed->sent, 3'000u);
  EXPECT_TRUE(heard.lost.empty());
  EXPECT_LT(longest_pause(heard), 20ms);
  EXPECT_FALSE(heard.end);
  const FeedEar::Heard& later = heard_by(newcomer);
  ASSERT_FALSE(later.packets.empty());
  EXPECT_EQ(later.source, "#source#h0");
  EXPECT_EQ(later.packets.size(), 3'000 - later.packets.front().sequence);
}

TEST_F(FeedViews, ThatADaemonIsLostFromLeaveGapsWithinTheChangeOnly) {
  simulate(42);
  datagrams().turn_on();
  add_host(0, {});
  add_host(1, {0});
  add_host(2, {0});
  add_host(3, {1, 2});  // a ring
  start_all();
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(3);
  const auto feed = open(source, {"g", 200ms, 0});
  stream(feed, 6'000, 1ms);
  sim().run_for(1s);
  const Time at = sim().now();
  // One of the two relays is the one on the way.
  const std::size_t relay = counted(1, Counter::feed_packets_in) > 0 ? 1 : 2;
  sim().host(relay).crash();
  sim().run_for(7s);
  EXPECT_EQ(feed->sent, 6'000u);
  const FeedEar::Heard& heard = heard_by(listener);
  EXPECT_EQ(heard.unknown(), 0u);
  EXPECT_FALSE(heard.end);
  EXPECT_GT(heard.packets.back().at, at + 4s);
  std::uint64_t first = UINT64_MAX, last = 0;
  for (const std::uint64_t each : heard.lost) first = std::min(first, each), last = std::max(last, each);
  if (!heard.lost.empty()) {
    EXPECT_LT(last - first, 3'000u);
    EXPECT_GE(first, 900u);
  }
  EXPECT_EQ(heard.got.size() + heard.lost.size(), 6'000u);
}

/// TCP waits for longer and longer where it loses the same bytes several times. The daemon behind it is there.
TEST_F(FeedViews, DoNotChangeForAConnectionThatStalls) {
  simulate(45);
  datagrams().turn_on();
  datagrams().set_default_path({.loss = 0.02});
  PathProperties path;
  path.congestion_control = CongestionControl::reno;
  sim().network().set_default_path(path);
  add_host(0, {});
  add_host(1, {0});
  start_all();
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(1);
  const auto feed = open(source);
  stream(feed, 4'000, 1ms, 100);
  sim().run_for(500ms);
  const std::uint64_t before = views(0) + views(1);
  path.loss = 1;
  sim().network().set_path(0, 1, path);
  sim().run_for(1s);
  path.loss = 0;
  sim().network().set_path(0, 1, path);
  sim().run_for(5s);
  EXPECT_EQ(views(0) + views(1), before);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(counted(i, Counter::links_down), 0u) << i;
  const FeedEar::Heard& heard = heard_by(listener);
  EXPECT_TRUE(heard.lost.empty());
  EXPECT_EQ(heard.unknown(), 0u);
  EXPECT_GT(heard.packets.back().at, sim().now() - 3s);
}

/// What grows with feeds and listeners is divided by feed: when a view has begun, when daemons are lost or come with
/// feeds, and when many feeds end at once.
TEST_F(FeedViews, AreNoLongTurnsHoweverManyFeedsAndListenersThereAre) {
  constexpr std::size_t kListeners = 12, kFeeds = 15;
  constexpr std::size_t kStep = 4 * kListeners + 2 * kFeeds + 4;
  turn_work_max = 20;
  start_line(47, 4);
  std::vector<Member> listeners;
  for (std::size_t i = 0; i < kListeners; ++i) listeners.push_back(add_member(0));
  const Member near = add_member(1, "g", false), far = add_member(2, "g", false);
  for (std::size_t i = 0; i < kFeeds; ++i) {
    open(near);
    open(far);
  }
  const auto look = [&](std::string_view what) {
    const NodeWork& work = sim().host(0).node().work();
    EXPECT_LE(work.largest_step, kStep) << what;
    EXPECT_LE(work.largest_turn, turn_work_max + kStep + kListeners) << what;
  };
  const auto ended = [&] {
    std::size_t count = 0;
    for (const Member& each : listeners) {
      for (const auto& [feed, heard] : feeds_of(each)) count += heard->end ? 1 : 0;
    }
    return count;
  };
  sim().run_for(1s);
  for (const Member& each : listeners) ASSERT_EQ(feeds_of(each).size(), 2 * kFeeds);
  look("opened");
  const std::uint64_t before = views(0);
  sim().host(3).crash();
  await([&] { return have_one_view(sim().running_hosts()) && views(0) > before; }, 10s, "a view of three");
  sim().run_for(1s);
  look("a view");
  EXPECT_EQ(ended(), 0u);
  sim().network().partition({{0, 1}, {2}});
  await([&] { return ended() == kFeeds * kListeners; }, 10s, "those of the lost daemon have ended");
  look("lost");
  sim().network().heal();
  await([&] { return feeds_of(listeners[0]).size() == 3 * kFeeds; }, 20s, "they are there again");
  sim().run_for(1s);
  for (const Member& each : listeners) EXPECT_EQ(feeds_of(each).size(), 3 * kFeeds);
  look("said again");
  act(1, [&](Node& node, Time now) { node.feeds().close_session(now, near.session); });
  await([&] { return ended() == 2 * kFeeds * kListeners; }, 10s, "those of the client that is gone have ended");
  look("closed");
}

TEST_F(FeedViews, WithoutTheDaemonOfTheSourceEndIt) {
  start_line(43, 3);
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(2);
  const auto feed = open(source);
  stream(feed, 500, 1ms);
  sim().run_for(300ms);
  sim().host(0).crash();
  await([&] { return heard_by(listener).end.has_value(); }, 10s, "the end");
  const FeedEar::Heard& heard = heard_by(listener);
  EXPECT_EQ(heard.end, FeedEnd::lost);
  EXPECT_EQ(heard.unknown(), 0u);
  // Its next life has nothing to do with the one before.
  start(0);
  await([this] { return have_one_view(sim().hosts()) && are_open(); }, 20s, "one view");
  const Member again = add_member(0, "g", false);
  const auto next = open(again);
  stream(next, 100, 1ms);
  sim().run_for(1s);
  const auto feeds = feeds_of(listener);
  ASSERT_EQ(feeds.size(), 2u);
  EXPECT_EQ(feeds.rbegin()->second->packets.size(), 100u);
  EXPECT_EQ(feeds.rbegin()->second->packets.front().sequence, 0u);
}

TEST_F(FeedViews, ThatBringSidesTogetherTellEachSideOfTheOthersFeeds) {
  start_line(44, 4);
  const Member left = add_member(0), right = add_member(3);
  const auto of_left = open(left), of_right = open(right);
  stream(of_left, 20'000, 1ms);
  stream(of_right, 20'000, 1ms);
  sim().run_for(500ms);
  ASSERT_EQ(feeds_of(left).size(), 2u);
  sim().network().partition({{0, 1}, {2, 3}});
  const auto ended = [&](const Member& member) {
    for (const auto& [feed, heard] : feeds_of(member)) {
      if (heard->end == FeedEnd::lost) return true;
    }
    return false;
  };
  await([&] { return ended(left) && ended(right); }, 10s, "ends");
  sim().run_for(1s);
  sim().network().heal();
  await([this] { return have_one_view(sim().hosts()); }, 20s, "one view");
  sim().run_for(3s);
  for (const Member& each : {left, right}) {
    const auto feeds = feeds_of(each);
    ASSERT_EQ(feeds.size(), 3u) << "its own, the other's, and that again";
    std::size_t open = 0;
    for (const auto& [feed, heard] : feeds) {
      EXPECT_EQ(heard->unknown(), 0u);
      if (heard->end) continue;
      ++open;
      EXPECT_GT(heard->packets.back().at, sim().now() - 20ms);
    }
    EXPECT_EQ(open, 2u);
  }
}

TEST_F(FeedViews, ThatFollowOneAnotherLoseNoFeed) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    start_line(seed, 5);
    const Member source = add_member(0), listener = add_member(4);
    const auto feed = open(source);
    stream(feed, 20'000, 1ms);
    for (int i = 0; i < 8; ++i) {
      const HostIndex at = static_cast<HostIndex>(sim().random().below(4));
      sim().network().set_cut(at, at + 1, true);
      sim().run_for(std::chrono::milliseconds(sim().random().below(1'500)));
      sim().network().set_cut(at, at + 1, false);
      sim().run_for(std::chrono::milliseconds(sim().random().below(700)));
    }
    await([this] { return have_one_view(sim().hosts()); }, 30s, "one view");
    sim().run_for(3s);
    std::size_t open = 0;
    for (const auto& [handle, heard] : feeds_of(listener)) {
      EXPECT_EQ(heard->unknown(), 0u);
      if (!heard->end) ++open;
    }
    EXPECT_EQ(open, 1u);
    EXPECT_FALSE(heard_by(source).end);
    await([&] { return feed->sent + feed->refused == 20'000; }, 30s, "all messages");
    sim().run_for(1s);
    EXPECT_GT(feeds_of(listener).rbegin()->second->packets.back().at, sim().now() - 2s);
    EXPECT_EQ(heard_by(source).packets.size(), feed->sent) << "here nothing is lost";
    close(feed);
    sim().run_for(3s);
    for (const auto& [handle, heard] : feeds_of(listener)) EXPECT_TRUE(heard->end);
    if (HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      return;
    }
  }
}

/// A feed that is opened or closed as the view changes is so for all.
TEST_F(FeedViews, ChangeWhileFeedsAreOpenedAndClosed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    start_line(seed, 3);
    const Member source = add_member(0, "g", false), listener = add_member(2);
    sim().host(1).pause();
    sim().run_for(std::chrono::milliseconds(sim().random().below(900)));
    std::shared_ptr<Source> feed;
    act(0, [&](Node& node, Time now) {
      if (!node.is_settled()) return;
      feed = std::make_shared<Source>(Source{0, source.session, sim().host(0).life()});
      feed->feed = node.feeds().open(now, source.session, "source", {"g", 1s, 0}).value();
    });
    sim().run_for(std::chrono::milliseconds(sim().random().below(500)));
    sim().host(1).resume();
    sim().run_for(std::chrono::milliseconds(sim().random().below(100)));
    if (feed && seed % 2 == 0) close(feed);
    await([this] { return have_one_view(sim().hosts()); }, 30s, "one view");
    sim().run_for(3s);
    std::size_t open = 0;
    for (const auto& [handle, heard] : feeds_of(listener)) open += heard->end ? 0 : 1;
    EXPECT_EQ(open, feed && seed % 2 == 1 ? 1u : 0u) << "seed " << seed;
    if (feed && seed % 2 == 1) {
      stream(feed, 10, 1ms);
      sim().run_for(1s);
      EXPECT_EQ(feeds_of(listener).rbegin()->second->packets.size(), 10u) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace spindled::sim
