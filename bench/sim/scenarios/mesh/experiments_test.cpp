// A small form of the experiments of the mesh: the mesh is better than trees, and tables have what plots want.
#include "bench/sim/scenarios/mesh/experiments.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "bench/sim/scenarios/mesh/trial.h"

namespace spindled::scenarios::mesh {
namespace {

TEST(MeshExperiments, EpidemicsHaveTablesAndFigures) {
  const auto found = std::find_if(experiments().begin(), experiments().end(),
                                  [](const NamedExperiment& each) { return each.name == "epidemics"; });
  ASSERT_NE(found, experiments().end());
  const ExperimentOutcome outcome = found->run({.seed = 1, .share = 0.05});
  EXPECT_TRUE(std::any_of(outcome.figures.begin(), outcome.figures.end(),
                          [](const Figure& figure) { return !figure.must.empty(); }));
  EXPECT_THAT(outcome.table.rows, ::testing::Not(::testing::IsEmpty()));
  for (const auto& row : outcome.table.rows) EXPECT_EQ(row.size(), outcome.table.columns.size());
}

TEST(MeshTrial, MeasuresWhatArrives) {
  const underlay::Topology topology(1, {.routers = 500, .participants = 21});
  const underlay::Tree random = underlay::random_tree(1, 21, 10);
  Trial trial(topology, underlay::Transport::tcp, 300, 1);
  const Course tree = trial.tree(random, 40);
  const Course mesh = trial.mesh(random, 40);
  ASSERT_EQ(mesh.seconds.size(), 40u);
  EXPECT_GT(mesh.useful(25, 40), tree.useful(25, 40));
  EXPECT_LE(mesh.useful(25, 40), 310);
  EXPECT_LE(mesh.useful(25, 40), mesh.raw(25, 40));
  EXPECT_NEAR(mesh.useful_of({1, 2, 3}, 25, 40),
              (mesh.useful_of({1}, 25, 40) + mesh.useful_of({2}, 25, 40) + mesh.useful_of({3}, 25, 40)) / 3, 1e-6);
  EXPECT_EQ(tree.control_mean_kbps, 0);
  EXPECT_GT(mesh.control_mean_kbps, 0);
  EXPECT_GE(mesh.stress_mean, 1);
}

TEST(MeshTrial, MeasuresWhatMembersCost) {
  const underlay::Topology topology(1, {.routers = 500, .participants = 21});
  Trial trial(topology, underlay::Transport::tcp, 300, 1);
  const Course mesh = trial.measured_mesh(underlay::random_tree(1, 21, 10), 40);
  EXPECT_GT(mesh.processor_us_per_s, 0);
  EXPECT_GT(mesh.processor_ns_per_symbol, 0);
  EXPECT_EQ(mesh.heap_bytes, 0);  // this program does not count
}

}  // namespace
}  // namespace spindled::scenarios::mesh
