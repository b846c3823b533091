// scenarios: what admission does to networks with bottlenecks, on the simulator with the daemon's own code. Time is
// virtual: the figures depend on the seed alone, not on the machine. docs/performance.md says what the scenarios are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/sim/scenarios/output_folder.h"
#include "bench/sim/scenarios/report.h"
#include "bench/sim/scenarios/settings.h"

namespace spindled::scenarios {
namespace {

struct Arguments {
  std::vector<std::string> only;
  std::vector<std::string> settings;
  std::uint64_t seed = 1;
  std::size_t jobs = 1;
  std::string output;
  bool check = false;
  Options options;
};

/// Runs scenarios on a few threads, and says how far they are.
class Jobs {
 public:
  Jobs(std::vector<Scenario> scenarios, std::uint64_t seed)
      : scenarios_(std::move(scenarios)), seed_(seed), progress_(scenarios_.size()), results_(scenarios_.size()) {}

  std::vector<Result> run(std::size_t threads) {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < std::min(threads, scenarios_.size()); ++i) workers.emplace_back([this] { work(); });
    std::unique_lock lock(mutex_);
    while (!finished_.wait_for(lock, std::chrono::seconds(10), [this] { return done_ == scenarios_.size(); })) say();
    return std::move(results_);
  }

 private:
  /// The longest first, which are the last: none of them is to be left at the end.
  void work() {
    for (std::size_t taken = next_++; taken < scenarios_.size(); taken = next_++) {
      const std::size_t index = scenarios_.size() - 1 - taken;
      Result result = scenarios::run(scenarios_[index], seed_, progress_[index]);
      const std::scoped_lock lock(mutex_);
      fmt::print(stderr, "scenario {} done, {:.1f} s of processor\n", scenarios_[index].id, result.cpu_seconds);
      results_[index] = std::move(result);
      ++done_;
      finished_.notify_one();
    }
  }

  void say() {
    std::vector<std::string> running;
    for (std::size_t i = 0; i < scenarios_.size(); ++i) {
      const double progress = progress_[i];
      if (progress > 0 && progress < 1) running.push_back(fmt::format("{} {:.0f} %", scenarios_[i].id, progress * 100));
    }
    fmt::print(stderr, "{} of {} scenarios done; {}\n", done_, scenarios_.size(), fmt::join(running, ", "));
  }

  const std::vector<Scenario> scenarios_;
  const std::uint64_t seed_;
  std::vector<std::atomic<double>> progress_;
  std::vector<Result> results_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::size_t done_ = 0;
};

int run(Arguments& arguments) {
  if (!set_all(arguments.options.admission, arguments.settings, "scenarios")) return 2;
  const std::vector<std::size_t>& senders = arguments.options.senders;
  const bool grows = std::adjacent_find(senders.begin(), senders.end(), std::greater_equal<>()) == senders.end();
  if (senders.empty() || !grows || senders.front() < 1 || senders.back() > kSendersMax) {
    fmt::print(stderr, "scenarios: --senders wants growing numbers from 1 to {}\n", kSendersMax);
    return 2;
  }
  if (!make_output_folder(arguments.output, "scenarios")) return 2;
  std::vector<Scenario> wanted;
  for (const std::string& name : arguments.only.empty() ? scenario_names() : arguments.only) {
    wanted.push_back(scenario_named(name, arguments.options));
  }
  const std::vector<Result> results = Jobs(std::move(wanted), arguments.seed).run(arguments.jobs);
  for (const Result& result : results) fmt::print("{}\n", summary_of(result));
  const std::vector<Figure> figures = figures_of(results);
  fmt::print("{}", table_of(figures));
  if (!arguments.output.empty()) write_files(arguments.output, arguments.seed, results, figures);
  const bool all_ok = std::all_of(figures.begin(), figures.end(), [](const Figure& figure) { return figure.ok; });
  return arguments.check && !all_ok ? 1 : 0;
}

}  // namespace
}  // namespace spindled::scenarios

int main(int argc, char** argv) {
  using namespace spindled::scenarios;
  Arguments arguments;
  CLI::App app("What admission does to networks with bottlenecks, on the simulator", "scenarios");
  app.add_option("--only", arguments.only, "Scenarios: 1, 2a, 2b, 3, 4")
      ->delimiter(',')
      ->check(CLI::IsMember(scenario_names()));
  app.add_option("--senders", arguments.options.senders, "Scenario 4: how many, one number after the other")
      ->delimiter(',');
  app.add_option("--seconds", arguments.options.seconds,
                 "How long each scenario lasts, instead of as long as it should")
      ->check(CLI::Range(10.0, 1e5));
  app.add_option("--seed", arguments.seed, "Draws when senders begin, and all that daemons draw");
  app.add_option("--set", arguments.settings, "A constant of admission, such as queue_time=10ms");
  app.add_option("--jobs", arguments.jobs, "How many scenarios run at once")->check(CLI::Range(1, 64));
  app.add_option("--output", arguments.output, "Folder for results.json and the series as CSV");
  app.add_flag("--check", arguments.check, "Fail where a figure falls short");
  CLI11_PARSE(app, argc, argv);
  return run(arguments);
}
