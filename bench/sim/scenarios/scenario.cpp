#include "bench/sim/scenarios/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "daemon/base/check.h"

namespace spindled::scenarios {

namespace {

constexpr double kMega = 1e6;
constexpr std::size_t kSendersOfClass = 20;
constexpr std::size_t kLeaves = kSendersMax;  // scenario 4: senders' daemons, and as many receivers'

void watch_all(Scenario& scenario) {
  for (const Path& path : scenario.paths) {
    scenario.watched.push_back({path.a, path.b});
    scenario.watched.push_back({path.b, path.a});
  }
}

void add_senders(Scenario& scenario, std::size_t traffic_class, const std::string& daemon, const std::string& group,
                 std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) scenario.senders.push_back({traffic_class, daemon, group});
}

/// The tree of scenarios 1 and 2. Senders at a reach c, f and g; those at c reach d and g.
Scenario tree(const Options& options, double b_d, double e_f, double e_g) {
  Scenario scenario;
  scenario.paths = {{"a", "b", 10 * kMega, 10ms}, {"b", "c", 10 * kMega, 10ms}, {"b", "d", b_d, 10ms},
                    {"b", "e", 10 * kMega, 15ms}, {"e", "f", e_f, 10ms},        {"e", "g", e_g, 10ms}};
  scenario.receivers = {{"c", {"cfg"}}, {"f", {"cfg"}}, {"g", {"cfg", "dg"}}, {"d", {"dg"}}};
  add_senders(scenario, 0, "a", "cfg", kSendersOfClass);
  add_senders(scenario, 1, "c", "dg", kSendersOfClass);
  watch_all(scenario);
  scenario.node.admission = options.admission;
  return scenario;
}

Duration length(const Options& options, double otherwise) {
  return from_seconds(options.seconds > 0 ? options.seconds : otherwise);
}

Scenario scenario_1(const Options& options) {
  Scenario scenario = tree(options, 1 * kMega, 2 * kMega, 10 * kMega);
  scenario.id = "1";
  scenario.title = "Scenario 1: two classes, a bottleneck each";
  scenario.classes = {{"acfg", {"e", "f"}, 0s, 1s}, {"cdg", {"b", "d"}, 0s, 1s}};
  scenario.end = length(options, 300);
  scenario.settle = std::min<Duration>(20s, scenario.end / 3);
  return scenario;
}

Scenario scenario_2(const Options& options) {
  Scenario scenario = tree(options, 10 * kMega, 10 * kMega, 2 * kMega);
  scenario.classes = {{"acfg", {"e", "g"}, 0s, 1s}, {"cdg", {"e", "g"}, 0s, 1s}};
  return scenario;
}

Scenario scenario_2a(const Options& options) {
  Scenario scenario = scenario_2(options);
  scenario.id = "2a";
  scenario.title = "Scenario 2: two classes share a bottleneck";
  scenario.end = length(options, 400);
  scenario.settle = std::min<Duration>(20s, scenario.end / 3);
  return scenario;
}

/// The second class begins, all at once, after a third of the time, and the bottleneck loses half its capacity after
/// two thirds.
Scenario scenario_2b(const Options& options) {
  Scenario scenario = scenario_2(options);
  scenario.id = "2b";
  scenario.title = "Scenario 2: the second class starts late, then the bottleneck is halved";
  scenario.end = length(options, 600);
  scenario.classes[1].start = scenario.end / 3;
  scenario.classes[1].spread = 0s;
  scenario.changes = {{scenario.end / 3 * 2, 5, 1 * kMega}};
  scenario.settle = std::min<Duration>(20s, scenario.end / 9);
  return scenario;
}

/// A chain a to f; one client sends from end to end, then one more over each path, one after the other.
Scenario scenario_3(const Options& options) {
  Scenario scenario;
  scenario.id = "3";
  scenario.title = "Scenario 3: one long flow and five short ones";
  scenario.end = length(options, 900);
  const std::vector<std::string> daemons{"a", "b", "c", "d", "e", "f"};
  scenario.classes.push_back({"a-f", {"a", "b"}, 0s, 0s});
  scenario.senders.push_back({0, "a", "long"});
  for (std::size_t i = 1; i < daemons.size(); ++i) {
    const std::string &from = daemons[i - 1], &to = daemons[i];
    const std::string group = "to-" + to;
    scenario.paths.push_back({from, to, 2 * kMega, 10ms});
    scenario.classes.push_back({from + "-" + to, {from, to}, scenario.end / 6 * static_cast<Duration::rep>(i), 0s});
    scenario.senders.push_back({i, from, group});
    scenario.receivers.push_back({to, {group}});
  }
  scenario.receivers.push_back({"f", {"long"}});
  watch_all(scenario);
  scenario.settle = std::min<Duration>(20s, scenario.end / 18);
  scenario.node.admission = options.admission;
  return scenario;
}

/// Daemons with one sender each around a, daemons with one receiver each around b. More and more senders join in: the
/// network is formed once for all their numbers. Names put the receivers of a group side by side, as their numbers in a
/// view are.
Scenario scenario_4(const Options& options) {
  Scenario scenario;
  scenario.id = "4";
  scenario.title = fmt::format("Scenario 4: more and more senders of {} daemons", 2 * kLeaves + 2);
  scenario.end = length(options, 50.0 * static_cast<double>(options.senders.size()));
  const Duration phase = scenario.end / static_cast<Duration::rep>(options.senders.size());
  scenario.settle = phase / 2;
  scenario.paths.push_back({"a", "b", 2 * kMega, 10ms});
  const auto sender = [](std::size_t i) { return fmt::format("s{:04}", i + 1); };
  const auto receiver = [](std::size_t i) { return fmt::format("r{:04}", i % kLeaves + 1); };
  for (std::size_t i = 0; i < kLeaves; ++i) scenario.paths.push_back({"a", sender(i), 10 * kMega, 5ms});
  for (std::size_t i = 0; i < kLeaves; ++i) scenario.paths.push_back({"b", receiver(i), 10 * kMega, 5ms});
  std::vector<std::vector<std::string>> groups_of(kLeaves);
  for (const std::size_t count : options.senders) {
    const std::size_t index = scenario.classes.size();
    const std::string name = index == 0 ? std::to_string(count) : fmt::format("to {}", count);
    scenario.classes.push_back({name, {"a", "b"}, phase * static_cast<Duration::rep>(index), phase * 2 / 5});
    for (std::size_t i = scenario.senders.size(); i < count; ++i) {
      const std::string group = fmt::format("g{:04}", i + 1);
      scenario.senders.push_back({index, sender(i), group});
      for (std::size_t k = i; k < i + 3; ++k) groups_of[k % kLeaves].push_back(group);
    }
  }
  for (std::size_t i = 0; i < kLeaves; ++i) {
    if (!groups_of[i].empty()) scenario.receivers.push_back({receiver(i), groups_of[i]});
  }
  scenario.watched = {{"a", "b"}, {"b", "a"}, {"a", sender(0)}, {"b", receiver(0)}};
  scenario.node.admission = options.admission;
  scenario.node.link.hello_interval = 1s;  // pings of 1,601 links are most of what there is to simulate
  scenario.node.link.liveness_timeout = 3s;
  return scenario;
}

}  // namespace

std::vector<Phase> phases_of(const Scenario& scenario) {
  std::set<Duration> changes{scenario.end};
  for (const TrafficClass& each : scenario.classes) changes.insert(each.start);
  for (const CapacityChange& each : scenario.changes) changes.insert(each.at);
  std::vector<Phase> phases;
  for (auto at = changes.begin(); std::next(at) != changes.end(); ++at) {
    phases.push_back({*at, *at + scenario.settle, *std::next(at)});
  }
  return phases;
}

const std::vector<std::string>& scenario_names() {
  static const std::vector<std::string> names{"1", "2a", "2b", "3", "4"};
  return names;
}

Scenario scenario_named(const std::string& name, const Options& options) {
  if (name == "1") return scenario_1(options);
  if (name == "2a") return scenario_2a(options);
  if (name == "2b") return scenario_2b(options);
  if (name == "3") return scenario_3(options);
  SPINDLE_CHECK(name == "4");
  return scenario_4(options);
}

}  // namespace spindled::scenarios
