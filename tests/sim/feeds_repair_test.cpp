// Feeds of whole daemons on links that lose packets, and with neighbours that send what they should not.
#include "daemon/wire/datagram_envelope.h"
#include "tests/sim/feed_scenario.h"

namespace spindled::sim {
namespace {

class FeedLosses : public FeedScenario {
 protected:
  /// All that is sent comes, the gaps at its end aside.
  void expect_all(const Member& member, std::uint64_t packets) {
    const FeedEar::Heard& heard = heard_by(member);
    EXPECT_EQ(heard.got.size(), packets);
    EXPECT_TRUE(heard.lost.empty());
  }
  std::uint64_t on_all(Counter counter) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < sim().host_count(); ++i) sum += counted(i, counter);
    return sum;
  }
};

TEST_F(FeedLosses, AreRepairedByTheNeighbourThatHasThePacket) {
  start_line(21, 5);
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(4);
  datagrams().path(3, 4).loss = 0.05;
  const auto feed = open(source, {"g", 2s, 200'000});
  stream(feed, 20'000, 1ms);
  sim().run_for(25s);
  EXPECT_GT(feed->sent, 1'000u) << "as TCP would, it goes slowly";
  expect_all(listener, feed->sent);
  EXPECT_GT(counted(4, Counter::feed_naks_sent), 50u);
  EXPECT_GT(counted(3, Counter::feed_naks_in), 50u);
  EXPECT_GT(counted(3, Counter::feed_repairs_sent), 50u);
  EXPECT_GT(counted(4, Counter::feed_repairs_in), 50u);
  for (const std::size_t host : {0u, 1u, 2u}) EXPECT_EQ(counted(host, Counter::feed_repairs_sent), 0u) << host;
  EXPECT_GT(counted(0, Counter::feed_reductions), 0u) << "the source hears of losses that were repaired elsewhere";
}

TEST_F(FeedLosses, AreRepairedOnALineThatLosesEverywhere) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    start_line(seed, 5);
    const Member source = add_member(0);
    const Member middle = add_member(2), last = add_member(4);
    datagrams().set_default_path({.loss = 0.05, .repeated = 0.02, .late = 0.05});
    for (HostIndex i = 0; i + 1 < 5; ++i)
      datagrams().set_path(i, i + 1, {.loss = 0.05, .repeated = 0.02, .late = 0.05});
    const auto feed = open(source, {"g", 2s, 200'000});
    stream(feed, 1'000, 1ms);
    sim().run_for(2s);
    close(feed);
    sim().run_for(5s);
    for (const Member& each : {source, middle, last}) {
      expect_all(each, feed->sent);
      EXPECT_EQ(heard_by(each).end, FeedEnd::closed);
    }
    if (HasFailure()) return;
  }
}

TEST_F(FeedLosses, AreGapsAtOnceWhereNothingIsToBeRepaired) {
  start_line(23, 3);
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(2);
  datagrams().path(1, 2).loss = 0.1;
  const auto feed = open(source, {"g", 0s, 0});
  stream(feed, 9'000, 1ms);
  sim().run_for(10s);
  const FeedEar::Heard& heard = heard_by(listener);
  EXPECT_GT(heard.lost.size(), 50u);
  EXPECT_EQ(heard.unknown(), 0u);
  EXPECT_EQ(counted(2, Counter::feed_packets_lost), heard.lost.size());
  EXPECT_EQ(on_all(Counter::feed_repairs_sent), 0u);
  EXPECT_GT(counted(0, Counter::feed_reductions), 0u);
  const FeedFlow flow = ear(0).sources[feed->feed].flows.back();
  EXPECT_GT(flow.loss, 0.02);
  EXPECT_GT(flow.round_trip, Duration::zero());
}

/// A daemon that stood still reads datagrams and connections in one turn, and the opening is in the order.
TEST_F(FeedLosses, AreToldThoughTheOpeningComesAfterThem) {
  start_line(29, 3);
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(2);
  sim().host(2).pause();
  const auto feed = open(source, {"g", 0s, 0});
  stream(feed, 300, 1ms);
  sim().run_for(10ms);
  datagrams().path(1, 2).loss = 0.1;
  sim().run_for(390ms);
  datagrams().path(1, 2).loss = 0;
  sim().host(2).resume();
  sim().run_for(1s);
  const FeedEar::Heard& heard = heard_by(listener);
  EXPECT_GT(heard.lost.size(), 10u);
  EXPECT_EQ(heard.unknown(), 0u);
  EXPECT_EQ(heard.packets.size() + heard.lost.size(), 300u);
}

TEST_F(FeedLosses, AreRepairedPastRelaysThatKeepNothing) {
  start_line(24, 5, {}, {.cache = FeedCache::members});
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(4);
  datagrams().path(2, 3).loss = 0.05;
  const auto feed = open(source, {"g", 2s, 200'000});
  stream(feed, 20'000, 1ms);
  sim().run_for(25s);
  EXPECT_GT(feed->sent, 1'000u);
  expect_all(listener, feed->sent);
  EXPECT_GT(counted(0, Counter::feed_repairs_sent), 50u);
  for (const std::size_t host : {1u, 2u, 3u}) EXPECT_EQ(counted(host, Counter::feed_repairs_sent), 0u) << host;
}

/// The listeners that a relay steers requests to are those that may die.
TEST_F(FeedLosses, AreRepairedThoughTheReplierIsDead) {
  simulate(25);
  datagrams().turn_on();
  const FeedConfig members{.cache = FeedCache::members};
  add_host(0, {}, members);
  add_host(1, {0}, members);
  for (std::size_t leaf = 2; leaf <= 4; ++leaf) add_host(leaf, {1}, members);
  start_all();
  const Member source = add_member(0, "g", false);
  std::vector<Member> listeners;
  for (std::size_t leaf = 2; leaf <= 4; ++leaf) listeners.push_back(add_member(leaf));
  for (HostIndex leaf = 2; leaf <= 4; ++leaf) datagrams().path(1, leaf).loss = 0.05;
  const auto feed = open(source, {"g", 5s, 100'000});
  stream(feed, 8'000, 1ms);
  sim().run_for(3s);
  const std::uint64_t repaired = on_all(Counter::feed_repairs_sent);
  EXPECT_GT(repaired, 0u);
  sim().host(2).pause();  // it is silent, and its links are up for a while
  const std::uint64_t before = feed->sent;
  sim().run_for(10s);
  EXPECT_GT(feed->sent, before + 100);
  EXPECT_GT(on_all(Counter::feed_repairs_sent), repaired + 10);
  expect_all(listeners[1], feed->sent);
  expect_all(listeners[2], feed->sent);
  sim().host(2).resume();
  sim().run_for(1s);
}

/// Daemons forget a feed of which nothing has come for 10 s, but not what its listeners have had.
TEST_F(FeedLosses, AreRepairedWhereLittleIsSent) {
  start_line(27, 3);
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(2);
  const auto feed = open(source);
  for (int i = 0; i < 6; ++i) {
    const bool is_lost = i % 2 == 1;
    datagrams().path(1, 2).loss = is_lost ? 1 : 0;
    send(feed);
    sim().run_for(1ms);
    datagrams().path(1, 2).loss = 0;
    sim().run_for(25s);
    EXPECT_LT(sim().host(1).node().memory().feeds, 1'000u) << "nothing is kept but that there is the feed";
    EXPECT_EQ(packets_of(listener), feed->sent);
  }
  EXPECT_EQ(heard_by(listener).unknown(), 0u);
  EXPECT_GE(counted(1, Counter::feed_repairs_sent), 3u);
}

/// The end of a feed comes on connections, and may be there before anything shows what was lost just before it.
TEST_F(FeedLosses, AreRepairedWhereTheFeedIsClosedBehindAPause) {
  for (const int before : {0, 1}) {
    start_line(30, 3);
    const Member source = add_member(0, "g", false);
    const Member listener = add_member(2);
    const auto feed = open(source);
    for (int i = 0; i < before; ++i) send(feed);
    sim().run_for(25s);
    datagrams().path(1, 2).loss = 1;
    send(feed);
    close(feed);
    sim().run_for(1ms);
    datagrams().path(1, 2).loss = 0;
    sim().run_for(5s);
    EXPECT_EQ(packets_of(listener), feed->sent);
    EXPECT_TRUE(heard_by(listener).lost.empty());
    EXPECT_EQ(heard_by(listener).end, FeedEnd::closed);
  }
}

TEST_F(FeedLosses, AreToldWhereTheFeedIsClosedBehindAPause) {
  start_line(31, 3);
  const Member source = add_member(0, "g", false);
  const Member listener = add_member(2);
  const auto feed = open(source);
  send(feed);
  sim().run_for(25s);
  datagrams().path(1, 2).loss = 1;
  send(feed);
  send(feed);
  close(feed);
  sim().run_for(5s);
  EXPECT_EQ(packets_of(listener), 1u);
  EXPECT_EQ(heard_by(listener).lost, (std::set<std::uint64_t>{1, 2}));
  EXPECT_EQ(heard_by(listener).end, FeedEnd::closed);
}

TEST_F(FeedLosses, MakeTheRateFollowTheNetwork) {
  start_line(26, 2);
  const Member source = add_member(0, "g", false);
  add_member(1);
  const auto feed = open(source);
  stream(feed, 100'000, 100us, 1'000);  // 10 MB/s
  sim().run_for(4s);
  const auto rate = [&] { return ear(0).sources[feed->feed].flows.back().bytes_per_second; };
  const double free = rate();
  datagrams().path(0, 1).loss = 0.05;
  sim().run_for(4s);
  EXPECT_LT(rate(), free / 2);
  EXPECT_GT(feed->refused, 0u) << "the source is told by its room";
  EXPECT_EQ(ear(0).sources[feed->feed].flows.back().limited_by, FeedLimit::link);
}

// --- Neighbours that send what they should not ---

class FeedNeighbours : public FeedLosses {
 protected:
  /// A datagram from one host to the other as if it had sent it, behind all that it has sent so far.
  void forge(HostIndex from, HostIndex to, ByteView frames) {
    DatagramHead head = heads_.at({from, to});
    heads_.at({from, to}).sequence = head.sequence += 1;
    std::vector<std::uint8_t> bytes(kDatagramHeadBytes);
    Writer writer(bytes.data());
    write_datagram_head(writer, head);
    bytes.insert(bytes.end(), frames.begin(), frames.end());
    datagrams().forge(datagrams().address_of(from), to, std::move(bytes));
  }
  template <typename Write>
  static std::vector<std::uint8_t> frame(DatagramFrame type, Write&& write) {
    std::vector<std::uint8_t> body(2'000);
    Writer writer(body.data());
    write(writer);
    body.resize(writer.size());
    std::vector<std::uint8_t> bytes(kDatagramFrameHeadBytes);
    Writer head(bytes.data());
    write_datagram_frame_head(head, type, body.size());
    bytes.insert(bytes.end(), body.begin(), body.end());
    return bytes;
  }
  /// From here on the tokens that hosts use are known.
  void listen_in() {
    datagrams().set_tap([this](HostIndex from, const DatagramAddress& to, ByteView bytes) {
      for (HostIndex host = 0; host < sim().host_count(); ++host) {
        if (datagrams().address_of(host) == to) heads_[{from, host}] = *read_datagram_head(bytes);
      }
    });
  }
  std::uint16_t view_tag(std::size_t host) {
    return static_cast<std::uint16_t>(sim().host(host).node().view().id.number);
  }

  std::map<std::pair<HostIndex, HostIndex>, DatagramHead> heads_;
};

TEST_F(FeedNeighbours, ThatAskWithoutEndGetNoFlood) {
  start_line(31, 3);
  const Member source = add_member(0, "g", false);
  const Member near = add_member(1), far = add_member(2);
  const auto feed = open(source, {"g", 2s, 200'000});
  stream(feed, 2'000, 1ms);
  sim().run_for(1s);
  FeedNak nak;
  nak.ref = {view_tag(2), 0, feed->feed};
  nak.attempt = 5;
  nak.hops = 5;
  nak.reporter = 2;
  nak.first = 100;
  for (std::size_t i = 0; i < SequenceBits::kMax; ++i) nak.bits.insert(i);
  const std::uint64_t before = counted(1, Counter::datagrams_out);
  for (int i = 0; i < 1'000; ++i) {
    act(2, [&](Node& node, Time) {
      for (int n = 0; n < 20; ++n) node.feeds().output().send(*node.feeds().routes().link_to(0), nak);
    });
  }
  sim().run_for(4s);
  EXPECT_GT(counted(1, Counter::feed_naks_refused), 5'000u);
  EXPECT_GT(counted(1, Counter::feed_repairs_refused), 100'000u);
  EXPECT_LT(counted(1, Counter::feed_repairs_sent), 2'000u) << "a quarter of the feed, and 16 packets";
  EXPECT_LT(counted(1, Counter::datagrams_out) - before, 10'000u);
  EXPECT_EQ(counted(1, Counter::links_down), 0u);
  EXPECT_EQ(heard_by(near).got.size(), feed->sent);
  EXPECT_EQ(heard_by(far).got.size(), feed->sent);
}

TEST_F(FeedNeighbours, ThatSendWhatNoDaemonSendsLoseTheirLink) {
  start_line(32, 2);
  listen_in();
  const Member source = add_member(0, "g", false);
  add_member(1);
  const auto feed = open(source);
  send(feed);
  sim().run_for(100ms);
  FeedNak nak;
  nak.ref = {view_tag(1), 5, feed->feed};  // there are two members
  nak.hops = 5;
  nak.bits.insert(0);
  forge(1, 0, frame(DatagramFrame::nak, [&](Writer& writer) { write_nak(writer, nak); }));
  sim().run_for(10ms);
  EXPECT_EQ(counted(0, Counter::links_down), 1u);
  EXPECT_EQ(counted(0, Counter::link_frames_bad), 1u);
  await([this] { return have_one_view(sim().hosts()) && are_open(); }, 10s, "one view");
  forge(1, 0, std::vector<std::uint8_t>{77, 0, 0});  // a type of frame that there is not
  sim().run_for(10ms);
  EXPECT_EQ(counted(0, Counter::link_frames_bad), 2u);
}

TEST_F(FeedNeighbours, ThatNameOtherViewsCostNothing) {
  start_line(33, 2);
  const Member source = add_member(0, "g", false);
  add_member(1);
  const auto feed = open(source);
  send(feed);
  sim().run_for(2s);
  const auto say = [&](int times, int views_ahead) {
    act(1, [&](Node& node, Time) {
      FeedBeat beat;
      beat.ref = {static_cast<std::uint16_t>(view_tag(0) + views_ahead), 0, 1};
      beat.to = MemberSet::of(1);
      for (int i = 0; i < times; ++i) node.feeds().output().send(*node.feeds().routes().link_to(0), beat);
    });
    sim().run_for(1ms);
  };
  say(100, -100);
  sim().run_for(100ms);
  EXPECT_EQ(counted(0, Counter::feed_frames_stray), 100u);
  for (int i = 0; i < 40; ++i) say(1'000, 100);
  sim().run_for(100ms);
  EXPECT_EQ(counted(0, Counter::feed_frames_early), 40'000u);
  const std::size_t kept = sim().host(0).node().memory().feeds - sim().host(1).node().memory().feeds;
  EXPECT_LT(kept, (1u << 20) + 100'000);
  EXPECT_GT(kept, 500'000u);
  EXPECT_EQ(counted(0, Counter::links_down), 0u);
}

}  // namespace
}  // namespace spindled::sim
