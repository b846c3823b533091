// The parts of feeds at a daemon: what travels of them, what waits, and what a source may send.
#include <gtest/gtest.h>

#include <numeric>

#include "daemon/feed/early_frames.h"
#include "daemon/feed/feed_directory.h"
#include "daemon/feed/feed_operations.h"
#include "daemon/feed/feed_source.h"
#include "daemon/feed/fragment_queue.h"
#include "daemon/feed/link_share.h"
#include "daemon/feed/own_tree.h"
#include "libclient/common/feed_bundle.h"

namespace spindled {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes numbered(std::size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}
Bytes bytes_of(ByteView view) { return {view.begin(), view.end()}; }

// --- Operations ---

TEST(OperationsOfFeeds, ComeBackAsTheyWereAndAreReadStrictly) {
  const FeedOperation operations[] = {FeedsOpened{{{7, "ticks", "writer", 200ms, 0}, {300, "news", "b", 0s, 70'000}}},
                                      FeedsClosed{{{7, 0}, {300, 70'000}}}};
  std::uint8_t number = kFeedOperationMin;
  for (const FeedOperation& operation : operations) {
    EXPECT_EQ(number_of(operation), number);
    Bytes bytes = write_feed_operation(operation);
    const auto read = read_feed_operation(number, bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(write_feed_operation(*read), bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(read_feed_operation(number, ByteView(bytes).first(size))) << size;
    }
    bytes.push_back(0);
    EXPECT_FALSE(read_feed_operation(number, bytes));
    ++number;
  }
  EXPECT_FALSE(read_feed_operation(number, {}));
}

TEST(OperationsOfFeeds, RefuseWhatMakesNoSense) {
  const auto is_read = [](const FeedOperation& operation) {
    return read_feed_operation(number_of(operation), write_feed_operation(operation)).has_value();
  };
  EXPECT_TRUE(is_read(FeedsOpened{{{1, "g", "c", kRepairForMax, 0}}}));
  EXPECT_FALSE(is_read(FeedsOpened{}));
  EXPECT_FALSE(is_read(FeedsClosed{}));
  EXPECT_FALSE(is_read(FeedsOpened{{{0, "g", "c", 1s, 0}}})) << "0 names none";
  EXPECT_FALSE(is_read(FeedsOpened{{{1, "#g", "c", 1s, 0}}}));
  EXPECT_FALSE(is_read(FeedsOpened{{{1, "g", "a b", 1s, 0}}}));
  EXPECT_FALSE(is_read(FeedsOpened{{{1, "g", "c", kRepairForMax + 1us, 0}}}));
  EXPECT_FALSE(is_read(FeedsOpened{{{2, "g", "c", 1s, 0}, {1, "g", "c", 1s, 0}}})) << "not in order";
  EXPECT_FALSE(is_read(FeedsClosed{{{2, 0}, {2, 0}}})) << "twice";
}

// --- What waits ---

TEST(FragmentQueue, CutsMessagesInOrder) {
  SlabPool slabs;
  FragmentQueue queue(slabs);
  queue.add(numbered(250));
  queue.add(numbered(1));
  EXPECT_EQ(queue.bytes(), 251u);
  Bytes whole;
  const std::uint8_t flags[] = {FeedPacket::kFirst, 0, FeedPacket::kLast};
  for (const std::uint8_t each : flags) {
    const FragmentQueue::Fragment fragment = queue.take(100);
    EXPECT_EQ(fragment.flags, each);
    whole.insert(whole.end(), fragment.payload.begin(), fragment.payload.end());
  }
  EXPECT_EQ(whole, numbered(250));
  const FragmentQueue::Fragment last = queue.take(100);
  EXPECT_EQ(last.flags, FeedPacket::kFirst | FeedPacket::kLast);
  EXPECT_EQ(bytes_of(last.payload), numbered(1));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(FragmentQueue, BundlesShortMessagesThatWaitTogether) {
  SlabPool slabs;
  FragmentQueue queue(slabs);
  for (const std::size_t size : {30u, 40u, 26u, 1u, 250u, 5u}) queue.add(numbered(size));
  const auto next = [&] {
    const FragmentQueue::Fragment fragment = queue.take(100);
    std::vector<std::size_t> sizes;
    if ((fragment.flags & FeedPacket::kBundle) != 0) {
      EXPECT_EQ(fragment.flags, FeedPacket::kFirst | FeedPacket::kLast | FeedPacket::kBundle);
      EXPECT_TRUE(spindle::for_each_in_bundle(fragment.payload, [&](ByteView message) {
        EXPECT_EQ(bytes_of(message), numbered(message.size()));
        sizes.push_back(message.size());
      }));
    } else {
      sizes.push_back(fragment.payload.size());
    }
    EXPECT_EQ(fragment.message_bytes, std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
    EXPECT_LE(fragment.payload.size(), 100u);
    return sizes;
  };
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(next(), (Sizes{30, 40, 26})) << "99 bytes with their lengths";
  EXPECT_EQ(next(), Sizes{1}) << "the next one does not fit, and no message begins in the packet of another";
  EXPECT_EQ(next(), Sizes{100});
  EXPECT_EQ(next(), Sizes{100});
  EXPECT_EQ(next(), Sizes{50}) << "nor does one end in it";
  EXPECT_EQ(next(), Sizes{5});
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(FragmentQueue, StaysSmallHoweverMuchHasGoneThrough) {
  SlabPool slabs;
  FragmentQueue queue(slabs);
  queue.add(numbered(10));
  for (int i = 0; i < 10'000; ++i) {
    queue.add(numbered(1'000));
    queue.take(1'000);
  }
  EXPECT_EQ(queue.bytes(), 1'000u);
  EXPECT_LT(queue.memory_bytes(), 100'000u);
}

// Of a burst that has left nothing is kept for the next one: there are as many queues as feeds.
TEST(FragmentQueue, TakesWhatWaitsInIt) {
  SlabPool slabs;
  FragmentQueue queue(slabs);
  const auto take_all_but = [&](std::size_t bytes) {
    while (queue.bytes() > bytes) queue.take(1'200);
  };
  for (const std::size_t size : {100u, 1'000u, 60'000u}) {
    for (std::size_t i = 0; i < 300'000 / size; ++i) queue.add(Bytes(size));
    EXPECT_EQ(slabs.bytes_in_use(), queue.slab_bytes());
    EXPECT_GE(queue.memory_bytes(), 300'000u);
    EXPECT_LE(queue.slab_bytes(), 300'000u + 2 * SlabPool::kMediumBytes);
    take_all_but(50'000);
    EXPECT_LE(queue.slab_bytes(), 50'000u + 2 * SlabPool::kMediumBytes);
    take_all_but(0);
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(slabs.bytes_in_use(), 0u) << "messages of " << size;
    EXPECT_EQ(queue.slab_bytes(), 0u);
    EXPECT_LE(queue.memory_bytes(), 2'400u);
  }
  queue.add(Bytes(100));
  EXPECT_EQ(queue.slab_bytes(), SlabPool::kSmallBytes) << "a short message has a small one";
}

// Over the ends of slabs, which are let go as they are taken, and whatever the sizes.
TEST(FragmentQueue, GivesOutWhatWasPutIn) {
  SlabPool slabs;
  FragmentQueue queue(slabs);
  Random random(1);
  Bytes in, out;
  const auto take = [&] {
    const FragmentQueue::Fragment fragment = queue.take(1'200);
    if ((fragment.flags & FeedPacket::kBundle) == 0) {
      out.insert(out.end(), fragment.payload.begin(), fragment.payload.end());
      return;
    }
    EXPECT_TRUE(spindle::for_each_in_bundle(
        fragment.payload, [&](ByteView message) { out.insert(out.end(), message.begin(), message.end()); }));
  };
  for (int i = 0; i < 2'000; ++i) {
    if (random.chance(0.3)) {
      Bytes message(random.between(1, random.chance(0.2) ? 65'536 : 700));
      for (std::uint8_t& byte : message) byte = static_cast<std::uint8_t>(random.below(256));
      queue.add(message);
      in.insert(in.end(), message.begin(), message.end());
    } else if (!queue.empty()) {
      take();
    }
    EXPECT_EQ(in.size(), out.size() + queue.bytes());
  }
  while (!queue.empty()) take();
  EXPECT_EQ(in, out);
  EXPECT_EQ(slabs.bytes_in_use(), 0u);
}

TEST(EarlyFrames, KeepTheYoungest) {
  EarlyFrames frames;
  const Bytes body(1'000);
  for (std::uint8_t i = 0; i < 200; ++i) frames.add(LinkId(i % 2), i, body);
  EXPECT_EQ(frames.take().size(), 200u);
  for (int i = 0; i < 2'000; ++i) frames.add(LinkId{0}, static_cast<std::uint8_t>(i), body);
  EXPECT_LE(frames.bytes(), EarlyFrames::kBytesMax);
  frames.add(LinkId{1}, 77, body);
  frames.forget(LinkId{0});
  const auto left = frames.take();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.front().type, 77);
  EXPECT_EQ(frames.bytes(), 0u);
}

TEST(FeedDirectory, KnowsFeedsByGroup) {
  FeedDirectory directory;
  const FeedKey one{{"alpha", 1}, 7}, other{{"beta", 1}, 7};
  directory.add({one, 1, "g", "#a#alpha", 1s});
  directory.add({other, 2, "g", "#b#beta", 1s});
  std::vector<FeedHandle> handles;
  const auto note = [&](const OpenFeed& feed) { handles.push_back(feed.handle); };
  directory.for_each_of("g", note);
  directory.for_each_of("h", note);
  EXPECT_EQ(handles, (std::vector<FeedHandle>{1, 2}));
  directory.remove(one);
  directory.remove(one);
  EXPECT_EQ(directory.find(one), nullptr);
  handles.clear();
  directory.for_each_of("g", note);
  EXPECT_EQ(handles, std::vector<FeedHandle>{2});
}

// --- The network of a source ---

TEST(OwnTree, LeadsFromEachReporterTowardsThisDaemon) {
  View view;
  view.id = {1, "a", 1};
  for (const char* name : {"a", "b", "c", "d"}) view.members.push_back({name, 1});
  view.edges = {{0, 1, 10, 100}, {1, 2, 10, 100}, {1, 3, 10, 100}};
  OwnTree tree;
  tree.install(view);
  const auto of = [&](MemberIndex member) { return tree.reporter(view.members[member]); };
  EXPECT_EQ(tree.above(of(1)), of(1)) << "above it is the source";
  EXPECT_EQ(tree.above(of(2)), of(1));
  EXPECT_EQ(tree.above(of(3)), of(1));
  const FeedReporter of_d = of(3);
  // The next view has another order of members, and d behind c.
  View next = view;
  next.members.insert(next.members.begin() + 1, DaemonId{"aa", 1});
  next.edges = {{0, 2, 10, 100}, {2, 3, 10, 100}, {3, 4, 10, 100}};
  tree.install(next);
  EXPECT_EQ(tree.reporter(next.members[4]), of_d) << "the same daemon";
  EXPECT_EQ(tree.above(of_d), tree.reporter(next.members[3]));
  EXPECT_EQ(tree.above(12'345), 12'345u);
}

TEST(LinkShare, HoldsFeedsToTheirPartWhileTheLinkHasAPrice) {
  LinkShare shares(1'400);
  const LinkId link{3};
  Time now{1h};
  std::uint64_t carried = 0;
  const auto taken = [&](bool has_price, double share, Duration time) {
    std::size_t bytes = 0;
    for (const Time end = now + time; now < end; now += 1ms) {
      carried += 10'000;  // 10 MB/s
      for (int i = 0; i < 20; ++i) bytes += shares.take(now, link, {has_price, carried}, share, 1'000) ? 1'000 : 0;
    }
    return static_cast<double>(bytes);
  };
  EXPECT_EQ(taken(false, 0.5, 1s), 20e6) << "all";
  taken(true, 0.5, 200ms);
  EXPECT_NEAR(taken(true, 0.5, 1s), 5e6, 2e5);
  EXPECT_NEAR(taken(true, 0.1, 1s), 1e6, 2e5);
  EXPECT_EQ(taken(false, 0.1, 1s), 20e6);
}

TEST(LinkShare, LeavesSomethingWhereTheConnectionCarriesNothing) {
  // Packets of full length, short ones, and such as another daemon has made.
  for (const auto& [longest, packet] : {std::pair(1'400u, 1'000u), {8'900u, 8'900u}, {1'400u, 8'900u}}) {
    LinkShare shares(longest);
    std::size_t bytes = 0;
    for (Time now{1h}; now < Time{1h} + 100s; now += 1ms) {
      bytes += shares.take(now, LinkId{0}, {true, 5}, 0.5, packet) ? packet : 0;
    }
    EXPECT_NEAR(static_cast<double>(bytes), 100 * LinkShare::kRateMin, 5 * 8'900) << longest << " " << packet;
  }
}

TEST(LinkShare, FourPacketsOfFullLengthMayGoAtOnce) {
  for (const std::size_t longest : {1'400u, 8'900u}) {
    LinkShare shares(longest);
    int taken = 0;
    for (int i = 0; i < 10; ++i) taken += shares.take(Time{1h}, LinkId{2}, {true, 5}, 0.5, longest) ? 1 : 0;
    EXPECT_EQ(taken, 4);
    shares.forget(LinkId{2});
    EXPECT_TRUE(shares.take(Time{1h}, LinkId{2}, {true, 5}, 0.5, longest)) << "another link of that id";
  }
}

// --- A source ---

class FeedSourceTest : public testing::Test {
 protected:
  static constexpr std::size_t kPayload = 1'300;
  static constexpr std::size_t kPacket = 1'400;

  FeedSource make(std::uint64_t bytes_per_second_max = 0) {
    FeedSource source(1, {7, "c"}, {"g", 1s, bytes_per_second_max}, Random(1), tree, slabs);
    source.begin();
    return source;
  }
  void listen(FeedSource& source, Duration round_trip = 20ms) {
    source.set_destinations(now, {MemberSet::of(1), 1, round_trip}, kPacket);
  }
  /// A client that always has something to send, in messages of that size. What leaves, of payload.
  std::size_t run(FeedSource& source, Duration time, std::size_t message = kPayload) {
    std::size_t bytes = 0;
    for (const Time end = now + time; now < end; now += 100us) {
      source.advance(now);
      while (source.has_room()) source.add(now, Bytes(message));
      while (source.may_send(now)) {
        const std::size_t size = source.take(kPayload).payload.size();
        source.sent(now, source.packets(), size, size + kPacket - kPayload);
        bytes += size;
      }
      waited = std::max(waited, source.waiting_bytes());
      source.take_room(kPayload);
    }
    return bytes;
  }

  OwnTree tree;
  SlabPool slabs;
  Time now{1h};
  std::size_t waited = 0;
};

TEST_F(FeedSourceTest, HoldsNothingBackWhereNobodyElseListens) {
  FeedSource source = make();
  EXPECT_EQ(source.take_room(kPayload), FeedSource::kLocalQueueBytes);
  EXPECT_GT(run(source, 100ms), 100'000'000u);
  EXPECT_EQ(source.flow(now).limited_by, FeedLimit::source);
  EXPECT_EQ(source.silent_until(), Time{});
}

TEST_F(FeedSourceTest, HasTwentyMillisecondsWaitingAtMost) {
  FeedSource source = make();
  listen(source);
  const std::size_t first = source.take_room(kPayload);
  EXPECT_GE(first, kPayload);
  EXPECT_LT(first, 10 * kPayload) << "four packets in 20 ms";
  run(source, 5s);
  const double rate = source.flow(now).bytes_per_second;
  EXPECT_GT(rate, 1e6);
  EXPECT_LE(static_cast<double>(source.waiting_bytes()), rate * 0.02 + kPayload);
}

// What waits beyond that would be memory for nothing: at 10 bytes a second 256 KiB take seven hours to leave.
TEST_F(FeedSourceTest, HasTwentyMillisecondsOfItsTermsWaitingWhereNobodyElseListens) {
  FeedSource source = make(1'000'000);
  EXPECT_EQ(source.take_room(kPayload), 20'000u);
  run(source, 1s);
  EXPECT_LE(waited, 20'000u + kPayload);
  FeedSource slow = make(10);
  EXPECT_EQ(slow.take_room(kPayload), kPayload) << "a packet in any case";
  FeedSource fast = make(1'000'000'000);
  EXPECT_EQ(fast.take_room(kPayload), FeedSource::kLocalQueueBytes);
}

TEST_F(FeedSourceTest, WaitsUntilItsFeedIsKnown) {
  FeedSource source(1, {7, "c"}, {"g", 1s, 0}, Random(1), tree, slabs);
  source.add(now, Bytes(10));
  EXPECT_FALSE(source.may_send(now));
  EXPECT_EQ(source.next_at(now), kNever);
  source.close();
  EXPECT_FALSE(source.is_drained());
  source.begin();
  EXPECT_TRUE(source.may_send(now));
  source.take(kPayload);
  EXPECT_TRUE(source.is_drained());
}

TEST_F(FeedSourceTest, HasAWhileForWhatWaitsWhenItsClientIsGone) {
  FeedSource source(1, {7, "c"}, {"g", 3s, 1}, Random(1), tree, slabs);
  source.add(now, Bytes(2 * kPayload));
  source.abandon();
  now += 10s;
  source.advance(now);
  EXPECT_EQ(source.waiting_bytes(), 2 * kPayload) << "nobody knows of the feed yet";
  source.begin();
  source.advance(now);
  source.sent(now, 0, source.take(kPayload).payload.size(), kPacket);
  EXPECT_EQ(source.next_at(now), now + 3s);
  source.advance(now + 3s - 1ns);
  EXPECT_FALSE(source.is_drained());
  source.advance(now + 3s);
  EXPECT_TRUE(source.is_drained());
  EXPECT_EQ(source.waiting_bytes(), 0u);
  EXPECT_EQ(source.slab_bytes(), 0u);
  EXPECT_EQ(slabs.bytes_in_use(), 0u);
}

TEST_F(FeedSourceTest, KeepsLittleOnceItIsIdle) {
  FeedSource source = make();
  listen(source);
  const auto send = [&](int count, Duration every) {
    for (int i = 0; i < count; ++i, now += every) {
      source.add(now, Bytes(10));
      source.advance(now);
      source.sent(now, source.packets(), source.take(kPayload).payload.size(), kPacket);
    }
  };
  send(70'000, 100us);
  EXPECT_GE(source.heap_bytes(), SentPackets::kPackets * 16);
  EXPECT_LE(source.heap_bytes(), SentPackets::kPackets * 16 + 20'000);
  send(20, 1s);
  EXPECT_LE(source.heap_bytes(), sizeof(FeedSource) + 5'000) << "little is sent";
  send(70'000, 100us);
  ASSERT_GE(source.heap_bytes(), SentPackets::kPackets * 16);
  const Time end = now + SentPackets::kTime;
  while (source.next_at(now) != kNever) {
    ASSERT_GT(source.next_at(now), now);
    now = source.next_at(now);
    source.advance(now);
    source.take_flow(now);
  }
  EXPECT_LE(now, end) << "nothing is";
  EXPECT_LE(source.heap_bytes(), sizeof(FeedSource) + 5'000);
}

TEST_F(FeedSourceTest, KeepsToTheRateOfItsTerms) {
  for (const bool is_heard : {false, true}) {
    FeedSource source = make(100'000);
    if (is_heard) listen(source);
    source.take_room(kPayload);
    run(source, 5s, 400);
    EXPECT_NEAR(static_cast<double>(run(source, 10s, 400)), 1e6, 2e4);
    EXPECT_EQ(source.flow(now).limited_by, FeedLimit::maximum);
    EXPECT_EQ(source.flow(now).bytes_per_second, 100'000);
  }
}

TEST_F(FeedSourceTest, FallsSilentWhenItHearsOfALoss) {
  FeedSource source = make();
  listen(source);
  source.take_room(kPayload);
  run(source, 2s);
  const double before = source.flow(now).bytes_per_second;
  const std::uint64_t lost = source.packets() - 3;
  LossReport report;
  report.heard = lost + 1;
  report.sequences = {&lost, 1};
  EXPECT_TRUE(source.lost(now, report));
  EXPECT_GT(source.silent_until(), now);
  EXPECT_FALSE(source.may_send(now));
  EXPECT_LT(source.flow(now).bytes_per_second, before * 0.6);
  source.yielded(now);
  EXPECT_EQ(source.flow(now).limited_by, FeedLimit::share);
}

TEST_F(FeedSourceTest, CountsRepairsAsWhatLeaves) {
  FeedSource source = make();
  listen(source);
  run(source, 1s);
  source.add(now, Bytes(10));
  now += 1s;
  source.advance(now);
  EXPECT_TRUE(source.may_send(now));
  source.repaired(1'000'000);
  EXPECT_FALSE(source.may_send(now));
}

TEST_F(FeedSourceTest, TellsItsFlowSeldomAndOnlyNews) {
  FeedSource source = make(20'000'000);
  listen(source);
  int told = 0;
  for (int i = 0; i < 1'000; ++i) {
    run(source, 10ms);
    told += source.take_flow(now) ? 1 : 0;
  }
  EXPECT_GT(told, 3);
  EXPECT_LE(told, 51) << "10 s";
  const auto last = source.take_flow(now + 10s);
  EXPECT_FALSE(last && source.take_flow(now + 20s)) << "nothing has happened since";
}

}  // namespace
}  // namespace spindled
