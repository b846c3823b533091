// The figures of a run, and what they are held to.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "bench/sim/scenarios/run.h"

namespace spindled::scenarios {

/// Bits a second that a class has on its bottleneck: frames with their heads, and payload alone.
struct Rate {
  double framed = 0;
  double payload = 0;
};
Rate rate_of(const Result& result, std::size_t traffic_class, const Phase& phase);

/// What a link carried and kept waiting.
struct LinkUse {
  double capacity = 0;  // bits a second
  double used = 0;      // of it, by all frames
  std::uint32_t queue_max = 0;
  double queue_mean = 0;
  std::array<double, kFrameKinds> kinds{};  // bits a second

  double of(FrameKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
};
LinkUse use_of(const Scenario& scenario, const LinkSeries& series, const Phase& phase);
double capacity_of(const Scenario& scenario, const Direction& direction, Duration at);

/// How many send in each phase.
std::vector<std::size_t> senders_of(const Scenario& scenario);

/// Messages a second of the clients of a class, and how much they differ.
struct Spread {
  double mean = 0;
  double variation = 0;  // standard deviation over mean
};
Spread spread_of(const Result& result, std::size_t traffic_class, const Phase& phase);

/// The longest queue of any watched link at any time.
std::uint32_t queue_max_of(const Result& result);

/// How long after `at` all classes that send have their share, an equal part of their common bottleneck's capacity:
/// until their rates, measured over the second before, are within 10 % of it, as they are over the five seconds that
/// follow. Looked at every kBin. Nothing where that does not come to be before `until`.
std::optional<Duration> adaptation_time(const Result& result, Duration at, Duration until);

/// A line of the table.
struct Figure {
  std::string scenario;
  std::string what;
  std::string paper;
  std::string must;
  std::string ours;
  bool ok = false;
};

/// All that can be said about these results, which are of one seed.
std::vector<Figure> figures_of(const std::vector<Result>& results);

}  // namespace spindled::scenarios
