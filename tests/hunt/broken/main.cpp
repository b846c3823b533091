// hunt_broken: has the hunt look for mistakes that are there. Each broken variant (mistakes.txt) has to be
// found within a number of seeds, or by a plan that is kept (tests/hunt/plans); and the daemon without any must come
// through the seeds that found them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/hunt/broken/found_seeds.h"
#include "tests/hunt/broken/switch.h"
#include "tests/hunt/plan_text.h"
#include "tests/hunt/shrink.h"
#include "tests/hunt/worker.h"

namespace spindled::hunt {
namespace {

struct Options {
  std::uint64_t first = 1;
  std::uint64_t seeds = 2000;
  std::size_t jobs = std::max(1u, std::thread::hardware_concurrency());
  bool list = false;
  std::vector<std::string> names;
  std::string plans;   // a folder
  std::string keep;    // a folder
  std::string found;   // a file
  std::string record;  // a file
};

struct KeptPlan {
  std::string name;
  Plan plan;
};

struct Search {
  std::uint64_t seed = 0;  // the first that showed something; 0: none did
  std::string plan;        // that showed something, where no seed did
  Finding finding;         // what
  bool reached = false;    // a daemon came by the place of the mistake
};

/// Seeds on which the daemon without any mistake fails, and how: they show nothing of a variant.
using Unsound = std::map<std::uint64_t, Finding>;

/// Seconds of a processor: there are variants that never end. Other runs take a tenth of one.
constexpr int kVariantHangSeconds = 10;

constexpr const char* kReached = "runs that came by the mistake";

Outcome run_plan(const Plan& plan) {
  Outcome outcome = run(plan);
  if (is_reached()) outcome.tally.add(kReached);
  return outcome;
}

Outcome run_one(std::uint64_t seed) { return run_plan(draw_plan(seed)); }

/// Whether the daemon without any mistake comes through; otherwise the seed joins `unsound`.
bool is_sound(std::uint64_t seed, Unsound& unsound) {
  switch_on(Broken::none);
  run_seeds({seed, 1}, {1, kVariantHangSeconds}, run_one, [&](std::uint64_t, const Outcome& outcome) {
    if (outcome.failed()) unsound.emplace(seed, outcome.findings.front());
  });
  return !unsound.contains(seed);
}

/// Runs the seeds with the variant switched on. Whether one shows something that is not there without it.
bool find(Broken variant, Seeds seeds, std::size_t jobs, Unsound& unsound, Search& result) {
  std::map<std::uint64_t, Finding> failures;
  switch_on(variant);
  run_seeds(seeds, {jobs, kVariantHangSeconds}, run_one, [&](std::uint64_t seed, const Outcome& outcome) {
    result.reached = result.reached || outcome.tally.count(kReached) > 0;
    if (outcome.failed()) failures.emplace(seed, outcome.findings.front());
  });
  for (const auto& [seed, finding] : failures) {
    if (unsound.contains(seed) || !is_sound(seed, unsound)) continue;
    result.seed = seed;
    result.finding = finding;
    return true;
  }
  return false;
}

/// Goes through the seeds, that of `found` first, until one shows the variant.
Search search(Broken variant, Seeds seeds, std::size_t jobs, const FoundSeeds& found, Unsound& unsound) {
  Search result;
  const auto before = found.find(std::string(text_of(variant).name));
  const bool is_among = before != found.end() && before->second - seeds.first < seeds.count;
  if (is_among && find(variant, {before->second, 1}, jobs, unsound, result)) return result;
  const std::uint64_t at_a_time = 2 * jobs;
  for (std::uint64_t gone = 0; gone < seeds.count; gone += at_a_time) {
    const Seeds next{seeds.first + gone, std::min(at_a_time, seeds.count - gone)};
    if (find(variant, next, jobs, unsound, result)) break;
  }
  return result;
}

/// By the plans that are kept, which tests/hunt/plans_test.cpp sees to come through without a mistake.
void search(Broken variant, const std::vector<KeptPlan>& plans, std::size_t jobs, Search& result) {
  switch_on(variant);
  run_seeds(
      {0, plans.size()}, {jobs, kVariantHangSeconds}, [&](std::uint64_t index) { return run_plan(plans[index].plan); },
      [&](std::uint64_t index, const Outcome& outcome) {
        result.reached = result.reached || outcome.tally.count(kReached) > 0;
        if (!outcome.failed() || !result.plan.empty()) return;
        result.plan = plans[index].name;
        result.finding = outcome.findings.front();
      });
}

/// Writes the plan of what was found, made small, to a file; it has to come through without the mistake.
void keep(Broken variant, const Search& found, const std::string& folder) {
  constexpr std::size_t kTries = 1000;
  const auto fails = [&](Broken with, const Plan& plan) {
    switch_on(with);
    const Outcome outcome = run_apart(plan, {}, kVariantHangSeconds);
    return outcome.failed() && (with == Broken::none || outcome.findings.front().property == found.finding.property);
  };
  const auto still_shows = [&](const Plan& plan) { return fails(variant, plan) && !fails(Broken::none, plan); };
  const Shrunk shrunk = shrink(draw_plan(found.seed), still_shows, kTries);
  std::filesystem::create_directories(folder);
  const std::string file = fmt::format("{}/{}.plan", folder, text_of(variant).name);
  std::ofstream(file) << to_text(shrunk.plan);
  fmt::print("  {}: {} steps\n", file, shrunk.plan.steps.size());
}

/// Seeds first, and plans where no seed shows it; of a variant that no seed has shown before, plans first.
Search look_for(Broken variant, const Options& options, const std::vector<KeptPlan>& plans, const FoundSeeds& found,
                Unsound& unsound) {
  Search result;
  const bool plans_first = !found.empty() && !found.contains(std::string(text_of(variant).name));
  if (plans_first) search(variant, plans, options.jobs, result);
  if (result.plan.empty()) result = search(variant, {options.first, options.seeds}, options.jobs, found, unsound);
  if (result.seed == 0 && !plans_first) search(variant, plans, options.jobs, result);
  return result;
}

void print(std::string_view name, std::string_view seeds, std::string_view property, std::string_view sentence) {
  constexpr std::size_t kSentenceWidth = 100;
  fmt::print("{:<26} {:>5}  {:<24} {}\n", name, seeds, property, sentence.substr(0, kSentenceWidth));
  std::fflush(stdout);
}

int hunt(const Options& options, const std::vector<Broken>& variants, const std::vector<KeptPlan>& plans,
         FoundSeeds found) {
  print("variant", "seeds", "property", "what was seen");
  std::size_t missed = 0;
  Unsound unsound;
  for (const Broken variant : variants) {
    const Search result = look_for(variant, options, plans, found, unsound);
    if (result.seed != 0) {
      found[std::string(text_of(variant).name)] = result.seed;
      print(text_of(variant).name, std::to_string(result.seed - options.first + 1), result.finding.property,
            result.finding.sentence);
      if (!options.keep.empty()) keep(variant, result, options.keep);
    } else if (!result.plan.empty()) {
      print(text_of(variant).name, "plan", result.finding.property,
            fmt::format("{}: {}", result.plan, result.finding.sentence));
    } else {
      ++missed;
      print(text_of(variant).name, "-", "NOT FOUND", result.reached ? "" : "no daemon came by its place");
    }
  }
  fmt::print("\n{} of {} broken variants found within {} seeds or by {} plans\n", variants.size() - missed,
             variants.size(), options.seeds, plans.size());
  for (const auto& [seed, finding] : unsound) {
    fmt::print("seed {} fails WITHOUT ANY MISTAKE: {}\n", seed, finding.sentence);
  }
  const bool is_recorded = options.record.empty() || write_found_seeds(options.record, found);
  return missed == 0 && unsound.empty() && is_recorded ? 0 : 1;
}

/// All where no names are given; nothing where a name is no variant's.
std::optional<std::vector<Broken>> variants_of(const Options& options) {
  std::vector<Broken> variants;
  for (const std::string& name : options.names) {
    const std::optional<Broken> variant = find_variant(name);
    if (!variant) {
      fmt::print(stderr, "hunt_broken: there is no variant {}; --list names them\n", name);
      return std::nullopt;
    }
    variants.push_back(*variant);
  }
  for (std::size_t i = 1; options.names.empty() && i < static_cast<std::size_t>(Broken::count_); ++i) {
    variants.push_back(static_cast<Broken>(i));
  }
  return variants;
}

/// By name; nothing where one is no plan.
std::optional<std::vector<KeptPlan>> read_plans(const std::string& folder) {
  std::vector<KeptPlan> plans;
  if (folder.empty()) return plans;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".plan") continue;
    std::ifstream file(entry.path());
    auto plan = parse_plan(std::string(std::istreambuf_iterator<char>(file), {}));
    if (!plan) {
      fmt::print(stderr, "hunt_broken: {}: {}\n", entry.path().string(), plan.error());
      return std::nullopt;
    }
    plans.push_back({entry.path().stem().string(), std::move(*plan)});
  }
  std::sort(plans.begin(), plans.end(), [](const KeptPlan& a, const KeptPlan& b) { return a.name < b.name; });
  return plans;
}

