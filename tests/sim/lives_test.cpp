// Daemons that start again, however their incarnations follow each other, and daemons of one name.
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

std::uint64_t views_of(const SimHost& host) { return host.node().counters().value(Counter::views_installed); }

class Lives : public Scenario, public testing::WithParamInterface<Incarnations> {
 protected:
  void start_cluster(std::uint64_t seed) {
    simulate(seed);
    ClusterOptions options;
    options.shape = Shape::line;
    options.size = 5;
    build_cluster(sim(), options);
    // The simulator has the first starts yet to come.
    for (SimHost* host : sim().hosts()) host->set_incarnations(GetParam());
    await([this] { return have_one_view(sim().hosts()); }, 10s, "a view of all");
  }
};

/// Those behind its neighbours hold what its former life advertised for 90 s more.
TEST_P(Lives, ARestartCostsTheOthersTwoViews) {
  for (const bool silent : {false, true}) {
    start_cluster(71);
    if (HasFatalFailure()) return;
    for (int life = 0; life < 3; ++life) {
      SCOPED_TRACE(life);
      const std::uint64_t before = views_of(sim().host(0));
      sim().host(3).crash(silent);
      sim().run_for(1500ms);
      sim().host(3).start();
      await([this] { return have_one_view(sim().hosts()); }, 10s, "a view with its next life");
      if (HasFatalFailure()) return;
      sim().run_for(40s);  // its advertisement is repeated
      EXPECT_TRUE(have_one_view(sim().hosts()));
      EXPECT_LE(views_of(sim().host(0)), before + 3) << "the view without it and d004, and those with";
    }
    if (GetParam() != Incarnations::equal) check();  // who compares histories cannot tell such lives apart
  }
}

TEST_P(Lives, OneThatRestartsAtOnceIsBackSoon) {
  start_cluster(72);
  if (HasFatalFailure()) return;
  for (int life = 0; life < 6; ++life) {
    SCOPED_TRACE(life);
    sim().host(2).crash(life % 2 == 0);
    sim().host(2).start();
    await([this] { return have_one_view(sim().hosts()); }, 10s, "a view with its next life");
    if (HasFatalFailure()) return;
  }
  const std::uint64_t before = views_of(sim().host(0));
  sim().run_for(100s);
  EXPECT_EQ(views_of(sim().host(0)), before) << "what is left of its former lives changes nothing";
}

/// One side goes on with its next life, the other remembers the last; both are told everything when they meet.
TEST_P(Lives, ARestartBehindAPartitionIsNoLossWhenItEnds) {
  start_cluster(73);
  if (HasFatalFailure()) return;
  sim().run_for(60s);  // the number of its advertisement grows
  sim().network().partition({{0, 1}, {2, 3, 4}});
  sim().run_for(3s);
  sim().host(3).crash();
  sim().run_for(1s);
  sim().host(3).start();
  sim().run_for(3s);
  const std::uint64_t before = views_of(sim().host(2));
  sim().network().heal();
  await([this] { return have_one_view(sim().hosts()); }, 10s, "one view");
  if (HasFatalFailure()) return;
  sim().run_for(40s);
  EXPECT_EQ(views_of(sim().host(2)), before + 1);
  EXPECT_TRUE(have_one_view(sim().hosts()));
}

TEST_P(Lives, TheIdOfAGroupsViewNamesTheLife) {
  simulate(74);
  NodeConfig config;
  config.name = "alone";
  SimHost& host = sim().add_host(config);
  host.set_incarnations(GetParam());
  for (int life = 0; life < 3; ++life) {
    SCOPED_TRACE(life);
    host.start();
    SimClient& client = sim().add_client(host, fmt::format("c{}", life));
    client.join("g");
    await([&] { return client.view("g") != nullptr; }, 1s, "its view");
    if (HasFatalFailure()) return;
    EXPECT_EQ(client.view("g")->id.coordinator, host.name());
    EXPECT_EQ(client.view("g")->id.incarnation, host.incarnation());
    host.crash();
  }
}

