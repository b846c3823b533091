#include "bench/sim/scenarios/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace spindled::scenarios {

namespace {

std::string with_unit(double value, std::string_view unit) {
  if (unit == "%") return fmt::format("{:.4g} %", value * 100);
  return unit.empty() ? fmt::format("{:.3f}", value) : fmt::format("{:.4g} {}", value, unit);
}

}  // namespace

bool ExperimentOutcome::is_ok() const {
  return error.empty() && std::all_of(figures.begin(), figures.end(), [](const Figure& figure) { return figure.ok; });
}

Figure at_least(std::string what, std::string paper, double mark, double ours, std::string_view unit) {
  return {{}, std::move(what), std::move(paper), ">= " + with_unit(mark, unit), with_unit(ours, unit), ours >= mark};
}

Figure at_most(std::string what, std::string paper, double mark, double ours, std::string_view unit) {
  return {{}, std::move(what), std::move(paper), "<= " + with_unit(mark, unit), with_unit(ours, unit), ours <= mark};
}

Figure between(std::string what, std::string paper, double least, double most, double ours) {
  return {{},
          std::move(what),
          std::move(paper),
          fmt::format("{:.4g} to {:.4g}", least, most),
          with_unit(ours, ""),
          ours >= least && ours <= most};
}

Figure beside(std::string what, std::string paper, std::string ours) {
  return {{}, std::move(what), std::move(paper), "", std::move(ours), true};
}

double thread_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace spindled::scenarios
