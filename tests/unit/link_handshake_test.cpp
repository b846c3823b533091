// How links come about: the handshake, its refusals, and one link out of several connections.
#include "daemon/link/hello.h"

#include "daemon/link/link_limits.h"
#include "daemon/link/link_phase.h"
#include "tests/unit/link_harness.h"

namespace spindled::test {
namespace {

using spindle::as_bytes;

LinkHello hello_of(const std::string& name, std::uint64_t incarnation = 1) {
  NodeConfig config = LinkNet::config(name);
  config.incarnation = incarnation;
  return make_hello(config);
}

LinkClose close_in(const std::string& bytes) {
  const auto frames = frames_of(bytes);
  if (frames.empty() || frames.back().first != LinkFrame::close) {
    ADD_FAILURE() << "no close frame";
    return {};
  }
  return read_link_close(as_bytes(frames.back().second)).value();
}

TEST(LinkHandshake, JoinsTwoDaemons) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha"));
  LinkDaemon& beta = net.add(LinkNet::config("beta", {"alpha"}));
  net.start(alpha);
  net.start(beta);
  net.settle();
  ASSERT_EQ(alpha.links.established().size(), 1u);
  ASSERT_EQ(beta.links.established().size(), 1u);
  const LinkInfo at_alpha = alpha.links.info(alpha.link_to("beta"));
  EXPECT_EQ(at_alpha.peer, (DaemonId{"beta", 1}));
  EXPECT_FALSE(at_alpha.dialled);
  EXPECT_TRUE(beta.links.info(beta.link_to("alpha")).dialled);
  EXPECT_EQ(alpha.context.counters.value(Counter::links_up), 1u);
  EXPECT_EQ(alpha.logged(LogLevel::info, "link to beta up"), 1u);
  EXPECT_TRUE(beta.links.unconnected().empty());
  // The neighbours stay, and nothing else is dialled.
  net.advance(20s);
  EXPECT_EQ(net.dials.size(), 1u);
  EXPECT_EQ(beta.of_kind(LinkEvent::down).size(), 0u);
}

TEST(LinkHandshake, SurvivesReadsOfOneByte) {
  LinkNet net;
  net.chunk = 1;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha"));
  LinkDaemon& beta = net.add(LinkNet::config("beta", {"alpha"}));
  net.start(beta);
  net.settle();
  EXPECT_EQ(alpha.links.established().size(), 1u);
  EXPECT_EQ(beta.links.established().size(), 1u);
}

struct Mismatch {
  const char* name;
  Errc code;
  void (*change)(NodeConfig&);
};

class LinkMismatch : public testing::TestWithParam<Mismatch> {};

TEST_P(LinkMismatch, IsToldTheSameOnBothSides) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha"));
  NodeConfig config = LinkNet::config("beta", {"alpha-address"});
  GetParam().change(config);
  LinkDaemon& beta = net.add(config);
  net.listeners["alpha-address"] = &alpha;
  net.start(alpha);
  net.start(beta);
  net.settle();
  EXPECT_TRUE(alpha.events.empty());
  EXPECT_TRUE(beta.events.empty());
  for (LinkDaemon* daemon : {&alpha, &beta}) {
    EXPECT_EQ(daemon->closes(GetParam().code), 1u);
    EXPECT_EQ(daemon->context.counters.value(Counter::link_handshakes_refused), 1u);
    EXPECT_EQ(daemon->logged(LogLevel::warning), 1u);
  }
  const std::string text = beta.links.unconnected().at(0).last_error;
  EXPECT_EQ(alpha.logged(LogLevel::warning, text), 1u) << text;
  EXPECT_EQ(beta.logged(LogLevel::warning, text), 1u) << text;
  EXPECT_EQ(net.open_streams(), 0u);

