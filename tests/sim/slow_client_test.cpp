// Clients that read slowly, or not at all.
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class SlowClient : public Scenario {
 protected:
  SlowClient() {
    config.session.queue_soft_bytes = 128u << 10;
    config.session.queue_hard_bytes = 1u << 20;
    config.session.stall_timeout = 2s;
    config.session.send_window_bytes = 256u << 10;
  }
  /// Keeps the sender's requests coming for as long as it is connected.
  void flood(SimClient& sender, std::size_t messages, std::size_t size) {
    for (std::size_t i = 0; i < messages; ++i) sender.multicast({"g"}, {.size = size});
  }

  NodeConfig config;
};

TEST_F(SlowClient, ThatReadsSlowlyIsHeldBackForAndKeepsEverything) {
  simulate_cluster(71, Shape::line, 3, config);
  const std::vector<SimClient*> clients = add_members(3, "g");
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  clients[2]->set_read_rate(500'000);
  // Six times what the daemon would queue before it cuts the client off.
  flood(*clients[0], 6000, 1000);
  await([&] { return clients[2]->messages() == 6000; }, 60s, "the slow client has everything");
  await_rest();
  check();
  for (const SimClient* client : clients) {
    EXPECT_FALSE(client->is_closed()) << client->private_name();
    EXPECT_EQ(client->messages(), 6000u);
  }
}

TEST_F(SlowClient, ThatNeverReadsIsCutOffWhileOthersGoOn) {
  simulate_cluster(72, Shape::line, 3, config);
  std::vector<SimClient*> clients = add_members(4, "g");  // the last one at the same daemon as the first
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  SimClient& deaf = *clients[3];
  const std::string gone = deaf.private_name();
  deaf.set_read_rate(0);
  flood(*clients[1], 3000, 1000);
  clients.pop_back();
  await_group_view(clients, "g", 15s);
  if (HasFatalFailure()) return;
  EXPECT_EQ(clients[0]->view("g")->cause, spindle::ViewCause::disconnect);
  EXPECT_EQ(clients[0]->view("g")->changed, std::vector<std::string>{gone});
  EXPECT_GE(sim().log().count(spindle::describe(Errc::slow_receiver)) +
                sim().log().count(spindle::to_string(Errc::slow_receiver)),
            1u)
      << "the log does not say why";
  await([&] { return clients[0]->messages() == 3000 && clients[2]->messages() == 3000; }, 30s, "the others got all");
  // The message behind the last that it read is the reason, where there was room for one; it is gone in any case.
  deaf.set_read_rate(std::nullopt);
  await([&] { return deaf.is_closed(); }, 5s, "the deaf client sees that it was cut off");
  EXPECT_TRUE(deaf.close_code() == Errc::slow_receiver || deaf.close_code() == Errc::connection_lost);
  await_rest();
  check();
  for (const SimClient* client : clients) EXPECT_FALSE(client->is_closed());
}

TEST_F(SlowClient, ThatIsGoneByTheTimeItsPatienceEndsIsLetGoOnce) {
  simulate_cluster(74, Shape::line, 2);
  const std::vector<SimClient*> clients = add_members(2, "g");
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  clients[1]->set_read_rate(0);
  flood(*clients[0], 30, 100'000);
  sim().run_for(500ms);
  // Its last words cannot be written; then the daemon stalls, and finds both the end of the connection and of its
  // patience when it goes on.
  clients[1]->bye();
  sim().run_for(100ms);
  sim().host(1).pause();
  sim().run_for(500ms);
  clients[1]->kill();
  sim().run_for(3s);
  sim().host(1).resume();
  await([&] { return have_one_view(sim().hosts()); }, 30s, "one view again");
  await_rest();
  check();
}

TEST_F(SlowClient, OfOneGroupDoesNotStopAnother) {
  simulate_cluster(73, Shape::line, 3, config);
  const std::vector<SimClient*> slow_group = add_members(3, "g");
  await_group_view(slow_group, "g");
  const std::vector<SimClient*> fast_group = add_members(3, "h");
  await_group_view(fast_group, "h");
  if (HasFatalFailure()) return;
  slow_group[2]->set_read_rate(0);
  flood(*slow_group[0], 3000, 1000);
  sim().run_for(500ms);
  fast_group[1]->multicast({"h"});
  await([&] { return fast_group[0]->messages() == 1 && fast_group[2]->messages() == 1; }, 10s,
        "a message of the other group");
}

}  // namespace
}  // namespace spindled::sim
