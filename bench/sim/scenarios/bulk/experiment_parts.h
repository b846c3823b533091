// What experiments are made of.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "bench/sim/scenarios/bulk/experiments.h"
#include "bench/sim/scenarios/bulk/overlay.h"

namespace spindled::scenarios::bulk {

inline constexpr double kMega = 1e6;
inline constexpr std::uint64_t kMegabyte = 1'000'000;

/// A multiple of kSample.
inline Duration scaled(Duration duration, double share) {
  const double samples = to_seconds(duration) / to_seconds(kSample);
  return kSample * static_cast<Duration::rep>(std::max(1.0, std::round(samples * share)));
}
inline std::uint64_t scaled(std::uint64_t bytes, double share) {
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * share);
}

Cost cost_of(const Overlay& overlay);
Outcome failed(std::string why);

// The experiments, by name.
Outcome table1_bu(const Options& options);
Outcome table1_ucla(const Options& options);
Outcome table1_uw(const Options& options);
Outcome slow_receiver(const Options& options);
Outcome detour(const Options& options);
Outcome competing(const Options& options);
Outcome buffers(const Options& options);
Outcome depth(const Options& options);
Outcome relay_killed(const Options& options);
Outcome relay_silent(const Options& options);
Outcome root_killed(const Options& options);
Outcome source_killed(const Options& options);
Outcome partition(const Options& options);
Outcome late_joiner(const Options& options);
Outcome weights(const Options& options);

}  // namespace spindled::scenarios::bulk