  // Beta keeps trying, but says no more about it.
  net.advance(60s);
  EXPECT_GT(net.dials.size(), 10u);
  EXPECT_EQ(beta.logged(LogLevel::warning), 1u);
  EXPECT_LE(alpha.logged(LogLevel::warning), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    All, LinkMismatch,
    testing::Values(Mismatch{"cluster", Errc::cluster_mismatch, [](NodeConfig& c) { c.cluster = "other"; }},
                    Mismatch{"name", Errc::name_conflict,
                             [](NodeConfig& c) {
                               c.name = "alpha";
                               c.incarnation = 2;
                             }},
                    Mismatch{"settings", Errc::settings_mismatch, [](NodeConfig& c) { c.first_number = 5; }}),
    [](const auto& test) { return test.param.name; });

TEST(LinkHandshake, MismatchIsSymmetric) {
  const LinkHello alpha = hello_of("alpha");
  LinkHello beta = hello_of("beta");
  EXPECT_TRUE(check_hello(alpha, beta).has_value());
  beta.version_min = beta.version_max = 9;
  ASSERT_FALSE(check_hello(alpha, beta).has_value());
  EXPECT_EQ(check_hello(alpha, beta).error().code, Errc::version_mismatch);
  EXPECT_EQ(check_hello(alpha, beta).error(), check_hello(beta, alpha).error());
  EXPECT_EQ(check_hello(alpha, beta).error().text, "alpha speaks versions 1 to 1, beta speaks 9 to 9");
}

TEST(LinkHandshake, AStrangersVersionIsRefusedWithTheReason) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha"));
  LinkStream& stream = net.stranger(alpha);
  LinkHello hello = hello_of("beta");
  hello.version_min = hello.version_max = 9;
  stream.sides[1].inbox = control_frame(hello);
  net.settle();
  const LinkClose close = close_in(stream.sides[0].inbox);
  EXPECT_EQ(close.code, static_cast<std::uint16_t>(Errc::version_mismatch));
  EXPECT_EQ(alpha.logged(LogLevel::warning, close.text), 1u);
  EXPECT_FALSE(stream.sides[1].open);
}

TEST(LinkHandshake, AnAddressThatLeadsBackHereIsAConflict) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha", {"alpha"}));
  net.start(alpha);
  net.settle();
  EXPECT_TRUE(alpha.events.empty());
  EXPECT_EQ(alpha.closes(Errc::name_conflict), 2u);  // both ends of the connection are ours
}

TEST(LinkHandshake, ASilentConnectionTimesOut) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha"));
  LinkStream& stream = net.stranger(alpha);
  net.advance(alpha.context.config.link.handshake_timeout - 1ns);
  EXPECT_TRUE(stream.sides[1].open);
  net.advance(1ns);
  EXPECT_FALSE(stream.sides[1].open);
  EXPECT_EQ(close_in(stream.sides[0].inbox).code, static_cast<std::uint16_t>(Errc::handshake_timeout));
  EXPECT_EQ(alpha.closes(Errc::handshake_timeout), 1u);
}

TEST(LinkHandshake, HalfAHelloTimesOutToo) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha"));
  LinkStream& stream = net.stranger(alpha);
  const std::string hello = control_frame(hello_of("beta"));
  stream.sides[1].inbox = hello.substr(0, hello.size() - 1);
  net.advance(5s);
  EXPECT_FALSE(stream.sides[1].open);
  EXPECT_EQ(alpha.closes(Errc::handshake_timeout), 1u);
}

struct BadStart {
  const char* name;
  Errc code;
  std::string bytes;
};

class LinkBadStart : public testing::TestWithParam<BadStart> {};

