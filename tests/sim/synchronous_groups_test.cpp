// Groups whose messages are delivered in the views in which they were sent.
#include "daemon/base/result.h"
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

using spindle::protocol::ClientFrame;

constexpr const char* kGroup = "g";

class SynchronousGroups : public Scenario {
 protected:
  static NodeConfig config() {
    NodeConfig config;
    config.session.flush_timeout = 2s;
    return config;
  }

  SimClient& add(std::size_t host, const std::string& name, std::optional<Duration> flushes_after = Duration{}) {
    ClientOptions options;
    options.flushes_after = flushes_after;
    return sim().add_client(sim().host(host), name, options);
  }
  SimClient& add_member(std::size_t host, const std::string& name, std::optional<Duration> flushes_after = Duration{}) {
    SimClient& client = add(host, name, flushes_after);
    client.join(kGroup, true);
    return client;
  }
  std::vector<SimClient*> add_some(std::size_t count) {
    std::vector<SimClient*> clients;
    for (std::size_t i = 0; i < count; ++i) {
      clients.push_back(&add_member(i % sim().host_count(), fmt::format("c{}", i)));
    }
    return clients;
  }
  std::uint64_t counted(Counter counter) {
    std::uint64_t sum = 0;
    for (SimHost* host : sim().running_hosts()) sum += host->node().counters().value(counter);
    return sum;
  }
  /// Of messages that a client got.
  static std::size_t got(const SimClient& client) { return events_of<Delivered>(client.history()).size(); }
};

TEST_F(SynchronousGroups, MembersJoinAndLeaveUnderLoad) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    simulate_cluster(seed, kShapes[seed % std::size(kShapes)], 3, config());
    if (HasFatalFailure()) return;
    std::vector<SimClient*> members = add_some(6);
    await_group_view(members, kGroup);
    if (HasFatalFailure()) return;
    constexpr Service kServices[] = {Service::fifo, Service::causal, Service::agreed, Service::safe};
    for (int round = 0; round < 40; ++round) {
      for (SimClient* member : members) member->multicast({kGroup}, {.service = kServices[sim().random().below(4)]});
      SimClient& changing = *members[sim().random().below(members.size())];
      if (round % 3 == 0) changing.leave(kGroup);
      if (round % 3 == 0) changing.join(kGroup, true);
      if (round % 4 == 0) members.push_back(&add_member(sim().random().below(3), fmt::format("n{}", round)));
      sim().run_for(std::chrono::microseconds(sim().random().below(3000)));
    }
    await_group_view(members, kGroup);
    if (HasFatalFailure()) return;
    await_rest();
    check();
    EXPECT_TRUE(members[0]->view(kGroup)->synchronous);
  }
}

/// Who joins and leaves at three daemons with thirty members costs an operation, and one for each daemon.
TEST_F(SynchronousGroups, AThousandJoinsAndLeavesTakeFourOperationsEach) {
  simulate_cluster(9, Shape::line, 3, config());
  if (HasFatalFailure()) return;
  std::vector<SimClient*> members = add_some(30);
  await_group_view(members, kGroup);
  if (HasFatalFailure()) return;
  SimClient& mover = add(1, "mover");
  const std::uint64_t before = counted(Counter::flushes_sent);
  const std::size_t views = members[0]->views_of(spindle::ViewForm::full);
  constexpr int kRounds = 500;
  const Time start = sim().now();
  for (int round = 0; round < kRounds; ++round) {
    for (const bool joins : {true, false}) {
      const std::size_t seen = members[0]->views_of(spindle::ViewForm::full);
      if (joins) {
        mover.join(kGroup, true);
      } else {
        mover.leave(kGroup);
      }
      constexpr Service kServices[] = {Service::fifo, Service::causal, Service::agreed, Service::safe};
      await(
          [&] {
            members[sim().random().below(30)]->multicast({kGroup}, {.service = kServices[sim().random().below(4)]});
            return members[0]->views_of(spindle::ViewForm::full) > seen;
          },
          1s, "a view");
      if (HasFatalFailure()) return;
    }
  }
  const Duration each = (sim().now() - start) / (2 * kRounds);
  sim().run_for(100ms);
  EXPECT_EQ(members[0]->views_of(spindle::ViewForm::full), views + 2 * kRounds);
  EXPECT_EQ(counted(Counter::flushes_sent) - before, 3u * 2 * kRounds) << "beside the joins and leaves themselves";
  EXPECT_LE(each, 5ms) << "of the simulator's clock";
  EXPECT_EQ(counted(Counter::flush_timeouts), 0u);
  check();
}

