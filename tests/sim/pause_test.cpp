// Daemons that are stopped for about as long as it takes to give up their links.
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class Pause : public Scenario {
 protected:
  /// h1 and h2, which dials h1, with a client each; h1 is stopped `after` both have started, for `pause`.
  void pause_after_start(std::uint64_t seed, Duration after, Duration pause) {
    simulate(seed);
    NodeConfig one;
    one.name = "h1";
    NodeConfig two;
    two.name = "h2";
    two.link.neighbours.push_back({.address = Simulator::address_of(one.name)});
    SimHost& h1 = sim().add_host(one);
    SimHost& h2 = sim().add_host(two);
    h1.start();
    h2.start();
    std::vector<SimClient*> clients = add_members(2, "g");
    sim().run_for(after);
    h1.pause();
    for (Duration passed{}; passed < pause; passed += 5ms) {
      for (SimClient* client : clients) client->multicast({"g"}, {.service = Service::agreed, .size = 100});
      sim().run_for(5ms);
    }
    h1.resume();
    await([this] { return have_one_view(sim().hosts()); }, 5s, "one view");
    await_group_view(clients, "g");
    await_rest();
    check();
  }
  std::uint64_t views_at(std::size_t host) {
    return sim().host(host).node().counters().value(Counter::views_installed);
  }
};

/// Its neighbour has closed their link and dials anew; it reads of both in one turn. A view that it proposed at once,
/// with the neighbour, would end as soon as the neighbour hears that the link was lost.
TEST_F(Pause, CausesOneViewAndNoMore) {
  for (const Duration after : {10ms, 60ms, 100ms, 140ms, 180ms}) {
    for (Duration pause = 700ms; pause <= 1000ms; pause += 25ms) {
      SCOPED_TRACE(testing::Message() << "stopped after " << after / 1ms << " ms for " << pause / 1ms << " ms");
      pause_after_start(1, after, pause);
      if (HasFailure()) return;
      EXPECT_LE(views_at(0), 2u);
      EXPECT_LE(views_at(1), 2u) << "its own, and that with the other";
    }
  }
}

}  // namespace
}  // namespace spindled::sim
