// Views form on every shape of overlay, and stay.
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class ViewForms : public Scenario, public testing::WithParamInterface<std::tuple<Shape, std::size_t>> {};

TEST_P(ViewForms, AndStays) {
  const auto [shape, size] = GetParam();
  simulate(11);
  ClusterOptions options;
  options.shape = shape;
  options.size = size;
  build_cluster(sim(), options);
  await([this] { return have_one_view(sim().hosts()); }, 60s, "one view of all daemons");
  if (HasFatalFailure()) return;

  const ViewId formed = sim().host(0).node().view().id;
  sim().run_for(size > 100 ? 1s : 5s);
  EXPECT_TRUE(have_one_view(sim().hosts()));
  EXPECT_EQ(sim().host(0).node().view().id, formed) << "a view changed without a cause";
}

INSTANTIATE_TEST_SUITE_P(Shapes, ViewForms,
                         testing::Combine(testing::ValuesIn(kShapes), testing::Values<std::size_t>(3, 32, 256)),
                         [](const auto& param) {
                           return std::string(to_string(std::get<0>(param.param))) +
                                  std::to_string(std::get<1>(param.param));
                         });

class Views : public Scenario {};

TEST_F(Views, AThousandDaemonsOnAStarFormOneLarge) {
  simulate(12);
  ClusterOptions options;
  options.shape = Shape::star;
  options.size = 1000;
  build_cluster(sim(), options);
  await([this] { return have_one_view(sim().hosts()); }, 60s, "one view of all daemons");
}

TEST_F(Views, ASingleDaemonHasAViewOfItsOwn) {
  simulate_cluster(1, Shape::line, 1);
  EXPECT_EQ(sim().host(0).node().view().size(), 1u);
}

TEST_F(Views, LateComersAreTakenIn) {
  simulate_cluster(2, Shape::ring, 4);
  NodeConfig late;
  late.name = "late";
  late.link.neighbours.push_back({.address = sim().host(2).address()});
  sim().add_host(late).start();
  await([this] { return have_one_view(sim().hosts()); }, 5s, "a view with the late comer");
}

TEST_F(Views, DaemonsOfAnotherClusterStayOut) {
  simulate_cluster(3, Shape::line, 3);
  const ViewId formed = sim().host(0).node().view().id;
  NodeConfig other;
  other.cluster = "other";
  other.name = "other";
  other.link.neighbours.push_back({.address = sim().host(0).address()});
  SimHost& stranger = sim().add_host(other);
  stranger.start();
  sim().run_for(5s);
  EXPECT_EQ(stranger.node().view().size(), 1u);
  EXPECT_EQ(sim().host(0).node().view().id, formed);
  EXPECT_EQ(sim().host(0).node().view().size(), 3u);
}

TEST_F(Views, FormOnSlowWideAreaLinks) {
  simulate(4);
  ClusterOptions options;
  options.shape = Shape::ring;
  options.size = 8;
  options.path = {.bytes_per_second = 1'000'000, .delay = 80ms, .jitter = 10ms};
  build_cluster(sim(), options);
  await([this] { return have_one_view(sim().hosts()); }, 60s, "one view of all daemons");
}

}  // namespace
}  // namespace spindled::sim
