// Daemons that are killed, lose power, stop in order, and start again.
#include "tests/sim/scenario.h"

#include <algorithm>

namespace spindled::sim {
namespace {

class Crash : public Scenario {
 protected:
  bool rest_has_one_view() { return have_one_view(sim().running_hosts()); }
};

TEST_F(Crash, KilledDaemonIsOutWithinTwoSecondsAndBackSoon) {
  for (std::size_t victim = 0; victim < 3; ++victim) {
    SCOPED_TRACE(victim);
    simulate_cluster(41, Shape::ring, 3);
    const ViewId before = sim().host(victim).node().view().id;
    sim().host(victim).crash();
    await([this] { return rest_has_one_view(); }, 2s, "a view of the other two");
    if (HasFatalFailure()) return;
    sim().run_for(1s);
    sim().host(victim).start();
    await([this] { return have_one_view(sim().hosts()); }, 5s, "a view of all three");
    if (HasFatalFailure()) return;
    EXPECT_GT(sim().host(victim).node().view().id, before);
  }
}

TEST_F(Crash, LossOfPowerIsNoticed) {
  simulate_cluster(42, Shape::ring, 4);
  sim().host(1).crash(true);
  await([this] { return rest_has_one_view(); }, 3s, "a view of the other three");
  sim().run_for(5s);
  sim().host(1).start();
  await([this] { return have_one_view(sim().hosts()); }, 10s, "a view of all");
}

TEST_F(Crash, QuickRestartIsANewIncarnation) {
  simulate_cluster(43, Shape::ring, 4);
  sim().host(1).crash(true);
  sim().host(1).start();
  await([this] { return have_one_view(sim().hosts()); }, 10s, "a view with the new incarnation");
}

TEST_F(Crash, OrderlyStopIsNoticedAtOnce) {
  simulate_cluster(44, Shape::line, 3);
  SimClient& client = sim().add_client(sim().host(2), "c");
  sim().run_for(100ms);
  sim().host(2).stop();
  await([this] { return sim().running_hosts().size() == 2 && rest_has_one_view(); }, 2s, "a view of the other two");
  EXPECT_EQ(client.close_code(), Errc::daemon_stopping);
}

TEST_F(Crash, EveryDaemonAtOnceAndBack) {
  simulate_cluster(45, Shape::grid, 6);
  for (SimHost* host : sim().hosts()) host->crash();
  sim().run_for(1s);
  for (SimHost* host : sim().hosts()) host->start();
  await([this] { return have_one_view(sim().hosts()); }, 15s, "one view of all daemons");
}

TEST_F(Crash, SurvivorsAgreeOnWhatTheDeadHadSent) {
  for (const std::uint64_t seed : {51u, 52u, 53u, 54u, 55u, 56u}) {
    SCOPED_TRACE(seed);
    simulate_cluster(seed, Shape::ring, 5);  // connected without any one of them
    std::vector<SimClient*> clients = add_members(10, "g");
    await_group_view(clients, "g");
    if (HasFatalFailure()) return;
    const std::size_t victim = sim().random().below(5);
    for (std::size_t i = 0; i < 200; ++i) {
      SimClient& sender = *clients[sim().random().below(clients.size())];
      sender.multicast({"g"}, {.service = sim().random().chance(0.5) ? Service::agreed : Service::fifo, .size = 300});
      if (i == 120) sim().host(victim).crash(sim().random().chance(0.5));
      if (i % 4 == 0) sim().run_for(300us);
    }
    std::erase_if(clients, [&](SimClient* each) { return &each->host() == &sim().host(victim); });
    await([this] { return rest_has_one_view(); }, 10s, "a view of the survivors");
    await_group_view(clients, "g");
    await_rest();
    check();
    if (HasFailure()) return;
    for (const SimClient* client : clients) {
      EXPECT_EQ(digests_of(*client, Service::causal), digests_of(*clients.front(), Service::causal));
    }
  }
}

TEST_F(Crash, ClientThatDiesLeavesItsGroups) {
  simulate_cluster(46, Shape::line, 3);
  std::vector<SimClient*> clients = add_members(3, "g");
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  const std::string gone = clients[1]->private_name();
  clients[1]->kill();
  clients.erase(clients.begin() + 1);
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  EXPECT_EQ(clients[0]->view("g")->cause, spindle::ViewCause::disconnect);
  EXPECT_EQ(clients[0]->view("g")->changed, std::vector<std::string>{gone});
  clients[1]->bye();
  clients.pop_back();
  await_group_view(clients, "g");
  check();
}

}  // namespace
}  // namespace spindled::sim
