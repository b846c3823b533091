// Links that are up: frames, order, limits, liveness, the end.
#include "daemon/link/link_limits.h"
#include "tests/unit/link_harness.h"

namespace spindled::test {
namespace {

using spindle::as_bytes;

/// Alpha and beta, joined.
class LinkPair : public testing::Test {
 protected:
  LinkPair() {
    net.start(alpha);
    net.settle();
    alpha.events.clear();
    beta.events.clear();
    to_beta = alpha.link_to("beta");
    to_alpha = beta.link_to("alpha");
  }
  LinkStream& stream() { return *net.streams[0]; }
  /// What beta receives of these bytes, put on the stream as if alpha had written them.
  void inject(std::string_view bytes) {
    stream().sides[1].inbox += bytes;
    net.settle();
  }
  void flush() {
    alpha.links.flush(net.now);
    beta.links.flush(net.now);
  }
  void send(std::string_view head, std::string_view tail = {}, LinkFrame type = LinkFrame::data) {
    alpha.links.send(to_beta, type, {}, alpha.slice(head), alpha.slice(tail));
  }
  std::vector<std::string> received() const {
    std::vector<std::string> result;
    for (const LinkEvent& event : beta.of_kind(LinkEvent::frame)) result.push_back(event.body);
    return result;
  }

  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha", {"beta"}));
  LinkDaemon& beta = net.add(LinkNet::config("beta"));
  LinkId to_beta{};
  LinkId to_alpha{};
};

TEST_F(LinkPair, CarriesFramesOfAllTypes) {
  const std::string prefix = "prefix ";
  alpha.links.send(to_beta, LinkFrame::push, as_bytes(prefix), alpha.slice("head "), alpha.slice("tail"));
  send("", "", LinkFrame::view);
  send("report", "", LinkFrame::acknowledgement);
  send(std::string(10'000, 'h'), std::string(300'000, 't'));
  alpha.links.send_control(to_beta, alpha.slice("control"));
  EXPECT_EQ(alpha.links.queued_bytes(to_beta, FramePriority::data), 16u + 4 * kFrameHeadBytes + 6 + 310'000);
  EXPECT_EQ(alpha.links.info(to_beta).queued_packets, (310'000 + kPacketBytes - 1) / kPacketBytes);
  flush();
  EXPECT_EQ(alpha.links.info(to_beta).queued_bytes, 0u);
  net.settle();
  const auto frames = beta.of_kind(LinkEvent::frame);
  ASSERT_EQ(frames.size(), 5u);
  EXPECT_EQ(frames[0].type, LinkFrame::control);  // before what was sent earlier
  EXPECT_EQ(frames[0].body, "control");
  EXPECT_EQ(frames[1].type, LinkFrame::push);
  EXPECT_EQ(frames[1].body, "prefix head tail");
  EXPECT_EQ(frames[2].type, LinkFrame::view);
  EXPECT_EQ(frames[2].body, "");
  EXPECT_EQ(frames[3].body, "report");
  EXPECT_EQ(frames[4].body, std::string(10'000, 'h') + std::string(300'000, 't'));
}

TEST_F(LinkPair, NothingIsWrittenBeforeTheTurnEnds) {
  stream().held = true;
  const std::size_t before = stream().sides[1].inbox.size();
  send("a");
  send("b");
  EXPECT_EQ(stream().sides[1].inbox.size(), before);
  flush();
  EXPECT_EQ(stream().sides[1].inbox.size(), before + 2 * (kFrameHeadBytes + 1));
}

TEST_F(LinkPair, ControlOvertakesDataAtAFrameBoundary) {
  stream().capacity = 10;
  send("first frame");
  send("second frame");
  flush();  // 10 of the 15 bytes of the first
  alpha.links.send_control(to_beta, alpha.slice("control"));
  flush();
  net.settle();
  EXPECT_EQ(received(), (std::vector<std::string>{"first frame", "control", "second frame"}));
}

TEST_F(LinkPair, DropQueuedKeepsTheFrameThatIsPartlyWritten) {
  stream().capacity = 10;
  send("first frame");
  send("second frame");
  alpha.links.send_control(to_beta, alpha.slice("control"));
  flush();  // control: 11 bytes, so that it is the partly written one
  alpha.links.drop_queued(to_beta, FramePriority::data);
  EXPECT_EQ(alpha.links.queued_bytes(to_beta, FramePriority::data), 0u);
  send("third frame");
  flush();
  net.settle();
  EXPECT_EQ(received(), (std::vector<std::string>{"control", "third frame"}));

  send("fourth frame");
  send("fifth frame");
  flush();
  EXPECT_EQ(alpha.links.info(to_beta).queued_packets, 2u);
  alpha.links.drop_queued(to_beta, FramePriority::data);
  EXPECT_EQ(alpha.links.info(to_beta).queued_packets, 1u);
  send("sixth frame");
  net.settle();
  flush();
  net.settle();
  EXPECT_EQ(received(), (std::vector<std::string>{"control", "third frame", "fourth frame", "sixth frame"}));
}

struct BadFrame {
  const char* name;
  Errc code;
  std::string bytes;
};

class LinkBadFrame : public LinkPair, public testing::WithParamInterface<BadFrame> {};

TEST_P(LinkBadFrame, ClosesTheLinkWithAReasonThatBothSidesShow) {
  inject(frame(LinkFrame::data, "good") + GetParam().bytes + frame(LinkFrame::data, "never seen"));
  EXPECT_EQ(received(), std::vector<std::string>{"good"});
  const auto down_here = beta.of_kind(LinkEvent::down);
  const auto down_there = alpha.of_kind(LinkEvent::down);
  ASSERT_EQ(down_here.size(), 1u);
  ASSERT_EQ(down_there.size(), 1u);
  EXPECT_EQ(down_here[0].reason.code, GetParam().code);
  EXPECT_FALSE(down_here[0].reason.text.empty());
  EXPECT_EQ(down_here[0].reason, down_there[0].reason);
  for (LinkDaemon* daemon : {&alpha, &beta}) {
    EXPECT_EQ(daemon->closes(GetParam().code), 1u);
    EXPECT_EQ(daemon->logged(LogLevel::warning, down_here[0].reason.text), 1u);
    EXPECT_EQ(daemon->context.counters.value(Counter::links_down), 1u);
  }
  EXPECT_EQ(beta.context.counters.value(Counter::link_frames_bad), 1u);
  EXPECT_EQ(alpha.context.counters.value(Counter::link_frames_bad), 0u);
  // It is dialled again, and works.
  net.advance(1s);
  EXPECT_EQ(alpha.links.established().size(), 1u);
}

std::string head_only(LinkFrame type, std::size_t length) {
  return frame(type, std::string(length, 'x')).substr(0, kFrameHeadBytes);
}

INSTANTIATE_TEST_SUITE_P(
    All, LinkBadFrame,
    testing::Values(
        BadFrame{"type_zero", Errc::malformed_frame, std::string(4, '\0')},
        BadFrame{"type_unknown", Errc::malformed_frame, frame(static_cast<LinkFrame>(kFrameTypes + 1), "x")},
        BadFrame{"control_too_large", Errc::frame_too_large, head_only(LinkFrame::control, kControlFrameBytesMax + 1)},
        BadFrame{"data_too_large", Errc::frame_too_large, head_only(LinkFrame::data, kDataFrameBytesMax + 1)},
        BadFrame{"report_too_large", Errc::frame_too_large,
                 head_only(LinkFrame::acknowledgement, kRoutedFrameBytesMax + 1)},
        BadFrame{"ping_too_large", Errc::frame_too_large, head_only(LinkFrame::ping, kPingFrameBytes + 1)},
        BadFrame{"ping_too_short", Errc::malformed_frame, frame(LinkFrame::ping, "1234567")},
        BadFrame{"pong_too_short", Errc::malformed_frame, frame(LinkFrame::pong, "")},
        BadFrame{"close_too_short", Errc::malformed_frame, frame(LinkFrame::close, "x")}),
    [](const auto& test) { return test.param.name; });

TEST_F(LinkPair, TakesTheLargestFramesInSmallReads) {
  net.chunk = 100'000;
  alpha.links.send_control(to_beta, alpha.context.arena.copy(as_bytes(std::string(kControlFrameBytesMax, 'c'))));
  send(std::string(kDataFrameBytesMax, 'd'));
  flush();
  net.settle();
  const auto frames = received();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0], std::string(kControlFrameBytesMax, 'c'));
  EXPECT_EQ(frames[1], std::string(kDataFrameBytesMax, 'd'));
}

TEST_F(LinkPair, ACloseIsToldOnBothSides) {
  alpha.links.close(net.now, to_beta, {Errc::unexpected_frame, "why not"});
  ASSERT_EQ(alpha.of_kind(LinkEvent::down).size(), 1u);  // before `close` returns
  EXPECT_FALSE(alpha.links.is_established(to_beta));
  flush();
  net.settle();
  ASSERT_EQ(beta.of_kind(LinkEvent::down).size(), 1u);
  EXPECT_EQ(beta.of_kind(LinkEvent::down)[0].reason, (Error{Errc::unexpected_frame, "why not"}));
}

TEST_F(LinkPair, ACloseIsHeardBehindAFullConnection) {
  stream().capacity = 100;
  send(std::string(5000, 'x'));
  send("never sent");
  flush();
  alpha.links.close(net.now, to_beta, {Errc::link_failed, "enough"});
  EXPECT_TRUE(stream().sides[0].open);
  net.settle();
  EXPECT_FALSE(stream().sides[0].open);
  EXPECT_EQ(received(), std::vector<std::string>{std::string(5000, 'x')});
  ASSERT_EQ(beta.of_kind(LinkEvent::down).size(), 1u);
  EXPECT_EQ(beta.of_kind(LinkEvent::down)[0].reason.text, "enough");
}

TEST_F(LinkPair, ACloseDoesNotWaitForEver) {
  stream().capacity = 100;
  stream().held = true;
  send(std::string(5000, 'x'));
  flush();
  alpha.links.close(net.now, to_beta, {Errc::link_failed, "enough"});
  EXPECT_TRUE(stream().sides[0].open);
  net.advance(kCloseLinger);
  EXPECT_FALSE(stream().sides[0].open);
}

TEST_F(LinkPair, StopTellsTheNeighbours) {
  LinkStream& stranger = net.stranger(beta);
  beta.links.stop(net.now);
  EXPECT_TRUE(beta.links.established().empty());
  EXPECT_TRUE(beta.links.is_stopped());
  beta.links.send_control(to_alpha, beta.slice("too late"));
  flush();
  net.settle();
  ASSERT_EQ(alpha.of_kind(LinkEvent::down).size(), 1u);
  EXPECT_EQ(alpha.of_kind(LinkEvent::down)[0].reason.code, Errc::daemon_stopping);
  EXPECT_EQ(alpha.of_kind(LinkEvent::frame).size(), 0u);
  EXPECT_EQ(alpha.logged(LogLevel::info, "beta is stopping"), 1u);
  EXPECT_FALSE(stranger.sides[1].open);
  EXPECT_FALSE(net.stranger(beta).sides[1].open);
  EXPECT_EQ(beta.links.next_deadline(), kNever);
}

TEST_F(LinkPair, SilenceEndsALink) {
  const LinkConfig& config = alpha.context.config.link;
  net.advance(10s);  // hellos keep it up
  EXPECT_TRUE(alpha.of_kind(LinkEvent::down).empty());
  stream().held = true;
  net.advance(config.liveness_timeout - config.hello_interval - 1ns);
  EXPECT_TRUE(alpha.of_kind(LinkEvent::down).empty());
  net.advance(config.hello_interval + 1ns);
  ASSERT_EQ(alpha.of_kind(LinkEvent::down).size(), 1u);
  EXPECT_EQ(alpha.of_kind(LinkEvent::down)[0].reason.code, Errc::silent_peer);
  EXPECT_EQ(beta.of_kind(LinkEvent::down).size(), 1u);
  EXPECT_EQ(alpha.closes(Errc::silent_peer), 1u);
  EXPECT_FALSE(stream().sides[0].open);
}

TEST_F(LinkPair, ADaemonThatWasSuspendedDoesNotBlameItsPeers) {
  // Time jumps, and the clock is looked at before what came meanwhile.
  net.now += 10s;
  alpha.links.handle_time(net.now);
  flush();
  EXPECT_TRUE(alpha.of_kind(LinkEvent::down).empty());
  EXPECT_TRUE(alpha.links.is_established(to_beta));
}

TEST_F(LinkPair, RoundTripIsSmoothed) {
  net.advance(3s);
  EXPECT_LT(alpha.links.round_trip(to_beta), 1us);
  alpha.events.clear();
  const Duration before = alpha.links.round_trip(to_beta);
  stream().held = true;
  // The next ping waits 80 ms for its pong.
  net.advance(alpha.context.config.link.hello_interval);
  net.advance(80ms);
  stream().held = false;
  net.settle();
  ASSERT_EQ(alpha.of_kind(LinkEvent::round_trip).size(), 1u);
  EXPECT_EQ(alpha.links.round_trip(to_beta), (7 * before + 80ms) / 8);
  EXPECT_EQ(alpha.links.info(to_beta).round_trip, alpha.links.round_trip(to_beta));
}

TEST_F(LinkPair, TheRoundTripOfThePathIsWhatTheDriverKnowsOfIt) {
  net.advance(3s);
  EXPECT_EQ(alpha.links.path_round_trip(to_beta), alpha.links.round_trip(to_beta));
  stream().held = true;  // a peer that takes its time to answer
  net.advance(alpha.context.config.link.hello_interval);
  net.advance(400ms);
  stream().held = false;
  net.settle();
  EXPECT_GT(alpha.links.path_round_trip(to_beta), 40ms);
  alpha.round_trip_below = 30us;
  EXPECT_EQ(alpha.links.path_round_trip(to_beta), 30us);
  EXPECT_GT(alpha.links.round_trip(to_beta), 40ms);
}

TEST_F(LinkPair, PongsThatAnswerNoPingAreIgnored) {
  net.advance(2s);
  const Duration before = beta.links.round_trip(to_alpha);
  beta.events.clear();
  for (const std::uint64_t token : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 62}) {
    std::string body(kPingFrameBytes, '\0');
    Writer(reinterpret_cast<std::uint8_t*>(body.data())).u64(token);
    inject(frame(LinkFrame::pong, body));
  }
  EXPECT_EQ(beta.links.round_trip(to_alpha), before);
  EXPECT_TRUE(beta.of_kind(LinkEvent::round_trip).empty());
  EXPECT_TRUE(beta.links.is_established(to_alpha));
}

TEST_F(LinkPair, WhoDoesNotReadIsOwedNoPongsWithoutEnd) {
  const auto queued = [&] { return beta.links.queued_bytes(to_alpha, FramePriority::control); };
  const std::string pings = [] {
    std::string all;
    for (int i = 0; i < 1000; ++i) all += frame(LinkFrame::ping, std::string(kPingFrameBytes, 'x'));
    return all;
  }();
  stream().capacity = 0;
  for (int i = 0; i < 20; ++i) inject(pings);
  EXPECT_GT(queued(), kAnswersQueueBytesMax);
  EXPECT_LT(queued(), kAnswersQueueBytesMax + 1000);
  stream().capacity = SIZE_MAX;
  net.settle();
  EXPECT_EQ(queued(), 0u);
  EXPECT_TRUE(beta.links.is_established(to_alpha));
}

TEST_F(LinkPair, APeerThatDoesNotReadIsCutOffAtTheLimit) {
  stream().capacity = 1000;
  stream().held = true;
  // One slab, referenced by every frame.
  const Slice body = alpha.context.arena.copy(as_bytes(std::string(kDataFrameBytesMax, 'x')));
  std::size_t sent = 0;
  while (alpha.links.info(to_beta).queued_bytes + kDataFrameBytesMax + 100 < kLinkQueueBytesMax) {
    alpha.links.send(to_beta, LinkFrame::data, {}, body, {});
    ++sent;
  }
  flush();
  EXPECT_TRUE(alpha.links.is_established(to_beta));
  const std::size_t before = alpha.links.info(to_beta).queued_bytes;
  for (int i = 0; i < 3; ++i) alpha.links.send(to_beta, LinkFrame::data, {}, body, {});
  EXPECT_LE(alpha.links.info(to_beta).queued_bytes, kLinkQueueBytesMax);
  EXPECT_GE(alpha.links.info(to_beta).queued_bytes, before);
  EXPECT_TRUE(alpha.links.is_established(to_beta));  // not under the feet of the sender
  flush();
  ASSERT_EQ(alpha.of_kind(LinkEvent::down).size(), 1u);
  EXPECT_EQ(alpha.of_kind(LinkEvent::down)[0].reason.code, Errc::limit_exceeded);
  EXPECT_EQ(alpha.closes(Errc::limit_exceeded), 1u);
  EXPECT_GT(sent, 700u);
}

TEST_F(LinkPair, RandomTrafficArrivesInOrderWhateverTheWriteSizes) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    beta.events.clear();
    std::vector<std::string> control, data;
    for (int i = 0; i < 300; ++i) {
      stream().capacity = 1 + random.below(random.chance(0.1) ? 200'000 : 3000);
      net.chunk = 1 + random.below(5000);
      std::string body = std::to_string(i) + ":" + std::string(random.below(random.chance(0.1) ? 20'000 : 300), 'x');
      if (random.chance(0.2)) {
        control.push_back("c" + body);
        alpha.links.send_control(to_beta, alpha.slice("c" + body));
      } else {
        const std::size_t cut = random.below(body.size() + 1);
        const std::size_t second = cut + random.below(body.size() - cut + 1);
        alpha.links.send(to_beta, LinkFrame::data, as_bytes(std::string_view(body).substr(0, cut)),
                         alpha.slice(std::string_view(body).substr(cut, second - cut)),
                         alpha.slice(std::string_view(body).substr(second)));
        data.push_back(std::move(body));
      }
      if (random.chance(0.3)) flush();
      if (random.chance(0.05)) net.settle();
    }
    flush();
    net.settle();
    std::vector<std::string> got_control, got_data;
    for (const LinkEvent& event : beta.of_kind(LinkEvent::frame)) {
      (event.type == LinkFrame::control ? got_control : got_data).push_back(event.body);
    }
    ASSERT_EQ(got_control, control);
    ASSERT_EQ(got_data, data);
    ASSERT_EQ(alpha.links.info(to_beta).queued_packets, 0u);
  }
}

}  // namespace
}  // namespace spindled::test
