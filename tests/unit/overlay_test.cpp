// Three overlays in a line, alpha - beta - gamma, over real links in memory; the layers above are the test's.
#include "daemon/overlay/overlay.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "daemon/overlay/limits.h"
#include "tests/unit/overlay_harness.h"

namespace spindled {
namespace {

using test::LinkNet;

struct Node final : test::OverlayDaemon {
  using OverlayDaemon::OverlayDaemon;

  void topology_changed(Time) override { ++topology_changes; }
  void control_received(Time, LinkId, ControlMessage message) override { controls.push_back(std::move(message)); }
  void push_received(Time, const Push&, Slice body) override { pushed.push_back(text(body)); }
  void link_changed(Time, LinkId, bool up) override { link_changes.push_back(up); }
  bool stream_frame(LinkFrame type, Slice content) override {
    if (type == LinkFrame::data) {
      data.push_back(text(content));
    } else {
      small_frames.emplace_back(type, text(content));
    }
    return makes_sense;
  }
  bool price_received(Time, const Price& price) override {
    prices.push_back(price);
    return prices_are_news;
  }

  static std::string text(const Slice& slice) { return std::string(spindle::as_text(slice.view())); }

  int topology_changes = 0;
  std::vector<ControlMessage> controls;
  std::vector<std::string> pushed, data;
  std::vector<bool> link_changes;
  std::vector<std::pair<LinkFrame, std::string>> small_frames;
  std::vector<Price> prices;
  bool prices_are_news = true;
  bool makes_sense = true;  // what comes in frames of a view
};

struct OverlayTest : test::OverlayFixture {
  OverlayTest() {
    for (Node* node : {&alpha, &beta, &gamma}) bring_up(*node);
    advance(300ms);
  }

  void kill_gamma() {
    net.kill(gamma.daemon);
    running.pop_back();
  }

  View view(std::uint64_t number, MemberIndex self) const {
    return {{number, "alpha"}, {{"alpha", 1}, {"beta", 1}, {"gamma", 1}}, {{0, 1, 1, 0}, {1, 2, 1, 0}}, 1, self};
  }
  void install(Node& node, std::uint64_t number) {
    const MemberIndex self = &node == &alpha ? 0 : &node == &beta ? 1 : 2;
    node.overlay.install(net.now, view(number, self));
    settle();
  }
  /// The same with `count` more behind gamma, of which nothing is there.
  View large_view(std::uint64_t number, MemberIndex self, std::size_t count) const {
    View large = view(number, self);
    for (std::size_t i = 0; i < count; ++i) {
      const auto index = static_cast<MemberIndex>(large.members.size());
      large.members.push_back({fmt::format("x{:04}", i), 1});
      large.edges.push_back({2, index, 1, 0});
    }
    return large;
  }
  void install_everywhere(std::uint64_t number) {
    for (Node* node : {&alpha, &beta, &gamma}) install(*node, number);
  }
  void multicast(Node& from, const MemberSet& to, std::string_view head, std::string_view tail = {}) {
    from.streams().multicast(to, from.daemon.slice(head), tail.empty() ? Slice() : from.daemon.slice(tail));
    settle();
  }
  LinkId link(Node& from, Node& to) { return from.daemon.link_to(to.daemon.name()); }
  void send_raw(Node& from, Node& to, LinkFrame type, const std::vector<std::uint8_t>& bytes) {
    from.daemon.links.send(link(from, to), type, bytes, {}, {});
    settle();
  }

  Node& add(const std::string& name, const std::string& neighbour, std::uint64_t incarnation = 1) {
    NodeConfig config = LinkNet::config(name, {neighbour});
    config.incarnation = incarnation;
    return *more.emplace_back(std::make_unique<Node>(net.add(config)));
  }

