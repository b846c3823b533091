// Plays attacks on real daemons with default settings, and measures what an unrelated pair of clients keeps.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "tests/adversary/attack.h"

namespace {

using namespace spindle::test;

// What must be left to the pair, and what an attack may cost.
constexpr double kP99MsMax = 50;
constexpr std::size_t kMemoryGrowthMax = 320u << 20;
constexpr double kLimitShareMax = 1.15;  // of the limit that a daemon has
constexpr double kStreamShareMin = 0.9;

/// Of links in small attacks, which run where any process may stand still for a while: no view may change for that.
constexpr int kQuickLivenessMs = 5000;

struct Options {
  double seconds = 5;
  bool check = false;
  bool quick = false;
  bool list = false;
  std::vector<std::string> only;
};

struct Result {
  PairFigures quiet, attacked;
  Scene::Damage damage;
  double took_seconds = 0;
  std::string failure;  // the attack could not be made, or the scene fell apart
};

void pass(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Attackers are on other hosts as a rule: here they leave the processors to those whom they attack.
void give_way() { ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 19); }

/// A machine that others use may let nobody answer for as long as a small attack takes, whatever the attack does.
void wait_for_answer(Pair& pair) {
  const Clock::time_point end = Clock::now() + kPatience;
  while (!pair.has_been_answered() && pair.trouble().empty() && Clock::now() < end) pass(0.01);
}

Result play(const Attack& attack, const Scale& scale, const Options& options) {
  const double seconds = options.seconds;
  Result result;
  try {
    SceneOptions scene_options = attack.scene;
    // At full size the defaults are part of what is measured.
    if (options.quick) scene_options.liveness_timeout_ms = kQuickLivenessMs;
    Scene scene(scene_options);
    if (attack.prepare) attack.prepare(scene, scale);
    scene.pair().start_measuring();
    pass(seconds / 2);
    result.quiet = scene.pair().stop_measuring();
    scene.start_watching();
    scene.pair().start_measuring();
    const Clock::time_point start = Clock::now();
    {
      std::jthread attacker([&](const std::stop_token& stop) {
        give_way();
        try {
          attack.run(scene, scale, stop);
        } catch (const std::exception& error) {
          result.failure = error.what();
        }
        result.took_seconds = std::chrono::duration<double>(Clock::now() - start).count();
      });
      pass(seconds);
      if (options.quick) wait_for_answer(scene.pair());
      attacker.request_stop();
    }
    result.attacked = scene.pair().stop_measuring();
    result.damage = scene.stop_watching();
  } catch (const std::exception& error) {
    result.failure = error.what();
  }
  return result;
}

/// What falls short of the marks; those that depend on how fast this machine is only where `timed`.
std::vector<std::string> shortfalls(const Attack& attack, const Result& result, bool timed) {
  std::vector<std::string> what;
  if (!result.failure.empty()) what.push_back(result.failure);
  if (!result.damage.trouble.empty()) what.push_back(result.damage.trouble);
  if (result.damage.views > attack.views_allowed) what.push_back(fmt::format("{} views", result.damage.views));
  if (result.damage.cut_off != 0) what.push_back(fmt::format("{} innocent cut off", result.damage.cut_off));
  if (result.damage.memory_growth_bytes > kMemoryGrowthMax) what.emplace_back("memory");
  const auto limit = static_cast<double>(attack.scene.memory_limit);
  if (limit > 0 && static_cast<double>(result.damage.memory_most_bytes) > kLimitShareMax * limit) {
    what.push_back(
        fmt::format("{:.0f} % of the limit", 100 * static_cast<double>(result.damage.memory_most_bytes) / limit));
  }
  if (result.attacked.rate == 0) what.emplace_back("the pair stands still");
  if (!timed) return what;
  if (result.attacked.rate < attack.rate_share_min * result.quiet.rate) what.emplace_back("rate");
  if (result.attacked.p99_ms > kP99MsMax) what.emplace_back("p99");
  if (result.damage.stream_share < kStreamShareMin) {
    what.push_back(fmt::format("{:.0f} % of the stream", 100 * result.damage.stream_share));
  }
  return what;
}

int run(const Options& options) {
  const std::vector<Attack> attacks = all_attacks();
  for (const std::string& name : options.only) {
    if (std::none_of(attacks.begin(), attacks.end(), [&](const Attack& attack) { return attack.name == name; })) {
      std::cerr << "adversary: there is no attack " << name << "; --list shows them\n";
      return 2;
    }
  }
  Scale scale;
  if (options.quick) scale = {5'000, 20'000, 100, 100};
  std::cout << fmt::format("{:<20} {:>9} {:>9} {:>6} {:>9} {:>9} {:>9} {:>6} {:>8} {:>7}  {}\n", "attack", "quiet/s",
                           "kept/s", "share", "p50 ms", "p99 ms", "max ms", "views", "grown MB", "took s", "verdict");
  bool all_good = true;
  for (const Attack& attack : attacks) {
    if (options.list) {
      std::cout << fmt::format("{:<20} {}\n", attack.name, attack.what);
      continue;
    }
    if (!options.only.empty() &&
        std::find(options.only.begin(), options.only.end(), attack.name) == options.only.end()) {
      continue;
    }
    const Result result = play(attack, scale, options);
    const std::vector<std::string> what = shortfalls(attack, result, !options.quick);
    all_good = all_good && what.empty();
    std::cout << fmt::format(
                     "{:<20} {:>9.0f} {:>9.0f} {:>6.2f} {:>9.2f} {:>9.2f} {:>9.1f} {:>6} {:>8.1f} {:>7.1f}  {}\n",
                     attack.name, result.quiet.rate, result.attacked.rate,
                     result.quiet.rate > 0 ? result.attacked.rate / result.quiet.rate : 0, result.attacked.median_ms,
                     result.attacked.p99_ms, result.attacked.longest_ms, result.damage.views,
                     static_cast<double>(result.damage.memory_growth_bytes) / 1e6, result.took_seconds,
                     what.empty() ? "ok" : fmt::format("SHORT: {}", fmt::join(what, "; ")))
              << std::flush;
    if (attack.scene.memory_limit != 0) {
      const auto limit = static_cast<double>(attack.scene.memory_limit);
      std::cout << fmt::format("{:<20} at most {:.0f} % of the limit resident, {:.1f} % of the stream delivered\n", "",
                               100 * static_cast<double>(result.damage.memory_most_bytes) / limit,
                               100 * result.damage.stream_share)
                << std::flush;
    }
  }
  return options.check && !all_good ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Attacks real daemons, and measures what an unrelated pair of clients keeps.", "adversary");
  app.add_option("--seconds", options.seconds, "How long each attack lasts at least")->check(CLI::Range(0.2, 600.0));
  app.add_flag("--check", options.check, "Status 1 where an attack costs more than it may");
  app.add_flag("--quick", options.quick, "Small attacks, and no marks that depend on how fast the machine is");
  app.add_flag("--list", options.list, "Say what the attacks are");
  app.add_option("--only", options.only, "These attacks only");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