TEST_P(LinkBadStart, IsRefusedWithTheReason) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha"));
  LinkStream& stream = net.stranger(alpha);
  stream.sides[1].inbox = GetParam().bytes;
  net.settle();
  EXPECT_FALSE(stream.sides[1].open);
  const LinkClose close = close_in(stream.sides[0].inbox);
  EXPECT_EQ(close.code, static_cast<std::uint16_t>(GetParam().code));
  EXPECT_EQ(alpha.closes(GetParam().code), 1u);
  EXPECT_EQ(alpha.context.counters.value(Counter::link_frames_bad), 1u);
  EXPECT_EQ(alpha.logged(LogLevel::warning, close.text), 1u);
  EXPECT_TRUE(alpha.events.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, LinkBadStart,
    testing::Values(
        BadStart{"http", Errc::malformed_frame, "GET / HTTP/1.1\r\n\r\n"},
        BadStart{"type_zero", Errc::malformed_frame, std::string(8, '\0')},
        BadStart{"no_control_message", Errc::malformed_frame, frame(LinkFrame::control, "garbage")},
        BadStart{"other_control_message", Errc::unexpected_frame, control_frame(LinkState{{"beta", 1}, 1, {}})},
        BadStart{"data_first", Errc::unexpected_frame, frame(LinkFrame::data, "x")},
        BadStart{"ping_first", Errc::unexpected_frame, frame(LinkFrame::ping, "12345678")},
        // The head alone is enough to refuse it: its contents are never waited for.
        BadStart{"too_large", Errc::frame_too_large,
                 frame(LinkFrame::control, std::string(kHandshakeFrameBytesMax + 1, 'x')).substr(0, kFrameHeadBytes)},
        BadStart{"bad_close", Errc::malformed_frame, frame(LinkFrame::close, "x")}),
    [](const auto& test) { return test.param.name; });

TEST(LinkHandshake, StrangersAreBounded) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha"));
  LinkDaemon& beta = net.add(LinkNet::config("beta", {"alpha"}));
  net.start(beta);
  net.settle();
  for (std::size_t i = 0; i < kPendingAcceptedMax; ++i) net.stranger(alpha);
  net.settle();
  EXPECT_EQ(net.open_streams(), 1 + kPendingAcceptedMax);
  LinkStream& refused = net.stranger(alpha);
  EXPECT_FALSE(refused.sides[1].open);
  EXPECT_EQ(close_in(refused.sides[0].inbox).code, static_cast<std::uint16_t>(Errc::limit_exceeded));
  // The link that is up does not suffer, and the strangers' places become free.
  net.advance(3s);
  EXPECT_EQ(alpha.links.established().size(), 1u);
  EXPECT_TRUE(net.stranger(alpha).sides[1].open);
}

/// Takes connections that begin with a frame of type 64 and of 100 bytes at most.
struct Taker final : ConnectionTaker {
  bool takes(Port port, const FrameHead& first) const override {
    return port == Port::link && first.type == 64 && first.length <= 100;
  }
  void take_over(Time, ConnectionId, Port, const Peer&, InputBuffer unread) override {
    taken.emplace_back(spindle::as_text(unread.unread()));
  }
  std::vector<std::string> taken;
};

TEST(LinkHandshake, AConnectionOfAnotherProtocolIsAStrangersUntilItsFirstFrameIsWhole) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha"));
  Taker taker;
  alpha.links.attach(taker);
  const auto first = [](std::size_t length) { return frame(LinkFrame{64}, std::string(length, 'x')); };
  std::vector<LinkStream*> streams;
  for (std::size_t i = 0; i < kPendingAcceptedMax; ++i) streams.push_back(&net.stranger(alpha));
  for (LinkStream* stream : streams) stream->sides[1].inbox = first(100).substr(0, 100);
  net.settle();
  EXPECT_TRUE(taker.taken.empty());
  EXPECT_FALSE(net.stranger(alpha).sides[1].open) << "they are bounded";
  streams.back()->sides[1].inbox = first(100).substr(100);
  net.settle();
  EXPECT_EQ(taker.taken, std::vector{first(100)});
  LinkStream& next = net.stranger(alpha);
  EXPECT_TRUE(next.sides[1].open);
  next.sides[1].inbox = first(101).substr(0, kFrameHeadBytes);
  net.settle();
  EXPECT_FALSE(next.sides[1].open) << "nothing of such a length is waited for";
  net.advance(alpha.context.config.link.handshake_timeout);
  EXPECT_EQ(alpha.closes(Errc::handshake_timeout), kPendingAcceptedMax - 1);
  EXPECT_EQ(taker.taken.size(), 1u);
}