/// Who has no view of a group sends nothing to it; the first member has one at once.
TEST_F(SynchronousGroups, WhoJoinsSendsInItsFirstView) {
  simulate_cluster(1, Shape::line, 3, config());
  if (HasFatalFailure()) return;
  SimClient& first = add_member(0, "first");
  first.multicast({kGroup});
  await_group_view({&first}, kGroup);
  if (HasFatalFailure()) return;
  SimClient& slow = add_member(1, "slow", 500ms);
  await_group_view({&first, &slow}, kGroup);
  if (HasFatalFailure()) return;
  SimClient& last = add_member(2, "last");
  last.multicast({kGroup});
  sim().run_for(300ms);
  EXPECT_EQ(last.view(kGroup), nullptr) << "slow has not answered";
  EXPECT_EQ(got(first), 1u);
  await_group_view({&first, &slow, &last}, kGroup);
  sim().run_for(100ms);
  EXPECT_EQ(got(first), 2u);
  EXPECT_EQ(got(last), 1u);
  check();
}

TEST_F(SynchronousGroups, SeveralChangesJoinOnePendingView) {
  simulate_cluster(2, Shape::line, 3, config());
  if (HasFatalFailure()) return;
  std::vector<SimClient*> members = add_some(5);
  SimClient& slow = add_member(1, "slow", 1s);
  members.push_back(&slow);
  await_group_view(members, kGroup);
  if (HasFatalFailure()) return;
  const std::size_t views = members[0]->views_of(spindle::ViewForm::full);
  SimClient& joins = add_member(0, "joins");
  sim().run_for(50ms);
  SimClient& comes_and_goes = add_member(2, "comes");
  sim().run_for(50ms);
  comes_and_goes.leave(kGroup);
  members[1]->leave(kGroup);
  sim().run_for(50ms);
  members[1]->join(kGroup, true);
  members[2]->kill();
  members.erase(members.begin() + 2);
  members.push_back(&joins);
  await_group_view(members, kGroup);
  if (HasFatalFailure()) return;
  EXPECT_EQ(members[0]->views_of(spindle::ViewForm::full), views + 1);
  EXPECT_EQ(members[0]->view(kGroup)->cause, spindle::ViewCause::join);
  EXPECT_EQ(comes_and_goes.views_of(spindle::ViewForm::full), 0u);
  EXPECT_EQ(comes_and_goes.views_of(spindle::ViewForm::farewell), 1u);
  check();
}

TEST_F(SynchronousGroups, WhoDoesNotAnswerIsTakenOutInTime) {
  simulate_cluster(3, Shape::line, 3, config());
  if (HasFatalFailure()) return;
  std::vector<SimClient*> members = add_some(4);
  await_group_view(members, kGroup);
  if (HasFatalFailure()) return;
  SimClient& silent = add_member(1, "silent", std::nullopt);
  std::vector<SimClient*> all = members;
  all.push_back(&silent);
  await_group_view(all, kGroup);
  if (HasFatalFailure()) return;
  SimClient& joins = add_member(2, "joins");
  members.push_back(&joins);
  sim().run_for(1900ms);
  EXPECT_EQ(joins.view(kGroup), nullptr);
  silent.multicast({kGroup});
  sim().run_for(200ms);
  EXPECT_TRUE(have_one_group_view(members, kGroup));
  EXPECT_FALSE(silent.is_closed());
  EXPECT_EQ(silent.view(kGroup), nullptr);
  const auto told = events_of<LeaveRequested>(silent.history());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0]->by_rules);
  EXPECT_EQ(counted(Counter::flush_timeouts), 1u);
  EXPECT_EQ(got(*members[0]), 1u) << "it could send until it was out";
  check();
}

