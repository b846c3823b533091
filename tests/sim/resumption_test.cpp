// Clients whose connections break, and who come back.
#include <algorithm>
#include <map>

#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class Resumption : public Scenario {
 protected:
  /// Members of "g", one at each of three daemons; the first one comes back.
  void start(std::uint64_t seed, ClientOptions options = {}, const NodeConfig& node = {}) {
    simulate_cluster(seed, Shape::line, 3, node);
    options.returns = true;
    options.tell_taken = true;
    clients_.clear();
    for (HostIndex i = 0; i < 3; ++i) {
      clients_.push_back(&sim().add_client(sim().host(i), "c" + std::to_string(i), i == 0 ? options : ClientOptions()));
      clients_.back()->join("g");
    }
    await_group_view(clients_, "g");
  }
  SimClient& first() { return *clients_.front(); }
  std::size_t sent() const { return sent_; }
  void send(SimClient& from, std::size_t size = 100, Service service = Service::agreed) {
    from.multicast({"g"}, {.service = service, .size = size});
    ++sent_;
  }
  void await_all() {
    await(
        [&] { return std::all_of(clients_.begin(), clients_.end(), [&](auto* c) { return c->messages() == sent_; }); },
        30s, "everybody has every message");
  }
  std::size_t views_of(const SimClient& client) { return client.views_of(spindle::ViewForm::full); }

  std::vector<SimClient*> clients_;
  std::size_t sent_ = 0;
};