int main_with(const Options& options) {
  const std::optional<std::vector<Broken>> variants = variants_of(options);
  const std::optional<std::vector<KeptPlan>> plans = read_plans(options.plans);
  const std::optional<FoundSeeds> found = options.found.empty() ? FoundSeeds() : read_found_seeds(options.found);
  if (!variants || !plans || !found) return 2;
  if (!options.list) return hunt(options, *variants, *plans, *found);
  for (const Broken variant : *variants) fmt::print("{:<26} {}\n", text_of(variant).name, text_of(variant).text);
  return 0;
}

}  // namespace
}  // namespace spindled::hunt

int main(int argc, char** argv) {
  spindled::hunt::Options options;
  CLI::App app("Has the hunt look for each broken variant of the daemon.", "hunt_broken");
  app.add_option("variant", options.names, "only these");
  app.add_option("--seeds", options.seeds, "within how many seeds each has to be found")->capture_default_str();
  app.add_option("--seed", options.first, "the first of them")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--jobs", options.jobs, "runs at a time")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--plans", options.plans, "a folder of plans, for variants that no seed finds")
      ->check(CLI::ExistingDirectory);
  app.add_option("--keep", options.keep, "a folder, for a small plan of each variant that a seed finds");
  app.add_option("--found", options.found, "a file: the seed that is tried first for each variant")
      ->check(CLI::ExistingFile);
  app.add_option("--record", options.record, "a file, for the seeds that have shown the variants");
  app.add_flag("--list", options.list, "only say which variants there are");
  CLI11_PARSE(app, argc, argv);
  return spindled::hunt::main_with(options);
}
