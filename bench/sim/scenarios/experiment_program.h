// What programs that run experiments have in common: their options, jobs, tables and files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/sim/scenarios/experiment.h"

namespace spindled::scenarios {

struct NamedExperiment {
  std::string name;
  std::string title;  // for tables and plots
  std::function<ExperimentOutcome(const ExperimentOptions&)> run;
};

struct ExperimentProgram {
  std::string name;                          // of the program
  std::string description;                   // for --help
  std::string results;                       // files begin with it
  std::vector<NamedExperiment> experiments;  // those that take the longest come last
  std::function<std::vector<Figure>()> overall = [] { return std::vector<Figure>(); };  // of all that were run
};

/// The status of the program.
int run_experiments(const ExperimentProgram& program, int argc, char** argv);

}  // namespace spindled::scenarios