TEST_F(Resumption, LosesAndDoublesNothingHoweverOftenTheConnectionIsCut) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    start(seed);
    if (HasFatalFailure()) return;
    Random random(seed);
    const std::size_t views = views_of(*clients_[1]);
    for (int i = 0; i < 300; ++i) {
      for (SimClient* each : clients_) {
        for (std::uint64_t n = random.below(4); n > 0; --n)
          send(*each, random.below(random.chance(0.1) ? 100'000 : 2'000));
      }
      if (random.chance(0.3)) first().cut(random.chance(0.3));
      sim().run_for(std::chrono::microseconds(random.below(20'000)));
    }
    await_all();
    EXPECT_GT(first().reconnections().size(), 50u);
    for (const auto& each : first().reconnections()) EXPECT_TRUE(each.resumed);
    EXPECT_EQ(views_of(*clients_[1]), views) << "nobody else has noticed";
    EXPECT_TRUE(first().former_histories().empty());
    await_rest();
    check();
    sent_ = 0;
  }
}

TEST_F(Resumption, OfAFlowByItselfLosesNothing) {
  start(4, {.independent_flows = true});
  if (HasFatalFailure()) return;
  Random random(4);
  for (int i = 0; i < 300; ++i) {
    while (first().try_multicast({"g"}, {.size = random.below(5'000)}) && random.chance(0.7)) ++sent_;
    if (random.chance(0.2)) first().cut(random.chance(0.3));
    sim().run_for(std::chrono::microseconds(random.below(20'000)));
  }
  await_rest();
  const std::size_t sent = events_of<Sent>(first().history()).size();
  EXPECT_GT(sent, 300u);
  for (SimClient* each : clients_) EXPECT_EQ(each->messages(), sent);
  check();
}

// What a client has got it tells behind what it sends, and that waits where it is itself too slow for its groups.
TEST_F(Resumption, OfAClientThatSendsAndGetsMuchNeverStops) {
  for (const std::uint64_t seed : {31u, 32u, 33u}) {
    start(seed);
    if (HasFatalFailure()) return;
    for (int i = 0; i < 3'000; ++i) {
      for (SimClient* each : clients_) send(*each, 5'000);
      if (i % 100 == 0) sim().run_for(1ms);
    }
    await_all();
    if (HasFatalFailure()) return;
    EXPECT_TRUE(first().reconnections().empty());
    await_rest();
    check();
    sent_ = 0;
  }
}

// A daemon that cannot read what the client has got does not keep everything for it.
TEST_F(Resumption, IsGivenUpWhereTooMuchWouldHaveToBeKept) {
  NodeConfig node;
  node.session.resume_bytes = node.session.queue_soft_bytes = 256u << 10;
  node.session.queue_hard_bytes = 512u << 10;
  start(34, {}, node);
  if (HasFatalFailure()) return;
  for (int i = 0; i < 3'000; ++i) {
    for (SimClient* each : clients_) send(*each, 5'000);
  }
  std::size_t most = 0;
  await(
      [&] {
        most = std::max(most, sim().host(0).node().memory().session_kept);
        return std::all_of(clients_.begin(), clients_.end(), [&](auto* c) { return c->messages() == sent_; });
      },
      30s, "everybody has every message");
  EXPECT_GT(most, node.session.resume_bytes);
  EXPECT_LT(most, 2 * node.session.queue_hard_bytes);
  first().cut();
  await([&] { return first().reconnections().size() == 1; }, 30s, "it is back");
  EXPECT_FALSE(first().reconnections().front().resumed);
  await_group_view(clients_, "g");
  check();
}

// Its daemon is not told, and learns it from who comes back, or from silence.
TEST_F(Resumption, OfAClientThatIsCutOffWhileItHasMuchToRead) {
  start(5);
  if (HasFatalFailure()) return;
  first().set_read_rate(50'000);
  for (int i = 0; i < 300; ++i) send(*clients_[2], 1'000);
  for (int i = 0; i < 20; ++i) {
    sim().run_for(300ms);
    first().cut(i % 2 == 0);
  }
  first().set_read_rate(std::nullopt);
  await_all();
  check();
}

TEST_F(Resumption, DoesNotOutliveItsTime) {
  start(6);
  if (HasFatalFailure()) return;
  send(*clients_[1]);
  await_all();
  sim().host(0).pause();
  first().cut();
  sim().run_for(2s);
  sim().host(0).resume();
  await([&] { return first().is_connected(); }, 20s, "it is connected again");
  EXPECT_TRUE(first().reconnections().back().resumed) << "a daemon that pauses knows nothing of the time";
  check(false);
}

/// In which a daemon that was told nothing gives up a client: three times what it has promised, and the time in which
/// it may come back.
constexpr Duration kForgotten = 40s;

/// Its daemon goes down with whatever it had: the client goes on at another one.
class MoveElsewhere : public Resumption {
 protected:
  void start_with_others(std::uint64_t seed, bool independent_flows = false, const NodeConfig& node = {}) {
    simulate_cluster(seed, Shape::ring, 3, node);
    clients_.clear();
    sent_ = 0;
    ClientOptions options{.independent_flows = independent_flows, .tell_taken = true, .returns = true};
    options.others = {&sim().host(1), &sim().host(2)};
    clients_.push_back(&sim().add_client(sim().host(0), "mover", options));
    for (HostIndex i = 1; i < 3; ++i) clients_.push_back(&sim().add_client(sim().host(i), "c" + std::to_string(i)));
    for (SimClient* each : clients_) each->join("g");
    await_group_view(clients_, "g");
  }
  void await_move() {
    await([&] { return !first().former_histories().empty() && first().is_connected(); }, 20s, "the client has moved");
  }
  /// How often each message of the client, in all its sessions, was delivered to `witness`.
  std::map<std::uint64_t, int> deliveries_to(const SimClient& witness) {
    std::map<std::uint64_t, int> count;
    const auto note = [&](const ClientHistory& history) {
      for (const Sent* sent : events_of<Sent>(history)) count[sent->message.digest];
    };
    for (const ClientHistory& former : first().former_histories()) note(former);
    note(first().history());
    for (const Delivered* delivered : events_of<Delivered>(witness.history())) {
      const auto found = count.find(delivered->message.digest);
      if (found != count.end()) ++found->second;
    }
    return count;
  }
};

TEST_F(MoveElsewhere, SaysExactlyWhatIsUnknown) {
  for (const bool independent : {false, true}) {
    for (std::uint64_t seed = 10; seed < 30; ++seed) {
      SCOPED_TRACE(seed);
      start_with_others(seed, independent);
      if (HasFatalFailure()) return;
      Random random(seed);
      for (int i = 0; i < 50; ++i) {
        for (std::uint64_t n = random.below(10); n > 0; --n) {
          static_cast<void>(first().try_multicast({"g"}, {.size = random.below(random.chance(0.1) ? 60'000 : 2'000)}));
        }
        sim().run_for(std::chrono::microseconds(random.below(3'000)));
      }
      // Its daemon hears nothing, and cannot answer for a while; what it has taken it will send.
      first().cut(true);
      sim().host(0).pause();
      for (int i = 0; i < 5; ++i) {
        static_cast<void>(first().try_multicast({"g"}));
        sim().run_for(std::chrono::microseconds(random.below(3'000)));
      }
      await_move();
      sim().host(0).resume();
      await_rest();
      sim().run_for(kForgotten);
      ASSERT_EQ(first().reconnections().size(), 1u);
      const spindle::Reconnected& event = first().reconnections().front();
      EXPECT_FALSE(event.resumed);
      EXPECT_EQ(event.former_name, "#mover#d000");
      EXPECT_TRUE(event.private_name == "#mover#d001" || event.private_name == "#mover#d002");
      EXPECT_TRUE(event.fenced);
      // Whatever is not unknown was delivered, once: it had entered, and others have it, or it was sent again.
      const ClientHistory& former = first().former_histories().front();
      std::size_t lost = 0;
      for (const auto& [digest, times] : deliveries_to(*clients_[1])) {
        EXPECT_LE(times, 1);
        if (times == 0) ++lost;
      }
      EXPECT_LE(lost, event.unknown.size());
      EXPECT_LE(event.unknown.size(), events_of<Sent>(former).size());
      for (const Sent* sent : events_of<Sent>(first().history())) {
        EXPECT_EQ(deliveries_to(*clients_[1])[sent->message.digest], 1) << "it was sent by the new session";
      }
      check();
    }
  }
}

// No message of the new session comes before one of the former, to nobody.
TEST_F(MoveElsewhere, TheFenceKeepsTheOrder) {
  for (std::uint64_t seed = 40; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    start_with_others(seed);
    if (HasFatalFailure()) return;
    for (int i = 0; i < 40; ++i) {
      first().multicast({"g"}, {.size = 1'000});
      if (i % 10 == 9) sim().run_for(1ms);
    }
    // The connection breaks, and the daemon goes on: it still has what it was sent, and will send it.
    first().cut(true);
    sim().host(0).pause();
    for (int i = 0; i < 10; ++i) first().multicast({"g"}, {.size = 1'000});
    await_move();
    sim().host(0).resume();
    await_rest();
    sim().run_for(kForgotten);
    for (SimClient* witness : {clients_[1], clients_[2]}) {
      bool new_session = false;
      for (const Delivered* delivered : events_of<Delivered>(witness->history())) {
        const bool is_new = delivered->message.sender == first().private_name();
        EXPECT_FALSE(new_session && !is_new) << "a message of the former session behind one of the new one";
        new_session = new_session || is_new;
      }
      EXPECT_TRUE(new_session);
    }
    check();
  }
}

TEST_F(MoveElsewhere, ComesBackToARestartedDaemonAndJoinsAgain) {
  simulate_cluster(70, Shape::line, 2);
  clients_ = {&sim().add_client(sim().host(0), "c0", {.tell_taken = true, .returns = true}),
              &sim().add_client(sim().host(1), "c1")};
  for (SimClient* each : clients_) each->join("g");
  await_group_view(clients_, "g");
  sim().host(0).stop();
  await([&] { return !sim().host(0).is_running(); }, 10s, "the daemon has stopped");
  first().multicast({"g"});
  sim().run_for(1s);
  sim().host(0).start();
  // The daemon may be alone at first, and the other member out of reach.
  await([&] { return first().messages() == 1; }, 30s, "what was sent meanwhile has come");
  ASSERT_EQ(first().reconnections().size(), 1u);
  EXPECT_FALSE(first().reconnections().front().fenced) << "the name is the same";
  EXPECT_TRUE(first().reconnections().front().unknown.empty());
  await_group_view(clients_, "g");
  check();
}

/// It reads nothing from when it comes back until the daemon has given it up again: the welcome, what has come for it
/// and the end are read at once.
TEST_F(MoveElsewhere, IsToldOfEachSessionHoweverShort) {
  NodeConfig node;
  node.session.resume_timeout = {};
  simulate_cluster(71, Shape::line, 1, node);
  ClientOptions options{.tell_taken = true, .returns = true};
  options.keepalive = 500ms;
  clients_ = {&sim().add_client(sim().host(0), "c0", options), &sim().add_client(sim().host(0), "c1", options)};
  for (SimClient* each : clients_) each->join("g");
  await_group_view(clients_, "g");
  first().multicast({"g"});
  first().set_read_rate(0);
  sim().host(0).crash();
  sim().run_for(100ms);
  sim().host(0).start();
  await([&] { return clients_[1]->is_connected() && clients_[1]->reconnections().size() == 1; }, 20s,
        "the other is back");
  for (int i = 0; i < 10; ++i) {
    clients_[1]->multicast({first().private_name()});
    sim().run_for(500ms);
  }
  first().set_read_rate(std::nullopt);
  await([&] { return first().reconnections().size() == 2; }, 20s, "it is told of both sessions");
  EXPECT_EQ(first().reconnections()[0].unknown.size(), 1u) << "what it sent last in its first session";
  EXPECT_TRUE(first().reconnections()[1].unknown.empty());
  EXPECT_FALSE(first().reconnections()[0].resumed || first().reconnections()[1].resumed);
  ASSERT_EQ(first().former_histories().size(), 2u);
  EXPECT_FALSE(events_of<Delivered>(first().former_histories()[1]).empty())
      << "what has come is of the session between";
  await_rest();
}

/// A daemon that is told to stop, whose clients go elsewhere before.
class GracefulStop : public MoveElsewhere {
 protected:
  /// Each message that the client has sent comes to the others once.
  void expect_all_once() {
    for (SimClient* witness : {clients_[1], clients_[2]}) {
      for (const auto& [digest, times] : deliveries_to(*witness)) EXPECT_EQ(times, 1);
    }
  }
  void await_stop(Duration bound) {
    await([&] { return !sim().host(0).is_running(); }, bound, "the daemon has stopped");
  }
};

TEST_F(GracefulStop, LosesAndDoublesNothingAndLeavesNothingUnknown) {
  for (const bool independent : {false, true}) {
    for (std::uint64_t seed = 80; seed < 100; ++seed) {
      SCOPED_TRACE(seed);
      start_with_others(seed, independent);
      if (HasFatalFailure()) return;
      Random random(seed);
      for (int i = 0; i < 100; ++i) {
        if (i == 50) sim().host(0).stop();
        for (std::uint64_t n = random.below(10); n > 0; --n) {
          static_cast<void>(first().try_multicast({"g"}, {.size = random.below(random.chance(0.1) ? 60'000 : 2'000)}));
        }
        sim().run_for(std::chrono::microseconds(random.below(3'000)));
      }
      await_move();
      await_stop(5s);
      await_rest();
      ASSERT_EQ(first().reconnections().size(), 1u);
      const spindle::Reconnected& event = first().reconnections().front();
      EXPECT_FALSE(event.resumed);
      EXPECT_TRUE(event.fenced);
      EXPECT_TRUE(event.unknown.empty());
      expect_all_once();
      check();
    }
  }
}

// Links end without what waits on them.
TEST_F(GracefulStop, WaitsUntilOthersHaveWhatItsClientsHaveSent) {
  NodeConfig node;
  node.admission.enabled = false;  // what waits is bounded by the send window alone
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    SCOPED_TRACE(seed);
    start_with_others(seed, false, node);
    if (HasFatalFailure()) return;
    for (HostIndex i = 1; i < 3; ++i) {
      sim().network().set_path(0, i, {.bytes_per_second = 1'000'000, .delay = 50ms});
    }
    for (int i = 0; i < 100; ++i) first().multicast({"g"}, {.size = 4'000});
    sim().host(0).stop();
    await_move();
    await_stop(5s);
    await_rest();
    EXPECT_TRUE(first().reconnections().front().unknown.empty());
    expect_all_once();
    check();
  }
}

TEST_F(GracefulStop, CostsTheGraceWhereAClientReadsNothing) {
  start_with_others(110);
  if (HasFatalFailure()) return;
  for (int i = 0; i < 20; ++i) first().multicast({"g"});
  first().set_read_rate(0);
  const Time begin = sim().now();
  sim().host(0).stop();
  sim().run_for(1900ms);
  EXPECT_TRUE(sim().host(0).is_running());
  await_stop(5s);
  EXPECT_GE(sim().now() - begin, 2s);
  first().set_read_rate(std::nullopt);
  await_move();
  await_rest();
  EXPECT_FALSE(first().reconnections().front().resumed);
  check();
}

// What was asked for meanwhile is done elsewhere, a group that was left is not joined again, and the others answer.
TEST_F(GracefulStop, MovesMembersOfSynchronousGroups) {
  for (std::uint64_t seed = 120; seed < 140; ++seed) {
    SCOPED_TRACE(seed);
    simulate_cluster(seed, Shape::ring, 3);
    clients_.clear();
    ClientOptions moving{.tell_taken = true, .returns = true};
    moving.others = {&sim().host(1), &sim().host(2)};
    clients_ = {&sim().add_client(sim().host(0), "a", moving), &sim().add_client(sim().host(0), "b", moving),
                &sim().add_client(sim().host(1), "c")};
    for (SimClient* each : clients_) each->join("s", true);
    await_group_view(clients_, "s");
    Random random(seed);
    for (int i = 0; i < 60; ++i) {
      if (i == 20) sim().host(0).stop();
      for (SimClient* each : clients_) static_cast<void>(each->try_multicast({"s"}, {.service = Service::fifo}));
      sim().run_for(std::chrono::microseconds(random.below(3'000)));
    }
    await_move();
    await_stop(5s);
    await_rest();
    for (SimClient* each : {clients_[0], clients_[1]}) {
      ASSERT_EQ(each->reconnections().size(), 1u);
      EXPECT_TRUE(each->reconnections().front().unknown.empty());
    }
    await_group_view(clients_, "s");
    check();
  }
}

TEST_F(GracefulStop, OfTheOnlyServerIsWaitedFor) {
  simulate_cluster(150, Shape::line, 2);
  clients_ = {&sim().add_client(sim().host(0), "c0", {.tell_taken = true, .returns = true}),
              &sim().add_client(sim().host(1), "c1")};
  for (SimClient* each : clients_) each->join("g");
  await_group_view(clients_, "g");
  for (int i = 0; i < 20; ++i) first().multicast({"g"});
  sim().host(0).stop();
  first().multicast({"g"});
  await_stop(5s);
  sim().run_for(1s);
  sim().host(0).start();
  await([&] { return first().is_connected() && clients_[1]->messages() == 21; }, 30s, "all has come");
  EXPECT_TRUE(first().reconnections().front().unknown.empty());
  check();
}

}  // namespace
}  // namespace spindled::sim
