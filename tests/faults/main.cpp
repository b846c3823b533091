// The fault tests, and the tools that measure and hunt with the same means.
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "tests/faults/figures.h"
#include "tests/faults/hunt.h"

namespace {

/// What is mounted goes away with this process, however it ends.
void own_mounts() {
  if (::unshare(CLONE_NEWNS) == 0) ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace spindle::test;
  testing::InitGoogleMock(&argc, argv);  // takes its own options away
  HuntOptions hunt;
  FiguresOptions figures;
  bool measure = false;
  CLI::App app("Faults of real daemons under load. Without options: the tests.", "fault_tests");
  app.add_option("--faults", hunt.faults, "Hunt: inject this many random faults");
  app.add_option("--seed", hunt.seed, "What the hunt draws from (default: the clock)");
  app.add_option("--save", hunt.folder, "Where the hunt leaves histories and logs of a failure");
  app.add_flag("--figures", measure, "Measure how long clients wait for views and messages after a fault");
  app.add_option("--rounds", figures.rounds, "Of each measurement");
  app.add_option("--only", figures.only, "Measure only what contains this in its name");
  CLI11_PARSE(app, argc, argv);
  own_mounts();
  if (!measure && hunt.faults == 0) return RUN_ALL_TESTS();
  if (const std::string why = Lan::unavailable(); !why.empty()) {
    std::cerr << "fault_tests: " << why << "\n";
    return 2;
  }
  try {
    return measure ? run_figures(figures) : run_hunt(hunt);
  } catch (const std::exception& error) {
    std::cerr << "fault_tests: " << error.what() << "\n";
    return 1;
  }
}
