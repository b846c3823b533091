// The simulated network itself.
#include "tests/sim/network.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/sim/trace.h"

namespace spindled::sim {
namespace {

/// Reads all that comes, unless told not to.
class Peer final : public StreamOwner, public StreamListener {
 public:
  explicit Peer(Network& network) : network_(&network) {}

  void stream_connected(StreamRef opened) override {
    end = opened;
    connected = true;
  }
  void stream_readable(StreamRef from) override {
    if (reading) read_all(from);
  }
  void stream_writable(StreamRef) override { ++writable; }
  void stream_closed(StreamRef, std::string_view why) override { closed = why; }
  StreamOwner* stream_accepted(StreamRef accepted, Port, std::string_view) override {
    if (refusing) return nullptr;
    end = accepted;
    connected = true;
    return this;
  }
  void read_all(StreamRef from) {
    std::uint8_t buffer[1000];
    while (const std::size_t count = network_->read(from, buffer)) {
      received.insert(received.end(), buffer, buffer + count);
      ++reads;
    }
    at_end = network_->at_end(from);
  }
  std::size_t write(const std::vector<std::uint8_t>& bytes) {
    const ByteView view(bytes);
    return network_->write(end, {&view, 1});
  }

  StreamRef end;
  bool connected = false, reading = true, refusing = false, at_end = false;
  std::size_t writable = 0, reads = 0;
  std::string closed;
  std::vector<std::uint8_t> received;

 private:
  Network* network_;
};

class NetworkTest : public testing::Test {
 protected:
  NetworkTest() {
    network.add_host("a", "a:1", a);
    network.add_host("b", "b:1", b);
    network.add_host("c", "c:1", c);
  }
  void run(Duration duration) {
    const Time end = events.now() + duration;
    while (events.step(end)) {
    }
    events.advance(end);
  }
  void connect(Peer& from, HostIndex index, const char* address) {
    from.end = network.dial(index, address, from);
    run(50ms);
    ASSERT_TRUE(from.connected);
  }
  /// Writes all of `bytes` as room appears; the virtual time that it took to arrive.
  Duration carry(Peer& from, Peer& to, const std::vector<std::uint8_t>& bytes) {
    const Time start = events.now();
    const std::size_t target = to.received.size() + bytes.size();
    std::size_t written = 0;
    while (to.received.size() < target && events.now() - start < 100s) {
      const ByteView rest = ByteView(bytes).subspan(written);
      if (!rest.empty()) written += network.write(from.end, {&rest, 1});
      run(100us);
    }
    return events.now() - start;
  }
  static std::vector<std::uint8_t> pattern(std::size_t size) {
    std::vector<std::uint8_t> bytes(size);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    return bytes;
  }