TEST(LinkHandshake, RefusalsOfStrangersDoNotFloodTheLog) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha"));
  for (int i = 0; i < 1000; ++i) {
    net.stranger(alpha).sides[1].inbox = std::string(3, '\0') + static_cast<char>(100 + i % 100);
    net.settle();
  }
  EXPECT_EQ(alpha.closes(Errc::malformed_frame), 1000u);
  EXPECT_LE(alpha.logged(LogLevel::warning), RefusalLog::kWarningsMax);
}

// Of two connections, the one that alpha dialled stays, whichever is first.

class LinkDuplicate : public testing::TestWithParam<int> {};

TEST_P(LinkDuplicate, TheOneThatIsUpStays) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha", {"beta"}));
  LinkDaemon& beta = net.add(LinkNet::config("beta", {"alpha"}));
  net.start(alpha);
  net.start(beta);
  ASSERT_EQ(net.streams.size(), 2u);
  switch (GetParam()) {
    case 0:  // both at once
      break;
    case 1:  // alpha's is late
      net.streams[0]->held = true;
      break;
    case 2:  // beta's is late
      net.streams[1]->held = true;
      break;
  }
  net.settle();
  if (GetParam() != 0) {
    ASSERT_EQ(alpha.links.established().size(), 1u);
    EXPECT_EQ(alpha.links.info(alpha.link_to("beta")).dialled, GetParam() == 2);
  }
  for (auto& stream : net.streams) stream->held = false;
  net.settle();
  ASSERT_EQ(alpha.links.established().size(), 1u);
  ASSERT_EQ(beta.links.established().size(), 1u);
  const bool by_alpha = alpha.links.info(alpha.link_to("beta")).dialled;
  EXPECT_EQ(beta.links.info(beta.link_to("alpha")).dialled, !by_alpha);
  EXPECT_EQ(net.open_streams(), 1u);
  EXPECT_TRUE(alpha.of_kind(LinkEvent::down).empty()) << "alpha, the smaller name, decides";
  if (GetParam() != 0) {
    EXPECT_EQ(by_alpha, GetParam() == 2);
    EXPECT_TRUE(beta.of_kind(LinkEvent::down).empty());
  }

  // The loser neither dials again nor makes a noise, and the link works.
  net.advance(30s);
  EXPECT_EQ(net.dials.size(), 2u);
  EXPECT_EQ(net.open_streams(), 1u);
  for (LinkDaemon* daemon : {&alpha, &beta}) {
    EXPECT_EQ(daemon->logged(LogLevel::warning), 0u);
    EXPECT_EQ(daemon->closes(Errc::duplicate_link), 1u);
    EXPECT_TRUE(daemon->links.unconnected().empty());
  }
  beta.links.send(beta.link_to("alpha"), LinkFrame::data, {}, beta.slice("hello"), {});
  beta.links.flush(net.now);
  net.settle();
  ASSERT_EQ(alpha.of_kind(LinkEvent::frame).size(), 1u);

  // Once that link is gone, both dial again.
  alpha.links.close(net.now, alpha.link_to("beta"), {Errc::link_failed, "test"});
  alpha.links.flush(net.now);
  net.advance(10s);
  EXPECT_GT(net.dials.size(), 2u);
  EXPECT_EQ(alpha.links.established().size(), 1u);
  EXPECT_EQ(net.open_streams(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Orders, LinkDuplicate, testing::Range(0, 3));

TEST(LinkDuplicates, RandomInterleavingsEndWithTheSameLinkOnBothSides) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    LinkNet net;
    net.chunk = 1 + random.below(40);
    // Each has two addresses of the other.
    LinkDaemon& alpha = net.add(LinkNet::config("alpha", {"beta", "beta-2"}));
    LinkDaemon& beta = net.add(LinkNet::config("beta", {"alpha", "alpha-2"}));
    net.listeners["alpha-2"] = &alpha;
    net.listeners["beta-2"] = &beta;
    net.start(alpha);
    net.start(beta);
    for (int i = 0; i < 40; ++i) {
      for (auto& stream : net.streams) stream->held = random.chance(0.6);
      net.advance(Duration(random.below(30'000'000)));
    }
    for (auto& stream : net.streams) stream->held = false;
    net.advance(20s);
    ASSERT_EQ(alpha.links.established().size(), 1u);
    ASSERT_EQ(beta.links.established().size(), 1u);
    ASSERT_EQ(net.open_streams(), 1u);
    EXPECT_NE(alpha.links.info(alpha.link_to("beta")).dialled, beta.links.info(beta.link_to("alpha")).dialled);
    const std::size_t dials = net.dials.size();
    net.advance(60s);
    EXPECT_EQ(net.dials.size(), dials);
    EXPECT_EQ(net.open_streams(), 1u);
    EXPECT_EQ(alpha.logged(LogLevel::warning) + beta.logged(LogLevel::warning), 0u);
  }
}

