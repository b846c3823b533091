// View changes in which more has to be pushed than links carry in the time of a phase.
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

using LongRecovery = Scenario;

// The coordinator is the one that lacks much: it cannot be left out.
TEST_F(LongRecovery, ComesToItsEnd) {
  NodeConfig config;
  config.admission.enabled = false;  // what is under way is bounded by the send window alone
  simulate_cluster(31, Shape::ring, 3, config);
  const std::vector<SimClient*> clients = add_members(3, "g");
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  PathProperties path;
  path.bytes_per_second = 4'000'000;
  sim().network().set_path(0, 1, path);
  sim().network().set_stalled(1, 0, true);
  clients[1]->keep_sending({"g"}, {.size = 4000}, 100'000);
  const std::size_t much = config.session.send_window_bytes * 7 / 8;
  await([&] { return sim().host(1).node().memory().own_stream > much; }, 500ms, "much is not stable");
  sim().network().set_stalled(1, 0, false);
  clients[1]->keep_sending({"g"}, {.size = 4000}, 0);
  sim().network().set_cut(0, 2, true);
  sim().network().reset_between(0, 2);
  const ViewId before = sim().host(0).node().view().id;
  await([&] { return sim().host(0).node().view().id != before && have_one_view(sim().hosts()); }, 30s,
        "all have a new view");
  await_rest();
  check();
  for (const SimClient* client : clients) {
    EXPECT_EQ(client->messages(), events_of<Sent>(clients[1]->history()).size()) << client->private_name();
  }
}

}  // namespace
}  // namespace spindled::sim
