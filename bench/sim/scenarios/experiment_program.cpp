#include "bench/sim/scenarios/experiment_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "bench/sim/scenarios/output_folder.h"
#include "bench/sim/scenarios/report.h"

namespace spindled::scenarios {

namespace {

struct Arguments {
  std::vector<std::string> only;
  ExperimentOptions options;
  std::size_t jobs = 1;
  std::filesystem::path output;
  bool check = false;
  bool list = false;
};

/// The longest first, which are the last: none of them is to be left at the end.
std::vector<ExperimentOutcome> run_all(const std::vector<NamedExperiment>& wanted, const Arguments& arguments) {
  std::vector<ExperimentOutcome> outcomes(wanted.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t taken = next++; taken < wanted.size(); taken = next++) {
      const std::size_t index = wanted.size() - 1 - taken;
      outcomes[index] =
          run_named<ExperimentOutcome>(wanted[index].name, [&] { return wanted[index].run(arguments.options); });
      const std::scoped_lock lock(mutex);
      fmt::print(stderr, "{} of {}: {}, {:.1f} s of processor\n", taken + 1, wanted.size(), wanted[index].name,
                 outcomes[index].cpu_seconds);
    }
  };
  std::vector<std::jthread> workers;
  for (std::size_t i = 0; i < std::min(arguments.jobs, wanted.size()); ++i) workers.emplace_back(work);
  workers.clear();
  return outcomes;
}

std::string json_of(const Figure& figure) {
  return fmt::format(R"({{"experiment": "{}", "what": "{}", "paper": "{}", "must": "{}", "ours": "{}", "ok": {}}})",
                     figure.scenario, figure.what, figure.paper, figure.must, figure.ours, figure.ok);
}

void write_files(const std::string& prefix, const Arguments& arguments, const std::vector<NamedExperiment>& wanted,
                 const std::vector<ExperimentOutcome>& outcomes, const std::vector<Figure>& figures) {
  std::vector<std::string> lines, names;
  for (const Figure& figure : figures) lines.push_back(json_of(figure));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const ExperimentOutcome& outcome = outcomes[i];
    names.push_back(fmt::format(R"({{"experiment": "{}", "title": "{}", "error": "{}", "processor_s": {:.1f}}})",
                                outcome.name, wanted[i].title, outcome.error, outcome.cpu_seconds));
    if (!outcome.error.empty()) continue;
    std::ofstream out(arguments.output / fmt::format("{}-{}.csv", prefix, outcome.name));
    out << fmt::format("{}\n", fmt::join(outcome.table.columns, ","));
    for (const auto& row : outcome.table.rows) out << fmt::format("\"{}\"\n", fmt::join(row, "\",\""));
  }
  std::ofstream(arguments.output / (prefix + ".json")) << fmt::format(
      "{{\"seed\": {}, \"share\": {},\n\"figures\": [\n  {}\n],\n\"experiments\": [\n  {}\n]}}\n",
      arguments.options.seed, arguments.options.share, fmt::join(lines, ",\n  "), fmt::join(names, ",\n  "));
}

int run(const ExperimentProgram& program, const Arguments& arguments) {
  std::vector<NamedExperiment> wanted = program.experiments;
  std::erase_if(wanted, [&](const NamedExperiment& each) {
    return !arguments.only.empty() && std::none_of(arguments.only.begin(), arguments.only.end(), [&](const auto& part) {
      return each.name.find(part) != std::string::npos;
    });
  });
  if (wanted.empty()) {
    fmt::print(stderr, "{}: there is no such experiment; --list names all\n", program.name);
    return 2;
  }
  if (arguments.list) {
    for (const NamedExperiment& each : wanted) fmt::print("{:12} {}\n", each.name, each.title);
    return 0;
  }
  if (!make_output_folder(arguments.output, program.name.c_str())) return 2;
  const std::vector<ExperimentOutcome> outcomes = run_all(wanted, arguments);
  std::vector<Figure> figures;
  bool is_ok = true;
  for (const ExperimentOutcome& outcome : outcomes) {
    if (!outcome.error.empty()) fmt::print("{} FAILED: {}\n", outcome.name, outcome.error);
    figures.insert(figures.end(), outcome.figures.begin(), outcome.figures.end());
    is_ok = is_ok && outcome.is_ok();
  }
  for (const Figure& figure : program.overall()) {
    figures.push_back(figure);
    is_ok = is_ok && figure.ok;
  }
  fmt::print("{}", table_of(figures));
  if (!arguments.output.empty()) write_files(program.results, arguments, wanted, outcomes, figures);
  return arguments.check && !is_ok ? 1 : 0;
}

}  // namespace

int run_experiments(const ExperimentProgram& program, int argc, char** argv) {
  Arguments arguments;
  CLI::App app(program.description, program.name);
  app.add_option("--only", arguments.only, "Experiments whose names have one of these in them")->delimiter(',');
  app.add_flag("--list", arguments.list, "Name the experiments, and run none");
  app.add_option("--share", arguments.options.share, "Of the sizes and times that experiments should have")
      ->check(CLI::Range(0.02, 1.0));
  app.add_option("--seed", arguments.options.seed, "Draws losses, and all that daemons draw");
  app.add_option("--jobs", arguments.jobs, "How many experiments run at once")->check(CLI::Range(1, 64));
  app.add_option("--output", arguments.output, "Folder for the results as JSON, and what was measured as CSV");
  app.add_flag("--check", arguments.check, "Fail where a figure falls short of its mark");
  CLI11_PARSE(app, argc, argv);
  return run(program, arguments);
}

}  // namespace spindled::scenarios
