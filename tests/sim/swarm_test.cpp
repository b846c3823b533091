// Runs whose seed draws everything: shape, sizes, traffic, and which faults there are, down to none. Each ends with the
// faults stopped, and has to come to one view in which everything is delivered.
#include "tests/sim/scenario.h"

#include <algorithm>

namespace spindled::sim {
namespace {

class Swarm : public Scenario, public testing::WithParamInterface<std::uint64_t> {
 protected:
  struct Faults {
    bool crash, silent_crash, partition, cut, reset, pause, churn;
  };

  void build() {
    Random& random = sim().random();
    ClusterOptions options;
    options.shape = kShapes[random.below(std::size(kShapes))];
    options.size = random.between(2, 9);
    options.path.delay = std::chrono::microseconds(random.between(20, 20'000));
    options.path.jitter = options.path.delay / 4;
    if (random.chance(0.5)) options.path.bytes_per_second = random.between(500'000, 20'000'000);
    if (random.chance(0.5)) options.node.first_number = (std::uint64_t{1} << 32) - random.below(100);
    edges_ = build_cluster(sim(), options);
    for (bool* each : {&faults_.crash, &faults_.silent_crash, &faults_.partition, &faults_.cut, &faults_.reset,
                       &faults_.pause, &faults_.churn}) {
      *each = random.chance(0.5);
    }
  }

  SimHost& any_host() { return sim().host(sim().random().below(sim().host_count())); }
  const std::pair<std::size_t, std::size_t>& any_edge() { return edges_[sim().random().below(edges_.size())]; }

  void make_trouble() {
    Random& random = sim().random();
    SimHost& host = any_host();
    const auto [a, b] = any_edge();
    const auto from = static_cast<HostIndex>(a), to = static_cast<HostIndex>(b);
    switch (random.below(8)) {
      case 0:
        if (faults_.crash && host.is_running()) host.crash();
        break;
      case 1:
        if (faults_.silent_crash && host.is_running()) host.crash(true);
        break;
      case 2:
        if (faults_.partition) sim().network().partition({random_half()});
        break;
      case 3:
        if (faults_.cut) sim().network().set_cut(from, to, random.chance(0.5));
        break;
      case 4:
        if (faults_.reset) sim().network().reset_between(from, to);
        break;
      case 5:
        if (faults_.pause && host.is_running()) host.is_paused() ? host.resume() : host.pause();
        break;
      case 6:
        sim().network().heal(random.chance(0.3));
        break;
      default:
        if (!host.is_running()) host.start();
        break;
    }
  }

  std::vector<HostIndex> random_half() {
    std::vector<HostIndex> half;
    for (HostIndex i = 0; i < sim().host_count(); ++i) {
      if (sim().random().chance(0.5)) half.push_back(i);
    }
    return half;
  }

  void talk() {
    Random& random = sim().random();
    if (sim().client_count() < 3 * sim().host_count() && random.chance(0.2)) {
      // A daemon that starts again gives out the same names again; the checkers tell clients by name.
      if (SimHost& host = any_host(); host.is_running()) {
        sim().add_client(host, fmt::format("m{}", sim().client_count())).join(random.chance(0.7) ? "g" : "h");
      }
    }
    if (sim().client_count() == 0) return;
    SimClient& client = sim().client(random.below(sim().client_count()));
    if (client.is_closed() || client.unsent_bytes() > 100'000) return;
    if (faults_.churn && random.chance(0.02)) return client.kill();
    const auto service = static_cast<Service>(random.below(6));
    const std::size_t size = random.chance(0.03) ? 100'000 : random.below(1500);
    client.multicast(random.chance(0.2) ? std::vector<std::string>{"g", "h"} : std::vector<std::string>{"g"},
                     {.service = service, .size = size, .self_discard = random.chance(0.1)});
  }

  void stop_trouble() {
    sim().log().note("the faults stop");
    sim().network().heal();
    for (SimHost* host : sim().hosts()) {
      if (host->is_paused()) host->resume();
      if (!host->is_running()) host->start();
    }
  }

  std::vector<std::pair<std::size_t, std::size_t>> edges_;
  Faults faults_{};
};

TEST_P(Swarm, ComesToRestWithEveryPropertyKept) {
  simulate(GetParam());
  build();
  for (std::size_t round = 0; round < 600; ++round) {
    talk();
    if (round > 100 && round % 20 == 0) make_trouble();
    sim().run_for(std::chrono::microseconds(sim().random().below(20'000)));
  }
  stop_trouble();
  await([this] { return have_one_view(sim().hosts()); }, 60s, "one view of all daemons");
  await_rest();
  check();
  if (HasFatalFailure()) return;

  // And it is alive: a fresh member at each daemon, and a message from each to all of them.
  std::vector<SimClient*> fresh = add_members(sim().host_count(), "fresh");
  await_group_view(fresh, "fresh");
  for (SimClient* client : fresh) client->multicast({"fresh"});
  await(
      [&] {
        return std::all_of(fresh.begin(), fresh.end(),
                           [&](SimClient* each) { return each->messages() == fresh.size(); });
      },
      5s, "messages after the faults");
  check();
}

INSTANTIATE_TEST_SUITE_P(Seeds, Swarm, testing::Range<std::uint64_t>(1000, 1030));

}  // namespace
}  // namespace spindled::sim