  EventQueue events;
  Network network{events, 1};
  Peer a{network}, b{network}, c{network};
};

TEST_F(NetworkTest, CarriesBytesInOrderAndInOddPieces) {
  connect(a, 0, "b:1");
  const auto bytes = pattern(300'000);
  carry(a, b, bytes);
  EXPECT_EQ(b.received, bytes);
  carry(b, a, bytes);
  EXPECT_EQ(a.received, bytes);
}

TEST_F(NetworkTest, InjectedBytesComeBehindWhatWasWritten) {
  connect(a, 0, "b:1");
  a.write({1, 2, 3});
  const std::vector<std::uint8_t> garbage{7, 8};
  EXPECT_EQ(network.inject(0, 1, garbage), 1u);
  EXPECT_EQ(network.inject(0, 2, garbage), 0u) << "no stream";
  a.write({4});
  run(10ms);
  EXPECT_EQ(b.received, (std::vector<std::uint8_t>{1, 2, 3, 7, 8, 4}));
  EXPECT_TRUE(a.received.empty()) << "one direction only";
}

TEST_F(NetworkTest, CapacityLimitsAndIsShared) {
  network.set_path(0, 1, {.bytes_per_second = 1'000'000, .delay = 10ms, .jitter = 0ns});
  connect(a, 0, "b:1");
  run(100ms);
  const Duration alone = carry(a, b, pattern(500'000));
  EXPECT_GE(alone, 500ms);
  EXPECT_LE(alone, 530ms);

  Peer second(network);
  second.end = network.dial(0, "b:1", second);
  run(100ms);
  ASSERT_TRUE(second.connected);
  b.received.clear();
  const auto bytes = pattern(100'000);
  const Time start = events.now();
  std::size_t sent_a = 0, sent_second = 0;
  while (b.received.size() < 200'000 && events.now() - start < 10s) {
    const ByteView rest_a = ByteView(bytes).subspan(sent_a), rest_second = ByteView(bytes).subspan(sent_second);
    sent_a += network.write(a.end, {&rest_a, 1});
    sent_second += network.write(second.end, {&rest_second, 1});
    run(100us);
  }
  EXPECT_GE(events.now() - start, 200ms);
  EXPECT_LE(events.now() - start, 230ms);
}

TEST_F(NetworkTest, WriteTakesWhatTheSendBufferHolds) {
  network.set_path(0, 1, {.bytes_per_second = 1'000'000, .send_buffer = 10'000});
  connect(a, 0, "b:1");
  EXPECT_EQ(a.write(pattern(50'000)), 10'000u);
  EXPECT_EQ(a.write(pattern(1)), 0u);
  run(1s);
  EXPECT_EQ(a.writable, 1u);
  EXPECT_EQ(b.received.size(), 10'000u);
  EXPECT_EQ(a.write(pattern(50'000)), 10'000u);
}

TEST_F(NetworkTest, ReceiverThatDoesNotReadHoldsTheSender) {
  network.set_path(0, 1, {.send_buffer = 1000, .receive_window = 5000});
  connect(a, 0, "b:1");
  b.reading = false;
  std::size_t taken = 0;
  for (int i = 0; i < 20; ++i) {
    taken += a.write(pattern(1000));
    run(10ms);
  }
  EXPECT_EQ(taken, 6000u);
  b.read_all(b.end);
  run(10ms);
  EXPECT_EQ(network.readable(b.end), 1000u);
  EXPECT_EQ(a.write(pattern(1000)), 1000u);
}

TEST_F(NetworkTest, WindowGrowsToTwiceWhatIsReadInARoundTrip) {
  const auto carried = [&](std::size_t window_max) {
    network.set_path(0, 1,
                     {.delay = 10ms,
                      .jitter = 0ns,
                      .send_buffer = 1u << 20,
                      .receive_window = 5000,
                      .receive_window_max = window_max});
    connect(a, 0, "b:1");
    const std::size_t before = b.received.size();
    for (int i = 0; i < 20; ++i) {
      a.write(pattern(100'000));
      run(10ms);
    }
    const std::size_t count = b.received.size() - before;
    network.abort(a.end, "done");
    run(100ms);
    return count;
  };
  const std::size_t fixed = carried(0), little = carried(20'000), more = carried(1u << 20);
  EXPECT_LE(fixed, 20u * 5000);
  EXPECT_GT(little, 2 * fixed);
  EXPECT_LE(little, 20u * 20'000);
  EXPECT_GT(more, 2 * little);
}

TEST_F(NetworkTest, CloseDeliversWhatWasWritten) {
  connect(a, 0, "b:1");
  a.write(pattern(5000));
  network.close(a.end);
  run(10ms);
  EXPECT_EQ(b.received, pattern(5000));
  EXPECT_TRUE(b.at_end);
  EXPECT_EQ(b.closed, "");
}

TEST_F(NetworkTest, WritingToAClosedEndIsReset) {
  connect(a, 0, "b:1");
  network.close(a.end);
  run(2s);
  b.write(pattern(10));
  run(10ms);
  EXPECT_EQ(b.closed, "connection reset by peer");
}

TEST_F(NetworkTest, DialsFail) {
  a.end = network.dial(0, "nowhere:1", a);
  run(10ms);
  EXPECT_EQ(a.closed, "no such host");

  network.crash(1, false);
  a.end = network.dial(0, "b:1", a);
  run(10ms);
  EXPECT_EQ(a.closed, "connection refused");

  network.crash(2, true);
  a.closed.clear();
  a.end = network.dial(0, "c:1", a);
  run(1s);
  EXPECT_EQ(a.closed, "");
  run(10s);
  EXPECT_EQ(a.closed, "connection timed out");
}

TEST_F(NetworkTest, PartitionStallsAndHealResumes) {
  connect(a, 0, "b:1");
  network.partition({{0}});
  a.write(pattern(100));
  c.end = network.dial(2, "a:1", c);
  run(1s);
  EXPECT_TRUE(b.received.empty());
  EXPECT_EQ(a.closed + b.closed, "");
  EXPECT_FALSE(c.connected);
  network.heal();
  run(2s);
  EXPECT_EQ(b.received, pattern(100));
  EXPECT_TRUE(c.connected);
}

TEST_F(NetworkTest, HealMayResetWhatWasHeldUp) {
  connect(a, 0, "b:1");
  network.set_cut(0, 1, true);
  run(1s);
  network.heal(true);
  run(10ms);
  EXPECT_EQ(a.closed, "connection reset");
  EXPECT_EQ(b.closed, "connection reset");
}

TEST_F(NetworkTest, StallIsOneWay) {
  connect(a, 0, "b:1");
  network.set_stalled(0, 1, true);
  a.write(pattern(10));
  b.write(pattern(20));
  run(1s);
  EXPECT_TRUE(b.received.empty());
  EXPECT_EQ(a.received, pattern(20));
  network.set_stalled(0, 1, false);
  run(1s);
  EXPECT_EQ(b.received, pattern(10));
}

TEST_F(NetworkTest, CrashResetsPeersUnlessItIsSilent) {
  connect(a, 0, "b:1");
  connect(c, 2, "b:1");
  network.crash(1, false);
  run(10ms);
  EXPECT_EQ(a.closed, "connection reset by peer");
  EXPECT_EQ(c.closed, "connection reset by peer");
}

TEST_F(NetworkTest, SilentCrashIsNoticedOnlyAfterTheRestart) {
  connect(a, 0, "b:1");
  network.crash(1, true);
  a.write(pattern(10));
  run(100s);
  EXPECT_EQ(a.closed, "");
  network.restart(1);
  a.write(pattern(10));
  run(10ms);
  EXPECT_EQ(a.closed, "connection reset by peer");
}

TEST_F(NetworkTest, LocalConnectionsAreNotPartitioned) {
  Peer client(network);
  client.end = network.dial_local(0, Port::client, "client", client);
  network.partition({{0}, {1}, {2}});
  run(10ms);
  ASSERT_TRUE(client.connected);
  client.write(pattern(100'000));
  run(10ms);
  EXPECT_EQ(a.received, pattern(100'000));
}

TEST(EventQueueTest, SameTimeInTheOrderScheduled) {
  EventQueue events;
  std::string order;
  events.after(2ms, [&] { order += 'c'; });
  events.after(1ms, [&] { order += 'a'; });
  events.after(1ms, [&] { order += 'b'; });
  while (events.step(events.now() + 1s)) {
  }
  EXPECT_EQ(order, "abc");
}

TEST(DigestTest, BoundariesAndContentCount) {
  const auto digest = [](std::initializer_list<std::string_view> parts) {
    Digest result;
    for (const std::string_view part : parts) result.add(part);
    return result.value();
  };
  EXPECT_EQ(digest({"ab", "c"}), digest({"ab", "c"}));
  EXPECT_NE(digest({"ab", "c"}), digest({"a", "bc"}));
  EXPECT_NE(digest({"abcdefghi"}), digest({"abcdefghj"}));
  EXPECT_NE(digest({""}), digest({}));
}

}  // namespace
}  // namespace spindled::sim