/// Its answer is behind messages for a receiver that reads nothing: that is not its fault, but others wait.
TEST_F(SynchronousGroups, AMemberThatIsHeldUpHasTwiceTheTime) {
  NodeConfig node = config();
  node.session.queue_soft_bytes = 128u << 10;
  node.session.queue_hard_bytes = 4u << 20;
  node.session.stall_timeout = 60s;
  simulate_cluster(10, Shape::line, 3, node);
  if (HasFatalFailure()) return;
  SimClient& slow = add(2, "slow");
  slow.join("slow");
  await_group_view({&slow}, "slow");
  if (HasFatalFailure()) return;
  SimClient& held_up = add_member(0, "held");
  SimClient& other = add_member(1, "other");
  await_group_view({&held_up, &other}, kGroup);
  if (HasFatalFailure()) return;
  slow.set_read_rate(0);
  for (int i = 0; i < 4000; ++i) held_up.multicast({"slow"}, {.size = 1000});
  sim().run_for(2s);
  ASSERT_GT(sim().host(0).node().waiting_clients(), 0u);
  SimClient& joins = add_member(2, "joins");
  sim().run_for(3s);
  EXPECT_EQ(joins.view(kGroup), nullptr);
  EXPECT_NE(held_up.view(kGroup), nullptr);
  await_group_view({&other, &joins}, kGroup, 1500ms);
  EXPECT_EQ(counted(Counter::flush_timeouts), 1u);
}

/// What it sent as a member and waits in its daemon is of that membership, and not of the next one.
TEST_F(SynchronousGroups, WhatWasHeldOfWhoIsPutOutIsRefused) {
  NodeConfig node = config();
  node.session.queue_soft_bytes = 128u << 10;
  node.session.queue_hard_bytes = 4u << 20;
  node.session.stall_timeout = 60s;
  simulate_cluster(11, Shape::line, 3, node);
  if (HasFatalFailure()) return;
  SimClient& slow = add(2, "slow");
  slow.join("slow");
  ClientOptions options;
  options.independent_flows = true;
  options.flushes_after = std::nullopt;
  SimClient& silent = sim().add_client(sim().host(0), "silent", options);
  silent.join(kGroup, true);
  SimClient& other = add_member(1, "other");
  await_group_view({&slow}, "slow");
  await_group_view({&silent, &other}, kGroup);
  if (HasFatalFailure()) return;
  slow.set_read_rate(0);
  for (int i = 0; i < 4000; ++i) other.multicast({"slow"}, {.size = 1000});
  sim().run_for(1s);
  for (int i = 0; i < 60; ++i) silent.multicast({kGroup, "slow"}, {.size = 1000});
  SimClient& joins = add_member(2, "joins");
  await_group_view({&joins}, kGroup, 5s);
  if (HasFatalFailure()) return;
  ASSERT_EQ(silent.view(kGroup), nullptr);
  silent.join(kGroup, true);
  silent.multicast({kGroup});
  sim().run_for(1s);
  slow.set_read_rate(std::nullopt);
  await_group_view({&silent, &joins}, kGroup);
  await_rest();
  std::uint64_t refused = 0;
  for (const MessagesRefused* each : events_of<MessagesRefused>(silent.history())) refused += each->messages;
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(got(joins), 1u) << "what it sent behind its request";
  check();
}

/// The answer of one who has gone is not waited for, whatever it goes for.
TEST_F(SynchronousGroups, WhoIsGoneIsNotWaitedFor) {
  for (const bool crash : {false, true}) {
    SCOPED_TRACE(crash);
    simulate_cluster(4, Shape::ring, 3, config());
    if (HasFatalFailure()) return;
    std::vector<SimClient*> members{&add_member(0, "x"), &add_member(2, "y")};
    SimClient& silent = add_member(1, "silent", std::nullopt);
    await_group_view({members[0], members[1], &silent}, kGroup);
    if (HasFatalFailure()) return;
    members.push_back(&add_member(2, "joins"));
    sim().run_for(200ms);
    if (crash) {
      sim().host(1).crash();
    } else {
      silent.kill();
    }
    await([&] { return have_one_group_view(members, kGroup); }, 1500ms, "a view without it");
    if (HasFatalFailure()) return;
    check(!crash);
  }
}