TEST(LinkDuplicates, ANeighbourThatLostItsConnectionIsBelieved) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha", {"beta"}));
  LinkDaemon& beta = net.add(LinkNet::config("beta"));
  net.start(alpha);
  net.settle();
  // Only alpha's end of the connection breaks.
  LinkStream& first = *net.streams[0];
  first.held = true;
  first.sides[0].open = false;
  alpha.links.handle_closed(net.now, first.sides[0].id, "reset");
  alpha.links.flush(net.now);
  net.advance(300ms);
  ASSERT_EQ(beta.links.established().size(), 1u);
  EXPECT_EQ(alpha.links.established().size(), 1u);
  EXPECT_EQ(beta.closes(Errc::duplicate_link), 1u);
  EXPECT_FALSE(first.sides[1].open);
  net.advance(5s);
  EXPECT_EQ(net.dials.size(), 2u);
}

TEST(LinkDuplicates, ARestartedNeighbourIsLinkedBesideItsFormerSelf) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha", {"beta"}));
  LinkDaemon& beta = net.add(LinkNet::config("beta"));
  net.start(alpha);
  net.settle();
  ASSERT_EQ(alpha.links.peer(alpha.link_to("beta")).incarnation, 1u);
  // Beta's host went away without a word.
  net.streams[0]->held = true;
  net.kill(beta);
  NodeConfig config = LinkNet::config("beta", {"alpha"});
  config.incarnation = 2;
  LinkDaemon& again = net.add(config);
  net.start(again);
  net.settle();
  const auto last = [&] { return alpha.links.peer(*alpha.links.established_with("beta")).incarnation; };
  EXPECT_EQ(last(), 2u);
  EXPECT_EQ(alpha.of_kind(LinkEvent::up).size(), 2u);
  EXPECT_EQ(alpha.of_kind(LinkEvent::down).size(), 0u) << "it may be another daemon of that name, and alive";
  net.advance(1s);
  ASSERT_EQ(alpha.of_kind(LinkEvent::down).size(), 1u);
  EXPECT_EQ(alpha.of_kind(LinkEvent::down)[0].reason.code, Errc::silent_peer);
  EXPECT_EQ(last(), 2u);
}

TEST(LinkNeighbours, TheWeightIsThatOfWhoeverAnswersAtTheAddress) {
  LinkNet net;
  NodeConfig config = LinkNet::config("beta", {"alpha"});
  config.link.neighbours[0].weight = 7;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha", {"beta"}));
  LinkDaemon& beta = net.add(config);
  net.start(alpha);
  net.settle();
  EXPECT_EQ(beta.links.info(beta.link_to("alpha")).configured_weight, 0u);
  // The link stays the one that alpha dialled, but beta has learned who is behind its neighbour's address, and says so.
  beta.events.clear();
  net.start(beta);
  net.settle();
  EXPECT_FALSE(beta.links.info(beta.link_to("alpha")).dialled);
  EXPECT_EQ(beta.links.info(beta.link_to("alpha")).configured_weight, 7u);
  EXPECT_EQ(beta.of_kind(LinkEvent::round_trip).size(), 1u);
}

