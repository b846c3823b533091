// The experiments on the rate of feeds: those of the paper whose rules it follows (Natu, Rajagopal and Kalyanaraman, A
// Generic Source-based Congestion Control Algorithm for Reliable Multicast), and others beside TCP.
#pragma once

#include "bench/sim/scenarios/experiment_program.h"

namespace spindled::scenarios::feeds {

/// Those that take the longest come last. Marks are for a share of 1.
const std::vector<NamedExperiment>& experiments();

// By name.
ExperimentOutcome shift(const ExperimentOptions& options);
ExperimentOutcome unbalanced(const ExperimentOptions& options);
ExperimentOutcome aggregation(const ExperimentOptions& options);
ExperimentOutcome red(const ExperimentOptions& options);
ExperimentOutcome levels(const ExperimentOptions& options);
ExperimentOutcome reductions(const ExperimentOptions& options);
ExperimentOutcome pairs(const ExperimentOptions& options);
ExperimentOutcome field(const ExperimentOptions& options);
ExperimentOutcome increase(const ExperimentOptions& options);
ExperimentOutcome listeners(const ExperimentOptions& options);
ExperimentOutcome capacity(const ExperimentOptions& options);
ExperimentOutcome variation(const ExperimentOptions& options);

}  // namespace spindled::scenarios::feeds