std::string name_of(const testing::TestParamInfo<Incarnations>& param) {
  constexpr const char* kNames[kIncarnations] = {"Rising", "Falling", "Drawn", "Equal"};
  return kNames[static_cast<std::size_t>(param.param)];
}

INSTANTIATE_TEST_SUITE_P(Incarnations, Lives,
                         testing::Values(Incarnations::rising, Incarnations::falling, Incarnations::drawn,
                                         Incarnations::equal),
                         name_of);

class Namesakes : public Scenario {
 protected:
  SimHost& add_namesake(const std::vector<std::size_t>& neighbours) {
    NodeConfig config;
    config.name = "d001";
    for (const std::size_t each : neighbours) config.link.neighbours.push_back({.address = sim().host(each).address()});
    return sim().add_host(config, "elsewhere:4803");
  }
  std::uint64_t conflicts_of(const SimHost& host) { return host.node().counters().value(Counter::name_conflicts); }
};

TEST_F(Namesakes, OneThatComesLaterStaysOutAndHarmsNobody) {
  for (const std::vector<std::size_t>& neighbours :
       std::vector<std::vector<std::size_t>>{{0}, {4}, {0, 4}, {1}, {1, 3}}) {
    simulate_cluster(81, Shape::line, 5);
    const std::uint64_t before = views_of(sim().host(0));
    SimHost& other = add_namesake(neighbours);
    other.start();
    sim().run_for(120s);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(views_of(sim().host(i)), before) << "of " << i;
    EXPECT_EQ(other.node().view().size(), 1u);
    EXPECT_GE(conflicts_of(other), 1u);
    EXPECT_LE(conflicts_of(other), 150u) << "it backs off";
    EXPECT_GE(conflicts_of(sim().host(1)), 1u) << "told on both sides";
    sim().host(1).crash();
    if (neighbours == std::vector<std::size_t>{1}) continue;
    const auto takes_its_place = [&] { return other.node().view().size() > 1; };
    await(takes_its_place, 10s, "a view with the other");
  }
}

TEST_F(Namesakes, TwoThatMeetWhenSidesMergeLeaveOne) {
  simulate(82);
  ClusterOptions options;
  options.shape = Shape::ring;  // connected without the one that stays out
  options.size = 5;
  build_cluster(sim(), options);
  SimHost& other = add_namesake({4});
  other.start();
  sim().network().partition({{0, 1, 2}, {3, 4, 5}});
  sim().run_for(200ms);  // until all have started
  await([&] { return sim().host(1).node().view().size() == 3 && other.node().view().size() == 3; }, 10s, "two views");
  if (HasFatalFailure()) return;
  sim().network().heal();
  const auto of_five = [&] {
    return sim().host(0).node().view().size() == 5 && sim().host(4).node().view().id == sim().host(0).node().view().id;
  };
  await(of_five, 10s, "one view of five");
  if (HasFatalFailure()) return;
  sim().run_for(5s);
  const std::uint64_t before = views_of(sim().host(0));
  sim().run_for(100s);
  EXPECT_EQ(views_of(sim().host(0)), before);
  EXPECT_NE(sim().host(1).node().view().size() == 1, other.node().view().size() == 1) << "one of the two is out";
  EXPECT_GE(conflicts_of(sim().host(1)), 1u);
  EXPECT_GE(conflicts_of(other), 1u);
}

TEST_F(Namesakes, ADaemonThatDialsItselfGoesOn) {
  simulate(83);
  NodeConfig config;
  config.name = "d000";
  config.link.neighbours.push_back({.address = Simulator::address_of("d000")});
  SimHost& host = sim().add_host(config);
  host.start();
  sim().run_for(60s);
  EXPECT_EQ(host.node().view().size(), 1u);
  EXPECT_GE(conflicts_of(host), 2u);
  EXPECT_LE(conflicts_of(host), 60u) << "it backs off";
  EXPECT_EQ(views_of(host), 1u);
}

}  // namespace
}  // namespace spindled::sim