TEST(LinkNeighbours, AreDialledForEverWithBackOff) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha", {"nobody"}));
  net.start(alpha);
  net.advance(120s);
  const LinkConfig& config = alpha.context.config.link;
  ASSERT_GT(net.dials.size(), 24u);
  Duration expected = config.redial_min;
  bool jittered = false;
  for (std::size_t i = 1; i < net.dials.size(); ++i) {
    const Duration gap = net.dials[i].second - net.dials[i - 1].second;
    EXPECT_GE(gap, expected / 2);
    EXPECT_LE(gap, expected);
    jittered |= gap != expected && gap != expected / 2;
    expected = std::min(2 * expected, config.redial_max);
  }
  EXPECT_TRUE(jittered);
  EXPECT_EQ(alpha.logged(LogLevel::warning, "connection refused"), 1u);
  EXPECT_EQ(alpha.logged(LogLevel::info), 0u);
  ASSERT_EQ(alpha.links.unconnected().size(), 1u);
  EXPECT_EQ(alpha.links.unconnected()[0].last_error, "connection refused");
  EXPECT_GT(alpha.links.unconnected()[0].next_dial, net.now);

  // A link makes the back-off start at its least again, and the next failure worth a line.
  LinkDaemon& nobody = net.add(LinkNet::config("nobody"));
  net.advance(6s);
  ASSERT_EQ(alpha.links.established().size(), 1u);
  net.kill(nobody);
  net.dials.clear();
  const Time lost = net.now;
  net.advance(1s);
  ASSERT_GT(net.dials.size(), 1u);
  EXPECT_LE(net.dials[0].second - lost, config.redial_min);
  EXPECT_EQ(alpha.logged(LogLevel::warning, "connection refused"), 2u);
}

TEST(LinkNeighbours, OneThatWasThereIsDialledMoreOften) {
  LinkNet net;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha", {"beta"}));
  LinkDaemon& beta = net.add(LinkNet::config("beta"));
  net.start(alpha);
  net.start(beta);
  net.advance(6s);
  ASSERT_EQ(alpha.links.established().size(), 1u);
  net.kill(beta);
  net.dials.clear();
  net.advance(60s);
  const LinkConfig& config = alpha.context.config.link;
  ASSERT_LT(config.redial_lost_max, config.redial_max);
  EXPECT_GE(net.dials.size(), static_cast<std::size_t>(60s / config.redial_lost_max));
  for (std::size_t i = 1; i < net.dials.size(); ++i) {
    EXPECT_LE(net.dials[i].second - net.dials[i - 1].second, config.redial_lost_max);
  }
}

TEST(LinkNeighbours, ADialThatNeverEndsIsGivenUp) {
  LinkNet net;
  net.black_hole = true;
  LinkDaemon& alpha = net.add(LinkNet::config("alpha", {"nobody"}));
  net.start(alpha);
  net.advance(kDialTimeout + 1s);
  EXPECT_EQ(net.dials.size(), 2u);
  EXPECT_FALSE(net.streams[0]->sides[0].open);
}

TEST(LinkPhases, TheTableOfTransitions) {
  constexpr std::array all{LinkPhase::dialling, LinkPhase::handshake, LinkPhase::waiting, LinkPhase::established,
                           LinkPhase::closing};
  std::string allowed;
  for (const LinkPhase from : all) {
    for (const LinkPhase to : all) {
      if (may_follow(from, to)) allowed += std::string(to_string(from)) + ">" + std::string(to_string(to)) + " ";
    }
  }
  EXPECT_EQ(allowed,
            "dialling>handshake dialling>closing handshake>waiting handshake>established handshake>closing "
            "waiting>established waiting>closing established>closing ");
}

}  // namespace
}  // namespace spindled::test