TEST_F(SynchronousGroups, ADaemonCrashesWhileMembersFlush) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    simulate_cluster(seed, Shape::ring, 4, config());
    if (HasFatalFailure()) return;
    std::vector<SimClient*> members = add_some(8);
    await_group_view(members, kGroup);
    if (HasFatalFailure()) return;
    const std::uint64_t crash_at = 3 + seed;
    for (std::uint64_t round = 0; round < 200; ++round) {
      const auto service = static_cast<Service>(2 + (seed + round) % 4);
      for (SimClient* member : members) member->multicast({kGroup}, {.service = service});
      if (round == 3) add_member(0, "n0");
      if (round == crash_at) sim().host(3).crash(seed % 3 == 0);
      if (round == crash_at) add_member(1, "n1");
      sim().run_for(round < 20 ? 100us : 5ms);
    }
    await_rest();
    check();
  }
}

TEST_F(SynchronousGroups, SidesPartAndMeetAgain) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    simulate_cluster(seed, Shape::line, 4, config());
    if (HasFatalFailure()) return;
    std::vector<SimClient*> members = add_some(6);
    members.push_back(&add_member(seed % 4, "late", seed % 2 == 0 ? 700ms : 5ms));
    SimClient& outsider = add(2, "outsider");
    await_group_view(members, kGroup);
    if (HasFatalFailure()) return;
    sim().network().partition({{0, 1}, {2, 3}});
    for (int round = 0; round < 60; ++round) {
      for (SimClient* member : members) member->multicast({kGroup}, {.service = static_cast<Service>(2 + round % 4)});
      outsider.multicast({kGroup});
      if (round == 10) members.push_back(&add_member(3, "n"));
      sim().run_for(std::chrono::milliseconds(seed * seed));
      if (round == 30) sim().network().heal();
    }
    await_group_view(members, kGroup);
    if (HasFatalFailure()) return;
    await_rest();
    check();
    if (seed >= 10) {
      EXPECT_EQ(members[0]->view(kGroup)->cause, spindle::ViewCause::network);
    }
  }
}

TEST_F(SynchronousGroups, TheFirstMemberSaysWhatTheGroupIs) {
  simulate_cluster(5, Shape::line, 3, config());
  if (HasFatalFailure()) return;
  SimClient& first = add_member(0, "first");
  await_group_view({&first}, kGroup);
  if (HasFatalFailure()) return;
  SimClient& other = add(1, "other");
  other.join(kGroup);
  sim().run_for(100ms);
  EXPECT_EQ(other.view(kGroup), nullptr);
  ASSERT_EQ(events_of<Refused>(other.history()).size(), 1u);
  EXPECT_EQ(static_cast<Errc>(events_of<Refused>(other.history())[0]->code), Errc::mode_mismatch);
  // Two at once: the order says which one is the first.
  SimClient& a = add(0, "a");
  SimClient& b = add(2, "b");
  a.join("h", true);
  b.join("h");
  sim().run_for(100ms);
  EXPECT_NE(a.view("h") == nullptr, b.view("h") == nullptr);
  SimClient& loser = a.view("h") == nullptr ? a : b;
  ASSERT_EQ(events_of<Refused>(loser.history()).size(), 1u);
  EXPECT_EQ(static_cast<Errc>(events_of<Refused>(loser.history())[0]->code), Errc::mode_mismatch);
  // With its last member it is forgotten.
  first.leave(kGroup);
  sim().run_for(100ms);
  other.join(kGroup);
  await_group_view({&other}, kGroup);
  if (HasFatalFailure()) return;
  EXPECT_FALSE(other.view(kGroup)->synchronous);
  check();
}

