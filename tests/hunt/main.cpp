// The hunt: runs what seeds draw, or a plan from a file, and reports what breaks.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <thread>

#include "tests/hunt/plan_text.h"
#include "tests/hunt/report.h"
#include "tests/hunt/shrink.h"
#include "tests/hunt/worker.h"

namespace spindled::hunt {

namespace {

struct Options {
  std::uint64_t seeds = 0;
  std::uint64_t seed = 1;
  std::size_t jobs = std::max(1u, std::thread::hardware_concurrency());
  std::size_t shrink_tries = 300;
  std::size_t shrink_failures = 3;
  std::string replay;
  std::string log;
  std::string folder = "build/hunt";
  std::string json;
  bool print_plan = false;
};

/// A line for a person who waits: rewritten on a terminal, otherwise one every ten seconds.
class Progress {
 public:
  explicit Progress(std::uint64_t seeds) : seeds_(seeds), begin_(Clock::now()), last_(begin_) {}
  ~Progress() {
    if (on_terminal_) fmt::print(stderr, "\r\033[K");
  }
  void show(const Summary& summary) {
    const auto now = Clock::now();
    const bool has_failed = summary.failures.size() > failed_;
    if (!has_failed && now - last_ < (on_terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10))) return;
    if (has_failed) fmt::print(stderr, "{}", on_terminal_ ? "\r\033[K" : "");
    for (; failed_ < summary.failures.size(); ++failed_) {
      fmt::print(stderr, "seed {} fails\n", summary.failures[failed_].seed);
    }
    last_ = now;
    fmt::print(stderr, "{}{} of {} runs, {} failed, {:.0f} s{}", on_terminal_ ? "\r\033[K" : "", summary.runs, seeds_,
               summary.failures.size(), seconds(), on_terminal_ ? "" : "\n");
    std::fflush(stderr);
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  std::uint64_t seeds_;
  std::size_t failed_ = 0;  // told
  Clock::time_point begin_;
  Clock::time_point last_;
  bool on_terminal_ = ::isatty(STDERR_FILENO) == 1;
};

std::string save(const Options& options, const std::string& name, const Plan& plan) {
  std::filesystem::create_directories(options.folder);
  const std::string file = fmt::format("{}/{}.plan", options.folder, name);
  std::ofstream(file) << to_text(plan);
  return file;
}

void print_findings(const Outcome& outcome) {
  for (const Finding& each : outcome.findings) fmt::print("  {}\n", each.sentence);
}

/// Shrinks, saves and explains the failure of a plan.
void investigate(const Options& options, const std::string& name, const std::string& replay, const Plan& plan,
                 const std::string& property) {
  fmt::print("\n{} violates \"{}\"; it is shrunk, in at most {} tries\n", name, property, options.shrink_tries);
  std::fflush(stdout);
  const auto still_fails = [&](const Plan& candidate) {
    const Outcome outcome = run_apart(candidate);
    return outcome.failed() && outcome.findings.front().property == property;
  };
  const Shrunk shrunk = shrink(plan, still_fails, options.shrink_tries);
  const std::string file = save(options, name, shrunk.plan);
  const Outcome outcome = run_apart(shrunk.plan, {.log_level = LogLevel::info, .explain = true});
  fmt::print("after {} tries {} daemons, {} of {} steps:\n{}\n", shrunk.tries, shrunk.plan.daemons,
             shrunk.plan.steps.size(), plan.steps.size(), to_text(shrunk.plan));
  fmt::print("{}\n", outcome.explanation);
  print_findings(outcome);
  fmt::print(
      "  the whole run:   {}\n  the shrunk plan: tools/simulate --replay {}\n  with log lines:  ... --log debug\n",
      replay, file);
  std::fflush(stdout);
}

RunOptions replay_options(const Options& options) {
  RunOptions run_options{.log_level = LogLevel::info, .log_echo = !options.log.empty(), .explain = true};
  if (options.log == "debug") run_options.log_level = LogLevel::debug;
  if (options.log == "warning") run_options.log_level = LogLevel::warning;
  return run_options;
}

/// One plan, in this process, so that a debugger finds it here.
int replay(const Options& options, const Plan& plan) {
  const Outcome outcome = run(plan, replay_options(options));
  Summary summary;
  summary.first_seed = plan.seed;
  summary.add(plan.seed, plan.daemons, outcome);
  if (outcome.failed()) fmt::print("{}\n", outcome.explanation);
  fmt::print("{}digest {:016x}\n", to_text(summary), outcome.digest);
  print_findings(outcome);
  return outcome.failed() ? 1 : 0;
}

int replay_file(const Options& options) {
  std::ifstream file(options.replay);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) {
    fmt::print(stderr, "simulate: {} cannot be read\n", options.replay);
    return 2;
  }
  const auto plan = parse_plan(text.str());
  if (!plan) {
    fmt::print(stderr, "simulate: {}: {}\n", options.replay, plan.error());
    return 2;
  }
  return replay(options, *plan);
}

/// A run tells how many there are, unless it died: to draw its plan once more takes time from those that run.
std::uint32_t daemons_of(std::uint64_t seed, const Outcome& outcome) {
  const std::uint64_t told = outcome.tally.count("daemons");
  return told != 0 ? static_cast<std::uint32_t>(told) : draw_plan(seed).daemons;
}

int hunt(const Options& options) {
  Summary summary;
  summary.first_seed = options.seed;
  {
    Progress progress(options.seeds);
    run_seeds(
        {options.seed, options.seeds}, {options.jobs}, [](std::uint64_t seed) { return run(draw_plan(seed)); },
        [&](std::uint64_t seed, const Outcome& outcome) { summary.add(seed, daemons_of(seed, outcome), outcome); },
        [&] { progress.show(summary); });
    summary.seconds = progress.seconds();
  }
  std::size_t shrunk = 0;
  for (const Summary::Failure& failure : summary.failures) {
    if (options.shrink_tries == 0 || shrunk++ == options.shrink_failures) break;
    investigate(options, fmt::format("seed-{}", failure.seed), fmt::format("tools/simulate --seed {}", failure.seed),
                draw_plan(failure.seed), failure.findings.front().property);
  }
  fmt::print("{}", to_text(summary));
  if (!options.json.empty()) std::ofstream(options.json) << to_json(summary);
  return summary.failures.empty() ? 0 : 1;
}

int run_program(int count, char** arguments) {
  Options options;
  CLI::App app(
      "Hunts for faults: each seed draws a cluster, clients, traffic and failures, and every property is checked.",
      "tools/simulate");
  app.add_option("--seeds", options.seeds, "how many seeds to run");
  const auto* seed =
      app.add_option("--seed", options.seed, "the first seed; without --seeds that one alone")->capture_default_str();
  app.add_option("--jobs", options.jobs, "runs at a time")->capture_default_str()->check(CLI::Range(1, 1024));
  app.add_option("--replay", options.replay, "runs the plan in this file");
  app.add_option("--log", options.log, "of one seed or plan: prints log lines from this level on as they come")
      ->check(CLI::IsMember({"debug", "info", "warning"}));
  app.add_flag("--plan", options.print_plan, "prints the plan of --seed instead of running it");
  app.add_option("--shrink-tries", options.shrink_tries, "runs spent on making a failing plan smaller; 0: none")
      ->capture_default_str();
  app.add_option("--shrink-failures", options.shrink_failures, "failing seeds that are shrunk and explained")
      ->capture_default_str();
  app.add_option("--folder", options.folder, "where shrunk plans are kept")->capture_default_str();
  app.add_option("--json", options.json, "writes the table to this file, as JSON");
  CLI11_PARSE(app, count, arguments);

  if (!options.replay.empty()) return replay_file(options);
  if (options.print_plan) {
    fmt::print("{}", to_text(draw_plan(options.seed)));
    return 0;
  }
  if (options.seeds > 0) return hunt(options);
  if (seed->count() > 0) return replay(options, draw_plan(options.seed));
  fmt::print(stderr, "simulate: --seeds, --seed or --replay is needed; see --help\n");
  return 2;
}

}  // namespace

}  // namespace spindled::hunt

int main(int count, char** arguments) { return spindled::hunt::run_program(count, arguments); }
