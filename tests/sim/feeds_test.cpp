// Feeds of whole daemons: who gets what, when nothing fails.
#include "libclient/common/feed_bundle.h"
#include "tests/sim/feed_scenario.h"

namespace spindled::sim {
namespace {

class Feeds : public FeedScenario {};

TEST_F(Feeds, ReachTheListenersOfAnotherDaemonInOrder) {
  start_line(1, 2);
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(1);
  const auto feed = open(source);
  stream(feed, 500, 1ms);
  sim().run_for(1s);
  EXPECT_EQ(feed->sent, 500u);
  const FeedEar::Heard& heard = heard_by(listener);
  EXPECT_EQ(heard.group, "g");
  EXPECT_EQ(heard.source, "#source#h0");
  EXPECT_EQ(heard.repair_for, 1s);
  EXPECT_TRUE(heard.is_new);
  ASSERT_EQ(heard.packets.size(), 500u);
  for (std::uint64_t i = 0; i < 500; ++i) {
    EXPECT_EQ(heard.packets[i].sequence, i);
    EXPECT_EQ(heard.packets[i].payload, message(i, kAlone));
    EXPECT_EQ(heard.packets[i].flags, FeedPacket::kFirst | FeedPacket::kLast);
  }
  EXPECT_TRUE(heard.lost.empty());
  EXPECT_EQ(counted(0, Counter::feeds_opened), 1u);
  EXPECT_EQ(counted(0, Counter::feed_packets_sent), 500u);
  EXPECT_EQ(counted(1, Counter::feed_packets_in), 500u);
  EXPECT_EQ(counted(1, Counter::feed_packets_delivered), 500u);
  EXPECT_TRUE(feeds_of(source).empty()) << "it has not said that it listens";
  close(feed);
  sim().run_for(1s);
  EXPECT_EQ(heard_by(listener).end, FeedEnd::closed);
}

TEST_F(Feeds, CostNoRoutesWhereThereAreNone) {
  start_line(21, 3);
  const Member member = add_member(0);
  sim().host(2).crash();
  await([&] { return have_one_view({&sim().host(0), &sim().host(1)}); }, 10s, "two of them");
  sim().host(2).start();
  await([this] { return have_one_view(sim().hosts()); }, 20s, "all of them");
  const auto found = [this](std::size_t host) {
    std::uint64_t count = 0;
    act(host, [&](Node& node, Time) { count = node.feeds().routes_found(); });
    return count;
  };
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(found(i), 0u) << i;
  const auto feed = open(member);
  sim().run_for(1s);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(found(i), 1u) << i;
  sim().host(2).crash();
  await([&] { return have_one_view({&sim().host(0), &sim().host(1)}); }, 10s, "two of them");
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(found(i), 2u) << i;
}

TEST_F(Feeds, BundleShortMessagesThatWaitTogether) {
  start_line(22, 2);
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(1);
  const auto feed = open(source);
  sim().run_for(100ms);
  for (int i = 0; i < 10; ++i) send(feed, 20);
  sim().run_for(1s);
  ASSERT_EQ(feed->sent, 10u);
  std::uint64_t next = 0;
  for (const FeedEar::Packet& packet : heard_by(listener).packets) {
    if ((packet.flags & FeedPacket::kBundle) == 0) {
      EXPECT_EQ(packet.payload, message(next++, 20));
      continue;
    }
    spindle::for_each_in_bundle(packet.payload, [&](ByteView each) {
      EXPECT_EQ(std::vector<std::uint8_t>(each.begin(), each.end()), message(next++, 20));
    });
  }
  EXPECT_EQ(next, 10u);
  EXPECT_LT(counted(0, Counter::feed_packets_sent), 5u);
}

TEST_F(Feeds, AreCutIntoPacketsWhereMessagesAreLong) {
  start_line(2, 3);
  const Member source = add_member(0);
  const Member listener = add_member(2);
  const auto feed = open(source);
  sim().run_for(100ms);
  send(feed, spindled::Feeds::kMessageBytesMax);
  sim().run_for(2s);
  ASSERT_EQ(feed->sent, 1u);
  for (const Member& each : {source, listener}) {
    std::vector<std::uint8_t> whole;
    std::vector<FeedEar::Packet> packets = heard_by(each).packets;
    ASSERT_GT(packets.size(), 40u);
    std::sort(packets.begin(), packets.end(), [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
    for (const FeedEar::Packet& packet : packets) {
      const bool is_first = whole.empty();
      whole.insert(whole.end(), packet.payload.begin(), packet.payload.end());
      const bool is_last = whole.size() == spindled::Feeds::kMessageBytesMax;
      EXPECT_EQ(packet.flags, (is_first ? FeedPacket::kFirst : 0) | (is_last ? FeedPacket::kLast : 0));
    }
    EXPECT_EQ(whole, message(0, spindled::Feeds::kMessageBytesMax));
  }
}

TEST_F(Feeds, CostNoNetworkWhereNobodyElseListens) {
  start_line(3, 2);
  const Member source = add_member(0);
  const auto feed = open(source);
  sim().run_for(1s);
  const std::uint64_t before = counted(0, Counter::datagrams_out);
  stream(feed, 1'000, 1ms, 1'000);
  sim().run_for(2s);
  EXPECT_EQ(feed->sent, 1'000u);
  EXPECT_EQ(heard_by(source).packets.size(), 1'000u);
  EXPECT_EQ(counted(0, Counter::datagrams_out), before);
  EXPECT_EQ(counted(1, Counter::feed_packets_in), 0u);
  EXPECT_LT(sim().host(0).node().memory().feeds, 100'000u) << "nothing is kept for repairs";
}

TEST_F(Feeds, BeginForWhoComesLateWithTheNextPacket) {
  start_line(4, 3);
  const Member source = add_member(0, "g", false);
  const Member first = add_member(1);
  const auto feed = open(source);
  stream(feed, 2'000, 1ms);
  sim().run_for(500ms);
  const Member late = add_member(2);
  const Member beside = add_member(1);
  sim().run_for(2s);
  EXPECT_EQ(feed->sent, 2'000u);
  EXPECT_EQ(heard_by(first).packets.size(), 2'000u);
  for (const Member& each : {late, beside}) {
    const FeedEar::Heard& heard = heard_by(each);
    ASSERT_FALSE(heard.packets.empty());
    EXPECT_GT(heard.packets.front().sequence, 400u);
    EXPECT_EQ(heard.packets.size(), 2'000 - heard.packets.front().sequence);
    EXPECT_TRUE(heard.lost.empty());
  }
  EXPECT_FALSE(heard_by(late).is_new);
}

TEST_F(Feeds, AreHeardByMembersOnlyAsLongAsTheyListen) {
  start_line(5, 2);
  const Member source = add_member(0, "g", false);
  const Member leaver = add_member(1), stopper = add_member(1), stranger = add_member(1, "h");
  const auto feed = open(source);
  act(1, [&](Node& node, Time now) { node.feeds().listen(now, stranger.session, "g"); });
  stream(feed, 1'000, 1ms);
  sim().run_for(300ms);
  leaver.client->leave("g");
  act(1, [&](Node& node, Time now) { node.feeds().stop_listening(now, stopper.session, "g"); });
  sim().run_for(100ms);
  const std::size_t of_leaver = packets_of(leaver), of_stopper = packets_of(stopper);
  EXPECT_GT(of_leaver, 200u);
  EXPECT_TRUE(feeds_of(stranger).empty()) << "it is no member";
  stranger.client->join("g");
  sim().run_for(1s);
  EXPECT_EQ(packets_of(leaver), of_leaver);
  EXPECT_EQ(packets_of(stopper), of_stopper);
  EXPECT_GT(packets_of(stranger), 400u);
  EXPECT_EQ(heard_by(leaver).end, FeedEnd::left);
  EXPECT_EQ(heard_by(stopper).end, FeedEnd::left);
  EXPECT_FALSE(heard_by(stranger).end);
}

TEST_F(Feeds, AskForNothingThatWasSentWhileNobodyListened) {
  start_line(15, 3);
  const Member source = add_member(0, "g", false);
  const Member first = add_member(2);
  const auto feed = open(source);
  stream(feed, 3'000, 1ms);
  sim().run_for(300ms);
  first.client->leave("g");
  sim().run_for(500ms);
  const Member second = add_member(2);
  sim().run_for(4s);
  EXPECT_EQ(feed->sent, 3'000u);
  const FeedEar::Heard& heard = heard_by(second);
  ASSERT_FALSE(heard.packets.empty());
  EXPECT_GT(heard.packets.front().sequence, 700u);
  EXPECT_EQ(heard.packets.size(), 3'000 - heard.packets.front().sequence);
  EXPECT_EQ(counted(2, Counter::feed_naks_sent), 0u);
}

TEST_F(Feeds, EndWithTheSessionOfTheirSource) {
  start_line(6, 2);
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(1);
  const auto one = open(source), other = open(source);
  stream(one, 100, 1ms);
  sim().run_for(200ms);
  act(0, [&](Node& node, Time now) { node.feeds().close_session(now, source.session); });
  sim().run_for(1s);
  const auto feeds = feeds_of(listener);
  ASSERT_EQ(feeds.size(), 2u);
  for (const auto& [feed, heard] : feeds) EXPECT_EQ(heard->end, FeedEnd::closed);
  act(0, [&](Node& node, Time now) {
    EXPECT_EQ(node.feeds().send(now, source.session, one->feed, message(0, 10)), Errc::unknown_feed);
  });
}

TEST_F(Feeds, SendWhatWaitsBeforeTheyEnd) {
  start_line(7, 2);
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(1);
  const auto feed = open(source, {"g", 1s, 200'000});
  act(0, [&](Node& node, Time now) {
    while (ear(0).sources[feed->feed].room > 0) send(node, now, *feed, 1'000);
    node.feeds().close(now, source.session, feed->feed);
  });
  sim().run_for(3s);
  EXPECT_GT(feed->sent, 2u);
  EXPECT_EQ(heard_by(listener).packets.size(), feed->sent);
  EXPECT_EQ(heard_by(listener).end, FeedEnd::closed);
}

TEST_F(Feeds, GoAtTheRateThatTheirSourceHasSet) {
  start_line(8, 2);
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(1);
  const auto feed = open(source, {"g", 1s, 100'000});
  stream(feed, 40'000, 250us);  // thirty times as much
  sim().run_for(10s);
  EXPECT_GT(feed->refused, 30'000u);
  EXPECT_NEAR(static_cast<double>(heard_by(listener).packets.size()), 1'250, 60);
  ASSERT_FALSE(ear(0).sources[feed->feed].flows.empty());
  EXPECT_EQ(ear(0).sources[feed->feed].flows.back().limited_by, FeedLimit::maximum);
  EXPECT_LE(ear(0).sources[feed->feed].flows.size(), 52u) << "not more often than each 200 ms";
}

TEST_F(Feeds, RefuseWhatThereIsNoRoomFor) {
  start_line(9, 2);
  const Member source = add_member(0, "g", false);
  add_member(1);
  act(0, [&](Node& node, Time now) {
    spindled::Feeds& feeds = node.feeds();
    EXPECT_EQ(feeds.open(now, source.session, "source", {"#g", 1s, 0}).error().code, Errc::bad_group_name);
    const FeedHandle feed = feeds.open(now, source.session, "source", {"g", 1s, 0}).value();
    std::int64_t room = ear(0).sources[feed].room;
    EXPECT_GT(room, 0);
    for (; room > 0; room -= 1'000) EXPECT_FALSE(feeds.send(now, source.session, feed, message(0, 1'000)));
    EXPECT_EQ(feeds.send(now, source.session, feed, message(0, 1'000)), Errc::flow_exceeded);
    EXPECT_EQ(feeds.send(now, source.session + 1'000, feed, message(0, 1'000)), Errc::unknown_feed);
    for (std::size_t i = 1; i < spindled::Feeds::kFeedsPerClient; ++i) {
      EXPECT_TRUE(feeds.open(now, source.session, "source", {"g", 1s, 0}));
    }
    EXPECT_EQ(feeds.open(now, source.session, "source", {"g", 1s, 0}).error().code, Errc::too_many_feeds);
    feeds.close(now, source.session, feed);
    EXPECT_FALSE(feeds.open(now, source.session, "source", {"g", 1s, 0})) << "it may still be asked for packets";
  });
  sim().run_for(5s);
  act(0, [&](Node& node, Time now) { EXPECT_TRUE(node.feeds().open(now, source.session, "source", {"g", 1s, 0})); });
}

TEST_F(Feeds, GoOverTheConnectionsOfLinksWhereUdpIsBlocked) {
  datagrams_are_blocked = true;
  start_line(10, 3, {.blocked = true});
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(2);
  const auto feed = open(source);
  stream(feed, 500, 1ms);
  sim().run_for(2s);
  EXPECT_EQ(heard_by(listener).packets.size(), 500u);
  EXPECT_EQ(counted(0, Counter::datagrams_in), 0u);
  EXPECT_GT(counted(0, Counter::bytes_datagrams), 50'000u);
}

/// Between h1 and h2 datagrams get through, and what h0 sends is too long for them.
TEST_F(Feeds, OfADaemonThatHasLongerDatagramsGoOverConnections) {
  simulate(23);
  datagrams().turn_on();
  datagrams_are_blocked = true;  // between h0 and h1, whose lengths differ
  FeedConfig jumbo;
  jumbo.datagram_bytes = 8'900;
  add_host(0, {}, jumbo);
  add_host(1, {0});
  add_host(2, {1});
  start_all();
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(2);
  const auto feed = open(source);
  stream(feed, 100, 20ms, 8'000);
  sim().run_for(4s);
  EXPECT_GT(feed->sent, 50u);
  const FeedEar::Heard& heard = heard_by(listener);
  ASSERT_EQ(heard.packets.size(), feed->sent);
  EXPECT_EQ(heard.packets.back().payload, message(feed->sent - 1, 8'000));
  EXPECT_TRUE(sim().host(1).node().link_to("h2")->datagrams.is_open);
  EXPECT_GT(counted(1, Counter::bytes_datagrams), 8'000 * feed->sent);
}

/// NAKs that lie at the daemon meanwhile say nothing of the network.
TEST_F(Feeds, TakeNoStandstillOfTheirDaemonForARoundTrip) {
  start_line(24, 2, {.delay = 10ms, .loss = 0.05});
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(1);
  const auto feed = open(source);
  stream(feed, 8'000, 1ms);
  for (int i = 0; i < 10; ++i) {
    sim().run_for(500ms);
    sim().host(0).pause();
    sim().run_for(300ms);
    sim().host(0).resume();
  }
  EXPECT_GT(heard_by(listener).packets.size(), 500u);
  Duration longest{};
  for (const FeedFlow& flow : ear(0).sources[feed->feed].flows) longest = std::max(longest, flow.round_trip);
  EXPECT_GT(longest, 15ms);
  EXPECT_LT(longest, 30ms);
}

}  // namespace
}  // namespace spindled::sim