  std::vector<std::unique_ptr<Node>> more;
  Node alpha{net.add(LinkNet::config("alpha", {"beta"}))};
  Node beta{net.add(LinkNet::config("beta", {"gamma"}))};
  Node gamma{net.add(LinkNet::config("gamma"))};
  const MemberSet to_beta_and_gamma = MemberSet::of(1) | MemberSet::of(2);
};

using Texts = std::vector<std::string>;

TEST_F(OverlayTest, WeightsFollowTheRoundTripsBelowTheDaemons) {
  const auto edge = [&] { return gamma.overlay.reachable().edges.front(); };
  const auto weight = [&] { return edge().weight; };
  EXPECT_EQ(weight(), 1u) << "what is known of the links";
  for (Node* node : {&alpha, &beta}) node->daemon.round_trip_below = 5ms;
  advance(2 * LinkWeight::kWindow * alpha.daemon.context.config.link.hello_interval);
  EXPECT_NEAR(weight(), 10, 5) << "half a millisecond each";
  EXPECT_EQ(edge().round_trip_us, 5000u);
}

TEST_F(OverlayTest, AWeightCountsAlsoWhereTheNeighbourDialledFirst) {
  NodeConfig config = LinkNet::config("delta", {"epsilon"});
  config.link.neighbours[0].weight = 1000;
  Node& delta = *more.emplace_back(std::make_unique<Node>(net.add(config)));
  bring_up(delta);
  advance(1s);
  Node& epsilon = add("epsilon", "delta");
  bring_up(epsilon);
  advance(300ms);
  ASSERT_FALSE(delta.daemon.links.info(link(delta, epsilon)).dialled);
  advance(10s);  // delta has dialled the address, too, and knows who is there
  for (Node* each : {&delta, &epsilon}) {
    ASSERT_EQ(each->overlay.reachable().edges.size(), 1u);
    EXPECT_EQ(each->overlay.reachable().edges[0].weight, 1000u);
  }
  EXPECT_FALSE(delta.daemon.links.info(link(delta, epsilon)).dialled) << "on the same link";
}

TEST_F(OverlayTest, LinkStateReachesEverybody) {
  for (Node* node : {&alpha, &beta, &gamma}) {
    EXPECT_EQ(node->reachable(), (Texts{"alpha", "beta", "gamma"}));
    EXPECT_EQ(node->overlay.reachable(), alpha.overlay.reachable());
    EXPECT_GT(node->topology_changes, 0);
  }
  kill_gamma();
  advance(100ms);
  EXPECT_EQ(alpha.reachable(), (Texts{"alpha", "beta"}));
  EXPECT_EQ(beta.link_changes, (std::vector<bool>{true, true, false}));
}

TEST_F(OverlayTest, AdvertisementsAreRepeatedAndAgeOut) {
  const std::uint64_t before = alpha.overlay.link_state().database().entries().at({"gamma", 1}).state.sequence;
  advance(31s);
  EXPECT_EQ(alpha.overlay.link_state().database().entries().at({"gamma", 1}).state.sequence, before + 1);
  kill_gamma();
  advance(125s);
  EXPECT_EQ(alpha.overlay.link_state().database().entries().count({"gamma", 1}), 0u);
  EXPECT_EQ(alpha.overlay.link_state().database().entries().count({"beta", 1}), 1u);
}

TEST_F(OverlayTest, DataIsRelayedAndHandedUp) {
  install_everywhere(1);
  multicast(alpha, to_beta_and_gamma, "he", "llo");
  EXPECT_EQ(beta.data, (Texts{"hello"}));
  EXPECT_EQ(gamma.data, (Texts{"hello"}));
  EXPECT_TRUE(alpha.data.empty());
  EXPECT_EQ(beta.count(Counter::data_forwarded), 1u);
  multicast(gamma, MemberSet::of(0), "back");
  EXPECT_EQ(alpha.data, (Texts{"back"}));
  EXPECT_EQ(beta.data.size(), 1u) << "a relay that is not addressed sees nothing";
}

TEST_F(OverlayTest, SmallFramesAreRouted) {
  install_everywhere(1);
  gamma.streams().send(LinkFrame::acknowledgement, MemberSet::of(0), spindle::as_bytes("how far"));
  alpha.streams().send(LinkFrame::stable, to_beta_and_gamma, spindle::as_bytes("let go"));
  gamma.streams().send(LinkFrame::ready, MemberSet::of(1), spindle::as_bytes("ready"));
  settle();
  using Frames = std::vector<std::pair<LinkFrame, std::string>>;
  EXPECT_EQ(alpha.small_frames, (Frames{{LinkFrame::acknowledgement, "how far"}}));
  EXPECT_EQ(beta.small_frames, (Frames{{LinkFrame::stable, "let go"}, {LinkFrame::ready, "ready"}}));
  EXPECT_EQ(gamma.small_frames, (Frames{{LinkFrame::stable, "let go"}}));
}

TEST_F(OverlayTest, AFrameThatItsHandlerFindsNoSenseInEndsTheLink) {
  install_everywhere(1);
  beta.makes_sense = false;
  alpha.streams().send(LinkFrame::acknowledgement, to_beta_and_gamma, spindle::as_bytes("nonsense"));
  settle();
  EXPECT_EQ(gamma.small_frames.size(), 1u) << "it was passed on before";
  EXPECT_EQ(beta.link_changes.back(), false);
}

TEST_F(OverlayTest, FramesOfAViewThatNeverComesAreDropped) {
  install(alpha, 1);
  multicast(alpha, MemberSet::of(1), "lost");
  install(beta, 2);
  EXPECT_TRUE(beta.data.empty());
  EXPECT_EQ(beta.count(Counter::data_dropped_frozen), 1u);
  multicast(alpha, MemberSet::of(1), "outdated");
  EXPECT_TRUE(beta.data.empty());
  EXPECT_EQ(beta.count(Counter::data_dropped_frozen), 2u);
  install(alpha, 2);
  multicast(alpha, MemberSet::of(1), "in time");
  EXPECT_EQ(beta.data, (Texts{"in time"}));
}

TEST_F(OverlayTest, AFrozenDaemonNeitherSendsNorTakes) {
  install_everywhere(1);
  beta.overlay.freeze();
  multicast(alpha, to_beta_and_gamma, "late");
  multicast(beta, MemberSet::of(0), "late");
  EXPECT_TRUE(alpha.data.empty() && beta.data.empty() && gamma.data.empty());
  EXPECT_EQ(beta.count(Counter::data_dropped_frozen), 1u);
}

TEST_F(OverlayTest, FreezingDropsWhatIsQueued) {
  install_everywhere(1);
  alpha.streams().multicast(MemberSet::of(1), alpha.daemon.slice("queued"), {});
  alpha.overlay.freeze();
  settle();
  EXPECT_TRUE(beta.data.empty());
  install_everywhere(2);
  multicast(alpha, MemberSet::of(1), "new");
  EXPECT_EQ(beta.data, (Texts{"new"})) << "the new view was named again";
}

TEST_F(OverlayTest, PushesFollowTheRoutesOfTheViewToCome) {
  install_everywhere(1);
  for (Node* node : {&alpha, &beta, &gamma}) node->overlay.freeze();
  const Push push{{2, "alpha"}, {1, "alpha"}};
  const auto send = [&] {
    alpha.overlay.send_push(push, to_beta_and_gamma, alpha.daemon.slice("bo"), alpha.daemon.slice("dy"));
    settle();
  };
  alpha.overlay.use_recovery_routes(view(2, 0));
  gamma.overlay.use_recovery_routes(view(2, 2));
  send();
  EXPECT_TRUE(beta.pushed.empty() && gamma.pushed.empty()) << "beta knows of no such proposal";
  beta.overlay.use_recovery_routes(view(2, 1));
  send();
  EXPECT_EQ(beta.pushed, (Texts{"body"}));
  EXPECT_EQ(gamma.pushed, (Texts{"body"}));
  install(beta, 2);
  send();
  EXPECT_EQ(beta.pushed.size(), 1u) << "late: passed on, not taken";
  EXPECT_EQ(gamma.pushed.size(), 2u);
}

TEST_F(OverlayTest, ControlMessagesGoUpAndBadOnesCloseTheLink) {
  beta.overlay.flood(Install{{5, "beta"}}, link(beta, alpha));
  settle();
  EXPECT_TRUE(alpha.controls.empty());
  ASSERT_EQ(gamma.controls.size(), 1u);
  EXPECT_EQ(std::get<Install>(gamma.controls[0]).proposal, (ViewId{5, "beta"}));

  alpha.overlay.send(link(alpha, beta), LinkHello{1, 1, "spindle", {"alpha", 1}, 0});
  settle();
  EXPECT_EQ(beta.daemon.closes(Errc::unexpected_frame), 1u);
  gamma.daemon.links.send_control(link(gamma, beta), gamma.daemon.slice("nonsense"));
  settle();
  EXPECT_EQ(beta.daemon.closes(Errc::malformed_frame), 1u);
  EXPECT_EQ(beta.reachable(), (Texts{"beta"}));
}

TEST_F(OverlayTest, FramesThatMakeNoSenseCloseTheLink) {
  install_everywhere(1);
  send_raw(alpha, beta, LinkFrame::data, {0x01, 0x02, 0x00});
  EXPECT_EQ(beta.daemon.closes(Errc::unexpected_frame), 1u) << "no view was named";
  const std::vector<std::vector<std::uint8_t>> malformed{
      {0x00},        // to nobody
      {0x01, 0x08},  // to a member that does not exist
      {0x05, 0x01},  // cut short
      {0x01, 0x00},  // a set with a trailing zero byte
  };
  for (const std::vector<std::uint8_t>& bytes : malformed) {
    advance(2s);  // the link is dialled anew
    install_everywhere(beta.overlay.routes().view().number + 1);
    multicast(alpha, MemberSet::of(1), "in order");
    EXPECT_EQ(beta.data, (Texts{"in order"}));
    beta.data.clear();
    const std::uint64_t closes = beta.daemon.closes(Errc::malformed_frame);
    send_raw(alpha, beta, LinkFrame::data, bytes);
    EXPECT_EQ(beta.daemon.closes(Errc::malformed_frame), closes + 1);
  }
}

TEST_F(OverlayTest, AFrameThatLeavesNoRoomForAnotherSetClosesTheLink) {
  // All of 17 members take three bytes, and the part of them that beta passes it on to takes more.
  MemberSet all = MemberSet::first(17);
  std::vector<std::uint8_t> bytes(all.encoded_size());
  Writer writer(bytes.data());
  all.write(writer);
  ASSERT_EQ(bytes.size(), 3u);
  std::uint64_t number = 0;
  for (const LinkFrame type : {LinkFrame::acknowledgement, LinkFrame::stable, LinkFrame::ready, LinkFrame::data,
                               LinkFrame::bulk_plan, LinkFrame::bulk_invitation}) {
    advance(2s);  // the link is dialled anew
    ++number;
    alpha.overlay.install(net.now, large_view(number, 0, 14));
    beta.overlay.install(net.now, large_view(number, 1, 14));
    multicast(alpha, MemberSet::of(1), "in order");
    const std::uint64_t closes = beta.daemon.closes(Errc::frame_too_large);
    bytes.resize(traits_of(type).bytes_max);
    send_raw(alpha, beta, type, bytes);
    EXPECT_EQ(beta.daemon.closes(Errc::frame_too_large), closes + 1) << traits_of(type).name;
  }
}

TEST_F(OverlayTest, APushThatLeavesNoRoomForAnotherSetClosesTheLink) {
  install_everywhere(1);
  beta.overlay.freeze();
  beta.overlay.use_recovery_routes(large_view(2, 1, 14));
  MemberSet all = MemberSet::first(17);
  const Push push{{2, "alpha"}, {1, "alpha"}};
  std::vector<std::uint8_t> bytes(kPushFrameBytesMax);
  Writer writer(bytes.data());
  all.write(writer);
  write_push(writer, push);
  send_raw(alpha, beta, LinkFrame::push, bytes);
  EXPECT_EQ(beta.daemon.closes(Errc::frame_too_large), 1u);
  EXPECT_TRUE(beta.pushed.empty());
}

TEST_F(OverlayTest, AFrameForManyMayBeLong) {
  alpha.overlay.install(net.now, large_view(1, 0, kMembersMax - 3));
  beta.overlay.install(net.now, large_view(1, 1, kMembersMax - 3));
  gamma.overlay.install(net.now, large_view(1, 2, kMembersMax - 3));
  const std::string plan(9 * kMembersMax, 'p');
  alpha.streams().send(LinkFrame::bulk_plan, MemberSet::first(kMembersMax - 1), spindle::as_bytes(plan));
  settle();
  using Frames = std::vector<std::pair<LinkFrame, std::string>>;
  EXPECT_EQ(beta.small_frames, (Frames{{LinkFrame::bulk_plan, plan}}));
  EXPECT_EQ(gamma.small_frames, (Frames{{LinkFrame::bulk_plan, plan}}));
}

TEST_F(OverlayTest, NothingGoesBackWhereItCameFrom) {
  install_everywhere(1);
  multicast(alpha, MemberSet::of(1), "first");
  send_raw(alpha, beta, LinkFrame::data, {0x01, 0x03, 0xee});  // for alpha itself, and beta
  EXPECT_EQ(beta.count(Counter::frames_misrouted), 1u);
  EXPECT_EQ(beta.data.size(), 2u);
  EXPECT_TRUE(alpha.data.empty());
}

TEST_F(OverlayTest, ALinkThatComesBackServesTheNextViewOnly) {
  install_everywhere(1);
  multicast(alpha, MemberSet::of(1), "one");
  alpha.daemon.links.close(net.now, link(alpha, beta), {Errc::link_failed, "cut by the test"});
  multicast(alpha, MemberSet::of(1), "lost");
  advance(2s);
  EXPECT_EQ(alpha.daemon.links.established().size(), 1u) << "the link is back";
  EXPECT_EQ(gamma.reachable(), (Texts{"beta", "gamma"})) << "and yet nobody may believe in it";
  multicast(alpha, MemberSet::of(1), "a gap before it");
  EXPECT_EQ(beta.data, (Texts{"one"}));
  install_everywhere(2);
  advance(100ms);
  EXPECT_EQ(gamma.reachable(), (Texts{"alpha", "beta", "gamma"}));
  multicast(alpha, MemberSet::of(1), "two");
  EXPECT_EQ(beta.data, (Texts{"one", "two"}));
}

TEST_F(OverlayTest, UnreliableMessagesAreDroppedAtALongQueue) {
  install_everywhere(1);
  for (auto& stream : net.streams) stream->capacity = 1;
  const Slice body = alpha.daemon.slice(std::string(32u << 10, 'x'));
  for (int i = 0; i < 20; ++i) alpha.streams().multicast_unreliable(MemberSet::of(1), body, {});
  // The queue is let grow past the limit once: 8 frames and their heads are just above 256 KiB.
  EXPECT_EQ(alpha.count(Counter::data_dropped_unreliable), 12u);
  for (auto& stream : net.streams) stream->capacity = SIZE_MAX;
  settle();
  EXPECT_EQ(beta.data.size(), 8u);
}

TEST_F(OverlayTest, UnreliableMessagesAreDroppedAtALongQueueOfARelay) {
  install_everywhere(1);
  for (auto& stream : net.streams) {
    const bool is_last = stream->sides[0].daemon == &gamma.daemon || stream->sides[1].daemon == &gamma.daemon;
    if (!is_last) continue;
    stream->capacity = 1;
    stream->held = true;
  }
  const auto send = [&](Service service, std::uint64_t number) {
    BodyHead head;
    head.number = number;
    head.service = service;
    std::vector<std::uint8_t> body(body_head_size(head, MemberSet::of(2)));
    Writer writer(body.data());
    write_body_head(writer, head, MemberSet::of(2));
    body.resize(32u << 10);
    multicast(alpha, MemberSet::of(2), spindle::as_text(body));
  };
  for (std::uint64_t i = 1; i <= 20; ++i) send(Service::unreliable, 0);
  EXPECT_EQ(alpha.count(Counter::data_dropped_unreliable), 0u) << "its own link takes all";
  EXPECT_EQ(beta.count(Counter::data_dropped_unreliable), 12u);
  EXPECT_EQ(beta.count(Counter::data_forwarded), 8u);
  for (std::uint64_t i = 1; i <= 3; ++i) send(Service::reliable, i);
  EXPECT_EQ(beta.count(Counter::data_dropped_unreliable), 12u) << "others are not dropped";
  for (auto& stream : net.streams) {
    stream->capacity = SIZE_MAX;
    stream->held = false;
  }
  settle();
  EXPECT_EQ(gamma.data.size(), 11u);
}

TEST_F(OverlayTest, AControlMessageLongerThanAFrameComesInParts) {
  Commit commit;
  commit.proposal = {5, "beta", 1};
  Transition transition{{1, "beta", 1}, {}, 0, 0};
  Random random(1);
  constexpr std::size_t kMembers = 1000;
  for (std::size_t i = 0; i < kMembers; ++i) {
    commit.members.push_back({i == 0 ? "beta" : "d" + std::to_string(10'000 + i), 1});
    transition.members.push_back({static_cast<MemberIndex>(i), std::vector<std::uint64_t>(kMembers)});
    for (std::uint64_t& number : transition.members.back().high) number = random.next();
  }
  commit.transitions.push_back(std::move(transition));
  ASSERT_GT(encode_control(commit).size(), kControlFrameBytesMax);
  beta.overlay.flood(commit, std::nullopt);
  beta.overlay.flood(Install{{5, "beta", 1}}, std::nullopt);
  settle();
  for (Node* node : {&alpha, &gamma}) {
    ASSERT_EQ(node->controls.size(), 2u) << node->daemon.log.back().second;
    const auto* arrived = std::get_if<Commit>(&node->controls[0]);
    ASSERT_NE(arrived, nullptr);
    EXPECT_EQ(arrived->members, commit.members);
    EXPECT_EQ(arrived->transitions[0].members.back().high, commit.transitions[0].members.back().high);
    EXPECT_TRUE(std::holds_alternative<Install>(node->controls[1])) << "in order";
  }
}

TEST_F(OverlayTest, MalformedPartsOfControlMessagesCloseTheLink) {
  for (const std::vector<std::uint8_t>& bytes : {std::vector<std::uint8_t>{}, {2}, {1, 0xff}}) {
    advance(2s);  // the link is dialled anew
    const std::uint64_t closes = beta.daemon.closes(Errc::malformed_frame);
    send_raw(alpha, beta, LinkFrame::control_part, bytes);
    EXPECT_EQ(beta.daemon.closes(Errc::malformed_frame), closes + 1);
  }
}

TEST_F(OverlayTest, WarnsOfAnotherDaemonOfItsNameThatLives) {
  LinkState stranger{{"alpha", 2}, 1, {}, true};
  beta.overlay.flood(stranger, std::nullopt);
  settle();
  EXPECT_EQ(alpha.daemon.logged(LogLevel::warning, "another daemon is named alpha"), 0u) << "it may be gone";
  for (const std::uint64_t sequence : {2u, 3u}) {
    stranger.sequence = sequence;
    beta.overlay.flood(stranger, std::nullopt);
    settle();
    EXPECT_EQ(alpha.daemon.logged(LogLevel::warning, "another daemon is named alpha"), 1u);
  }
  advance(61s);
  stranger.sequence = 4;
  beta.overlay.flood(stranger, std::nullopt);
  settle();
  EXPECT_EQ(alpha.daemon.logged(LogLevel::warning, "another daemon is named alpha"), 2u);
  EXPECT_EQ(alpha.count(Counter::name_conflicts), 2u);
  EXPECT_EQ(gamma.reachable(), (Texts{"alpha", "beta", "gamma"}));
}

TEST_F(OverlayTest, WhatADaemonKnowsIsToldOnceALink) {
  const auto ask = [&] {
    alpha.overlay.send(link(alpha, beta), LinkStateSummary{});
    settle();
  };
  const std::uint64_t told = beta.count(Counter::control_out);
  ask();  // it has asked when the link came up
  EXPECT_EQ(beta.daemon.closes(Errc::unexpected_frame), 1u);
  EXPECT_LE(beta.count(Counter::control_out), told + 2) << "it says why, and to gamma that the link is gone";
  advance(2s);  // another link
  EXPECT_EQ(alpha.reachable(), (Texts{"alpha", "beta", "gamma"}));
  EXPECT_EQ(beta.daemon.closes(Errc::unexpected_frame), 1u);
}

TEST_F(OverlayTest, ASequenceThatNobodyCanHaveComeToIsLeftAlone) {
  const auto forge = [&](const std::string& of, std::uint64_t sequence) {
    gamma.overlay.send(link(gamma, beta), LinkState{{of, 1}, sequence, {}});
    settle();
  };
  const std::uint64_t sequence_max = std::uint64_t{1} << 62;
  forge("beta", sequence_max);   // of whom it goes to
  forge("alpha", sequence_max);  // and of another
  advance(1s);
  for (Node* each : {&alpha, &beta, &gamma}) {
    EXPECT_EQ(each->reachable(), (Texts{"alpha", "beta", "gamma"})) << each->daemon.name();
    EXPECT_EQ(each->daemon.closes(Errc::malformed_frame), 0u) << each->daemon.name();
  }
  forge("alpha", 1'000'000);  // alpha goes above
  advance(1s);
  for (Node* each : {&alpha, &beta, &gamma}) {
    EXPECT_EQ(each->reachable(), (Texts{"alpha", "beta", "gamma"})) << each->daemon.name();
  }
}

TEST_F(OverlayTest, ALinkIsAdvertisedOnceTheOtherSideHasToldWhatItKnows) {
  Node& delta = add("delta", "gamma");
  delta.daemon.links.start(net.now);
  delta.overlay.start(net.now);
  running.push_back(&delta);
  EXPECT_TRUE(delta.overlay.link_state().database().own().stays_out());
  advance(100ms);
  EXPECT_FALSE(delta.overlay.link_state().database().own().stays_out());
  EXPECT_EQ(alpha.reachable(), (Texts{"alpha", "beta", "delta", "gamma"}));
  delta.daemon.links.close(net.now, link(delta, gamma), {Errc::link_failed, "cut by the test"});
  settle();
  EXPECT_TRUE(delta.overlay.link_state().database().own().stays_out()) << "without a link it begins anew";
}

TEST_F(OverlayTest, ADaemonWhoseNameIsTakenStaysOut) {
  // Another alpha, at the other end of the line.
  Node& other = add("alpha", "gamma", 2);
  other.daemon.links.start(net.now);
  other.overlay.start(net.now);
  running.push_back(&other);
  const int changes = beta.topology_changes;
  advance(2s);
  EXPECT_EQ(other.reachable(), (Texts{"alpha"}));
  EXPECT_EQ(beta.overlay.reachable().members[0], (DaemonId{"alpha", 1}));
  EXPECT_EQ(beta.overlay.reachable().members.size(), 3u);
  EXPECT_LE(beta.topology_changes, changes + 4) << "nothing flaps";
  EXPECT_EQ(other.daemon.logged(LogLevel::error, "another daemon is named alpha"), 1u);
  EXPECT_EQ(alpha.daemon.logged(LogLevel::warning, "another daemon is named alpha"), 1u);

  // The first one is gone: the other takes its place.
  net.kill(alpha.daemon);
  running.erase(running.begin());
  advance(2s);
  EXPECT_EQ(gamma.reachable(), (Texts{"alpha", "beta", "gamma"}));
  EXPECT_EQ(gamma.overlay.reachable().members[0], (DaemonId{"alpha", 2}));
  EXPECT_EQ(other.daemon.logged(LogLevel::error, "another daemon is named alpha"), 1u);
}

// Prices.

Price clients_price(std::uint16_t view, MemberIndex from) { return {view, from, 0, "news", 1, 16}; }

TEST_F(OverlayTest, PricesArePassedOnWhereTheyAreNews) {
  install_everywhere(1);
  EXPECT_TRUE(alpha.overlay.prices().flood({0, 0, 1, {}, 1, 16}));
  settle();
  EXPECT_TRUE(beta.prices.empty()) << "not over the link that it is of";
  EXPECT_TRUE(alpha.overlay.prices().flood({0, 0, 0, "news", 2, 16}));
  settle();
  ASSERT_EQ(beta.prices.size(), 1u);
  EXPECT_EQ(beta.prices[0].view, 1);
  EXPECT_EQ(beta.prices[0].from, 0);
  EXPECT_EQ(gamma.prices, beta.prices);
  EXPECT_TRUE(alpha.prices.empty());
  beta.prices_are_news = false;
  alpha.overlay.prices().flood({0, 0, 0, "news", 3, 16});
  settle();
  EXPECT_EQ(beta.prices.size(), 2u);
  EXPECT_EQ(gamma.prices.size(), 1u);
}

TEST_F(OverlayTest, PricesOfAnotherViewAreDropped) {
  install_everywhere(1);
  for (const std::uint16_t tag : {std::uint16_t{0}, std::uint16_t{2}}) {
    send_raw(alpha, beta, LinkFrame::price, write_price(clients_price(tag, 0)));
  }
  EXPECT_TRUE(beta.prices.empty());
  send_raw(alpha, beta, LinkFrame::price, write_price(clients_price(1, 3)));
  EXPECT_TRUE(beta.prices.empty()) << "the view has three members";
  send_raw(alpha, beta, LinkFrame::price, write_price(clients_price(1, 0)));
  EXPECT_EQ(beta.prices.size(), 1u);
  EXPECT_EQ(gamma.prices.size(), 1u);
}

TEST_F(OverlayTest, NoPricesAreToldOrHeardWhileFrozen) {
  install_everywhere(1);
  beta.overlay.freeze();
  send_raw(alpha, beta, LinkFrame::price, write_price(clients_price(1, 0)));
  EXPECT_TRUE(beta.prices.empty());
  EXPECT_TRUE(gamma.prices.empty());
  EXPECT_FALSE(beta.overlay.prices().flood({0, 1, 0, "news", 1, 16}));
  settle();
  EXPECT_TRUE(alpha.prices.empty());
  EXPECT_EQ(beta.count(Counter::bytes_prices), 0u);
}

TEST_F(OverlayTest, AMalformedPriceClosesTheLink) {
  install_everywhere(1);
  std::vector<std::uint8_t> cut = write_price(clients_price(1, 0));
  cut.pop_back();
  send_raw(alpha, beta, LinkFrame::price, cut);
  EXPECT_TRUE(beta.prices.empty());
  EXPECT_EQ(beta.daemon.closes(Errc::malformed_frame), 1u);
}

}  // namespace
}  // namespace spindled
