// Frames of feeds on links: by datagram, over the connection, and what strangers send.
#include "daemon/link/datagrams.h"

#include "daemon/link/hello.h"
#include "daemon/link/link_limits.h"
#include "tests/unit/link_harness.h"

namespace spindled::test {
namespace {

using spindle::as_bytes;
using spindle::as_text;

struct Feeds final : FeedFrames {
  bool feed_frame_received(Time, LinkId, std::uint8_t type, ByteView body) override {
    frames.push_back(std::to_string(type) + std::string(as_text(body)));
    return type != kBad;
  }
  void feed_link_down(Time, LinkId link) override { down.push_back(link); }
  static constexpr std::uint8_t kBad = 99;
  std::vector<std::string> frames;
  std::vector<LinkId> down;
};

class DatagramsTest : public testing::TestWithParam<bool> {
 protected:
  DatagramsTest() {
    net.seals = GetParam();
    for (LinkDaemon* each : {&alpha, &beta}) each->datagrams_at.port = 4804;
    alpha.links.attach(at_alpha);
    beta.links.attach(at_beta);
  }
  void start() {
    net.start(alpha);
    net.settle();
    to_beta = alpha.link_to("beta");
    to_alpha = beta.link_to("alpha");
  }
  bool send(std::string_view text, std::uint8_t type = 1) {
    const bool sent = alpha.links.send_feed_frame(net.now, to_beta, type, as_bytes(text), {});
    alpha.links.flush(net.now);
    return sent;
  }
  DatagramInfo info() const { return alpha.links.info(to_beta).datagrams; }
  std::uint64_t counted(Counter counter) const { return beta.context.counters.value(counter); }
  /// As if it came from alpha.
  void forge(std::string bytes) { net.deliver({alpha.datagrams_at, beta.datagrams_at, std::move(bytes)}); }
  std::string last_datagram() const { return net.datagrams.back().bytes; }

  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha", {"beta"}));
  LinkDaemon& beta = net.add(LinkNet::config("beta"));
  Feeds at_alpha, at_beta;
  LinkId to_beta{};
  LinkId to_alpha{};
};

std::string name_of(const testing::TestParamInfo<bool>& info) { return info.param ? "Sealed" : "ByTokens"; }
INSTANTIATE_TEST_SUITE_P(Both, DatagramsTest, testing::Bool(), name_of);

class SealedDatagrams : public DatagramsTest {};
INSTANTIATE_TEST_SUITE_P(One, SealedDatagrams, testing::Values(true));

TEST_P(DatagramsTest, GoByDatagramAsSoonAsTheLinkIsUp) {
  start();
  EXPECT_TRUE(info().is_open) << info().why_not;
  EXPECT_EQ(info().is_sealed, GetParam());
  net.datagrams.clear();
  EXPECT_TRUE(send("one"));
  EXPECT_TRUE(alpha.links.send_feed_frame(net.now, to_beta, 2, as_bytes("two "), as_bytes("parts")));
  alpha.links.flush(net.now);
  net.settle();
  EXPECT_EQ(at_beta.frames, (std::vector<std::string>{"1one", "2two parts"}));
  EXPECT_GE(net.datagrams.size(), 2u);
  EXPECT_EQ(alpha.context.counters.value(Counter::bytes_datagrams), 0u);
  EXPECT_EQ(counted(Counter::datagrams_unknown), 0u);
}

TEST_P(DatagramsTest, GoOverTheConnectionWhereUdpIsBlocked) {
  net.loses = [](const FlyingDatagram&) { return true; };
  start();
  EXPECT_FALSE(info().is_open);
  EXPECT_TRUE(send("over the connection"));
  net.settle();
  EXPECT_EQ(at_beta.frames, std::vector<std::string>{"1over the connection"});
  net.advance(5s);
  EXPECT_EQ(info().why_not, "questions of 1400 bytes are not answered");
  EXPECT_EQ(alpha.logged(LogLevel::info, "frames of feeds to beta go over the connection"), 1u);
  EXPECT_EQ(alpha.context.counters.value(Counter::datagram_ways_closed), 1u);
  net.advance(200s);
  EXPECT_EQ(alpha.logged(LogLevel::info, "frames of feeds to beta go over the connection"), 1u) << "said once";
  net.loses = [](const FlyingDatagram&) { return false; };
  net.advance(61s);
  EXPECT_TRUE(info().is_open) << info().why_not;
  EXPECT_EQ(alpha.logged(LogLevel::info, "datagrams to beta get through"), 1u);
}

TEST_P(DatagramsTest, FramesBehindMuchElseOnTheConnectionAreDropped) {
  net.loses = [](const FlyingDatagram&) { return true; };
  start();
  net.streams[0]->capacity = 0;
  alpha.links.send(to_beta, LinkFrame::data, alpha.slice(std::string(kFallbackQueueBytesMax + 1, 'x')));
  EXPECT_FALSE(send("behind"));
  EXPECT_EQ(info().behind, 1u);
  EXPECT_EQ(alpha.context.counters.value(Counter::datagrams_dropped), 1u);
}

/// As of a daemon whose datagrams are longer, or whose packet goes to more members by now.
TEST_P(DatagramsTest, AFrameThatIsTooLongForOneGoesOverTheConnection) {
  start();
  const std::size_t longest = alpha.links.feed_frame_bytes_max();
  for (const std::size_t length : {longest, longest + 1, kDatagramFrameBytesMax - kDatagramFrameHeadBytes}) {
    at_beta.frames.clear();
    EXPECT_TRUE(send(std::string(length, 'x')));
    net.settle();
    EXPECT_EQ(at_beta.frames, std::vector<std::string>{"1" + std::string(length, 'x')}) << length;
    EXPECT_EQ(alpha.context.counters.value(Counter::bytes_datagrams) != 0, length > longest);
  }
  EXPECT_FALSE(send(std::string(kDatagramFrameBytesMax - kDatagramFrameHeadBytes + 1, 'x')));
  EXPECT_EQ(info().no_room, 1u);
  EXPECT_TRUE(info().is_open);
}

TEST_P(DatagramsTest, AreOffWhereTheConfigurationSaysSo) {
  const_cast<NodeConfig&>(beta.context.config).feed.datagrams = false;
  start();
  EXPECT_EQ(info().why_not, "switched off there (feed.datagrams), or no socket");
  EXPECT_EQ(beta.links.info(to_alpha).datagrams.why_not, "switched off here (feed.datagrams)");
  EXPECT_TRUE(send("still"));
  net.settle();
  EXPECT_EQ(at_beta.frames, std::vector<std::string>{"1still"});
  EXPECT_TRUE(net.datagrams.empty());
}

TEST_P(DatagramsTest, AreOffWhereTheLengthsDiffer) {
  const_cast<NodeConfig&>(beta.context.config).feed.datagram_bytes = 1300;
  start();
  EXPECT_EQ(info().why_not, "feed.datagram_bytes is 1400 here and 1300 there");
  EXPECT_TRUE(net.datagrams.empty());
}

TEST_P(DatagramsTest, NothingGoesToADaemonThatKnowsNothingOfThem) {
  LinkStream& stream = net.stranger(alpha);
  LinkHello hello;
  hello.cluster = alpha.context.config.cluster;
  hello.daemon = {"gamma", 5};
  hello.settings_digest = settings_digest(alpha.context.config);
  stream.sides[1].inbox += control_frame(hello);
  net.settle();
  const LinkId link = alpha.link_to("gamma");
  stream.sides[0].inbox.clear();
  EXPECT_FALSE(alpha.links.send_feed_frame(net.now, link, 1, as_bytes("frame"), {}));
  EXPECT_EQ(alpha.links.info(link).datagrams.why_not, "the other daemon is too old for datagrams");
}

TEST_P(DatagramsTest, WhatTheSystemHasNoRoomForIsCounted) {
  start();
  alpha.datagram_room = 0;
  EXPECT_TRUE(send("lost"));
  net.settle();
  EXPECT_TRUE(at_beta.frames.empty());
  EXPECT_GE(info().no_room, 1u);
  EXPECT_EQ(alpha.context.counters.value(Counter::datagrams_dropped), info().no_room);
}

TEST_P(DatagramsTest, ANewLinkHasNewTokens) {
  start();
  ASSERT_TRUE(send("of the first link"));
  net.settle();
  const std::string old = last_datagram();
  alpha.links.close(net.now, to_beta, {Errc::link_failed, {}});
  alpha.links.flush(net.now);
  net.advance(1s);
  to_beta = alpha.link_to("beta");
  ASSERT_TRUE(info().is_open);
  const std::uint64_t before = counted(Counter::datagrams_unknown);
  forge(old);
  EXPECT_EQ(counted(Counter::datagrams_unknown), before + 1);
  EXPECT_EQ(at_beta.frames, std::vector<std::string>{"1of the first link"});
}

/// All in one turn.
TEST_P(DatagramsTest, ALinkThatTakesTheIdOfAnotherSendsEachDatagramOnce) {
  start();
  LinkStream& stream = net.stranger(alpha);
  LinkHello hello;
  hello.cluster = alpha.context.config.cluster;
  hello.daemon = {"gamma", 5};
  hello.settings_digest = settings_digest(alpha.context.config);
  hello.datagrams = {4804, static_cast<std::uint32_t>(alpha.context.config.feed.datagram_bytes), 77};
  const std::string bytes = control_frame(hello);
  net.datagrams.clear();
  ASSERT_TRUE(alpha.links.send_feed_frame(net.now, to_beta, 1, as_bytes("of the first link"), {}));
  alpha.links.close(net.now, to_beta, {Errc::link_failed, {}});
  std::copy(bytes.begin(), bytes.end(), alpha.links.read_space(stream.sides[1].id).begin());
  alpha.links.handle_read(net.now, stream.sides[1].id, bytes.size());
  ASSERT_EQ(alpha.link_to("gamma"), to_beta);
  alpha.links.flush(net.now);
  ASSERT_EQ(net.datagrams.size(), 1u) << "the question whether datagrams get through";
  const DatagramHead head = read_datagram_head(as_bytes(net.datagrams[0].bytes)).value();
  EXPECT_EQ(head.token, 77u);
  EXPECT_EQ(head.sequence, 1u);
}

TEST_P(DatagramsTest, StrangersLeaveNothingBehindButACount) {
  start();
  const std::size_t before = net.datagrams.size();
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    std::string bytes(random.below(1500), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.next());
    forge(bytes);
  }
  EXPECT_EQ(counted(Counter::datagrams_unknown), 10'000u);
  EXPECT_EQ(net.datagrams.size(), before) << "nobody is answered";
  EXPECT_TRUE(send("goes on"));
  net.settle();
  EXPECT_EQ(at_beta.frames, std::vector<std::string>{"1goes on"});
}

TEST_P(DatagramsTest, RepeatedDatagramsAreTakenOnce) {
  start();
  net.datagrams.clear();
  ASSERT_TRUE(send("once"));
  net.settle();
  for (const FlyingDatagram& each : std::vector(net.datagrams)) net.deliver(each);
  EXPECT_EQ(at_beta.frames, std::vector<std::string>{"1once"});
  EXPECT_GE(counted(Counter::datagrams_repeated), 1u);
  EXPECT_EQ(beta.links.info(to_alpha).datagrams.repeated, counted(Counter::datagrams_repeated));
}

TEST_P(SealedDatagrams, ForgedOnesAreCounted) {
  start();
  ASSERT_TRUE(send("true"));
  std::string bytes = last_datagram();
  bytes[bytes.size() / 2] ^= 1;
  forge(bytes);
  EXPECT_EQ(counted(Counter::datagrams_forged), 1u);
  EXPECT_TRUE(beta.links.is_established(to_alpha)) << "nobody closes a link by that";
}

TEST_P(DatagramsTest, ADatagramOfAnotherLinkIsNotTakenForThisOne) {
  LinkDaemon& gamma = net.add(LinkNet::config("gamma", {"beta"}));
  gamma.datagrams_at.port = 4804;
  start();
  net.start(gamma);
  net.settle();
  const LinkId link = gamma.link_to("beta");
  ASSERT_TRUE(gamma.links.info(link).datagrams.is_open);
  net.datagrams.clear();
  ASSERT_TRUE(gamma.links.send_feed_frame(net.now, link, 1, as_bytes("of gamma"), {}));
  gamma.links.flush(net.now);
  net.flying.clear();
  std::string bytes = net.datagrams.front().bytes;
  ASSERT_TRUE(send("of alpha"));
  const std::string other = last_datagram();
  bytes.replace(0, 8, other.substr(0, 8));  // the token of alpha's link
  bytes[9] = 1;                             // and a number that alpha has not used
  forge(bytes);
  net.settle();
  EXPECT_EQ(at_beta.frames.size(), GetParam() ? 1u : 2u) << "whoever knows a token is believed where nothing is sealed";
  EXPECT_EQ(counted(Counter::datagrams_forged), GetParam() ? 1u : 0u);
}

TEST_P(DatagramsTest, WhatTheLayerAboveFindsMalformedClosesTheLink) {
  start();
  ASSERT_TRUE(send("bad", Feeds::kBad));
  net.settle();
  EXPECT_EQ(beta.closes(Errc::malformed_frame), 1u);
  EXPECT_FALSE(beta.links.is_established(to_alpha));
}

class StalledConnection : public DatagramsTest {
 protected:
  void SetUp() override {
    start();
    net.advance(20s);  // no questions are due any more
    net.datagrams.clear();
    net.streams[0]->held = true;
  }
  bool is_up() const { return alpha.links.is_established(to_beta) && beta.links.is_established(to_alpha); }
  const Duration timeout = alpha.context.config.link.liveness_timeout;
};
INSTANTIATE_TEST_SUITE_P(Both, StalledConnection, testing::Bool(), name_of);

TEST_P(StalledConnection, LastsWhileDatagramsAnswer) {
  net.advance(2 * timeout);
  EXPECT_TRUE(is_up());
  for (const LinkDaemon* each : {&alpha, &beta}) EXPECT_EQ(each->logged(LogLevel::info, "is silent, but"), 1u);
  net.streams[0]->held = false;
  net.advance(20s);
  EXPECT_TRUE(is_up());
  EXPECT_TRUE(info().is_open);
  // Each asks, and answers what the other asks, from half a timeout on.
  EXPECT_LE(net.datagrams.size(), 4u * (kSilentQuestions * 3 / 2 + 1));
  net.datagrams.clear();
  net.advance(60s);
  EXPECT_TRUE(net.datagrams.empty());
}

TEST_P(StalledConnection, AsksNothingWhereFramesComeAnyway) {
  const auto exchange = [&] {
    for (Duration passed{}; passed < 2 * timeout; passed += 10ms) {
      EXPECT_TRUE(send("frame"));
      EXPECT_TRUE(beta.links.send_feed_frame(net.now, to_alpha, 1, as_bytes("frame"), {}));
      beta.links.flush(net.now);
      net.advance(10ms);
    }
    return net.datagrams.size();
  };
  net.streams[0]->held = false;
  exchange();
  net.datagrams.clear();
  net.streams[0]->held = true;
  const std::size_t while_stalled = exchange();
  EXPECT_TRUE(is_up());
  EXPECT_EQ(alpha.logged(LogLevel::info, "is silent, but"), 1u);
  net.streams[0]->held = false;
  net.settle();
  net.datagrams.clear();
  EXPECT_EQ(exchange(), while_stalled);
}

TEST_P(StalledConnection, IsGivenUpWhereNoDatagramsComeEither) {
  net.loses = [](const FlyingDatagram&) { return true; };
  net.advance(timeout + 1ns);
  EXPECT_FALSE(alpha.links.is_established(to_beta));
  EXPECT_EQ(alpha.closes(Errc::silent_peer), 1u);
  EXPECT_EQ(alpha.logged(LogLevel::info, "is silent, but"), 0u);
}

TEST_P(StalledConnection, IsGivenUpInTheEnd) {
  net.advance((kStallTimeouts - 1) * timeout);
  EXPECT_TRUE(is_up());
  net.advance(timeout + 1ns);
  EXPECT_EQ(alpha.closes(Errc::silent_peer), 1u);
  EXPECT_EQ(beta.closes(Errc::silent_peer), 1u);
}

class DatagramsByTokens : public DatagramsTest {};
INSTANTIATE_TEST_SUITE_P(One, DatagramsByTokens, testing::Values(false));

/// Of many in one datagram the answers would be more than the questions.
TEST_P(DatagramsByTokens, AQuestionIsAloneInItsDatagram) {
  start();
  std::string bytes(kDatagramHeadBytes + 2 * (kDatagramFrameHeadBytes + kProbeBytesMin), '\0');
  Writer writer(reinterpret_cast<std::uint8_t*>(bytes.data()));
  write_datagram_head(writer, {spindle::Reader(as_bytes(last_datagram())).u64(), 1000});
  for (int i = 0; i < 2; ++i) {
    write_datagram_frame_head(writer, kProbeFrame, kProbeBytesMin);
    write_probe(writer, {});
  }
  const FlyingDatagram last = net.datagrams.back();
  net.deliver({last.from, last.to, bytes});
  LinkDaemon& receiver = last.to == beta.datagrams_at ? beta : alpha;
  EXPECT_EQ(receiver.closes(Errc::malformed_frame), 1u);
}

TEST_P(DatagramsTest, MalformedFramesOverTheConnectionCloseTheLink) {
  start();
  for (const std::string& body : {std::string(), std::string("\1\5\0abc", 6), std::string("\5\0\0", 3)}) {
    const std::uint64_t before = beta.closes(Errc::malformed_frame);
    for (auto& stream : net.streams) {
      if (stream->sides[0].open && stream->sides[1].open) stream->sides[1].inbox += frame(LinkFrame::datagram, body);
    }
    net.settle();
    EXPECT_EQ(beta.closes(Errc::malformed_frame), before + 1);
    net.advance(2s);
  }
}

}  // namespace
}  // namespace spindled::test