TEST_F(SynchronousGroups, AGroupThatIsBothWhereSidesMeetIsOrdinaryFromThenOn) {
  for (const bool more_are_synchronous : {false, true}) {
    SCOPED_TRACE(more_are_synchronous);
    simulate_cluster(6, Shape::line, 4, config());
    if (HasFatalFailure()) return;
    sim().network().partition({{0, 1}, {2, 3}});
    await([&] { return sim().host(0).node().view().size() == 2; }, 10s, "the sides' views");
    sim().run_for(1s);
    std::vector<SimClient*> members;
    for (std::size_t i = 0; i < 4; ++i) {
      SimClient& client = add(i, fmt::format("c{}", i), i == 1 ? std::nullopt : std::optional(Duration{}));
      client.join(kGroup, (i < 2) == more_are_synchronous);
      // The larger table is kept.
      if ((i < 2) == more_are_synchronous) client.join(fmt::format("more-{}", i));
      members.push_back(&client);
    }
    sim().run_for(100ms);
    // On the synchronous side one has no view yet when they meet, and one is to answer.
    SimClient& joins = add(more_are_synchronous ? 0 : 2, "joins");
    joins.join(kGroup, true);
    members.push_back(&joins);
    sim().run_for(100ms);
    sim().network().heal();
    await_group_view(members, kGroup);
    if (HasFatalFailure()) return;
    for (SimClient* member : members) {
      EXPECT_FALSE(member->view(kGroup)->synchronous);
      member->multicast({kGroup});
    }
    await_rest();
    EXPECT_EQ(got(joins), 5u);
    check();
  }
}

TEST_F(SynchronousGroups, UnorderedServicesAreRefusedToMembers) {
  simulate_cluster(7, Shape::line, 2, config());
  if (HasFatalFailure()) return;
  SimClient& member = add_member(0, "member");
  SimClient& outsider = add(1, "outsider");
  outsider.multicast({kGroup}, {.service = Service::reliable});
  await_group_view({&member}, kGroup);
  if (HasFatalFailure()) return;
  outsider.multicast({kGroup}, {.service = Service::reliable});
  // Written by hand: the client itself would send it as fifo.
  std::vector<std::uint8_t> frames;
  spindle::protocol::write_define(frames, {7, {"h", kGroup}});
  for (const Service service : {Service::unreliable, Service::reliable, Service::fifo}) {
    spindle::protocol::Send send;
    send.handle = 7;
    send.service = static_cast<std::uint8_t>(service);
    const std::size_t start = frames.size();
    frames.resize(start + spindle::protocol::send_head_size(send));
    spindle::Writer writer(frames.data() + start);
    spindle::protocol::write_send_head(writer, send);
  }
  member.send_raw(frames);
  sim().run_for(100ms);
  EXPECT_FALSE(member.is_closed());
  const auto refused = events_of<MessagesRefused>(member.history());
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0]->name, kGroup);
  EXPECT_EQ(refused[0]->messages, 2u);
  EXPECT_EQ(got(member), 2u) << "of the outsider, and its own fifo one";
}

/// What a program sends that keeps sending behind its answer waits in the daemon, and holds up nothing else of the
/// daemon's; an answer that nobody asked for is nothing.
TEST_F(SynchronousGroups, AHostileMemberCostsTheTimeout) {
  simulate_cluster(8, Shape::line, 3, config());
  if (HasFatalFailure()) return;
  std::vector<SimClient*> members = add_some(3);
  await_group_view(members, kGroup);
  if (HasFatalFailure()) return;
  SimClient& hostile = add_member(1, "hostile", std::nullopt);
  std::vector<SimClient*> all = members;
  all.push_back(&hostile);
  await_group_view(all, kGroup);
  if (HasFatalFailure()) return;
  std::vector<std::uint8_t> frames;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    spindle::protocol::write_flush(frames, ClientFrame::flush_ok, {i, i % 2 == 0 ? kGroup : "elsewhere"});
  }
  hostile.send_raw(frames);
  sim().run_for(100ms);
  SimClient& joins = add_member(0, "joins");
  sim().run_for(1s);
  EXPECT_EQ(joins.view(kGroup), nullptr) << "it answered before it was asked";
  hostile.flush_ok({kGroup, 1});
  sim().run_for(100ms);
  all.push_back(&joins);
  EXPECT_TRUE(have_one_group_view(all, kGroup));
  EXPECT_EQ(counted(Counter::flush_timeouts), 0u);
  EXPECT_FALSE(hostile.is_closed());
}

}  // namespace
}  // namespace spindled::sim
