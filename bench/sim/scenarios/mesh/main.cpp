// scenario_mesh: the experiments of Bullet, with the daemon's own code for the mesh of bulk channels.
// docs/performance.md says what the experiments are.
#include "bench/sim/scenarios/mesh/experiments.h"

int main(int argc, char** argv) {
  using namespace spindled::scenarios;
  return run_experiments({.name = "scenario_mesh",
                          .description = "What the mesh of bulk channels makes of the networks of the paper on Bullet",
                          .results = "mesh",
                          .experiments = mesh::experiments()},
                         argc, argv);
}
