// What becomes of rates when somebody comes, goes or fails, and when contents share a path.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "bench/sim/scenarios/bulk/experiment_parts.h"

namespace spindled::scenarios::bulk {

namespace {

constexpr double kOrphans = 0.9;
constexpr double kOthers = 0.95;
constexpr double kOfPath = 0.97;
/// An orphan has its rate again from the first moment on behind which it has it over so long,
constexpr Duration kAgain = 500ms;
/// and over so long.
constexpr Duration kStays = 2s;
constexpr Duration kKilledMax = 1500ms;
constexpr Duration kSilentMax = 3s;
/// Plots have the rates of so much at a time.
constexpr Duration kPlotted = 500ms;

Hop path(std::string a, std::string b, double megabits) { return {std::move(a), std::move(b), megabits * kMega, 10ms}; }

/// How long after `at` a receiver has its former rate again; nothing: it does not.
std::optional<Duration> again_after(const Course& course, Duration at, double former) {
  const Duration end = course.done().value_or(course.end());
  for (Duration after{}; at + after + kStays <= end; after += kSample) {
    const Duration from = at + after;
    if (course.rate(from, from + kAgain) >= kOrphans * former &&
        course.rate(from, from + kStays) >= kOrphans * former) {
      return after;
    }
  }
  return std::nullopt;
}

/// Something happens to a network while a content is on its way.
struct Incident {
  std::vector<Hop> hops;                  // the source's is the first host
  std::uint64_t size = 0;                 // of the content
  Duration at{};                          // when it happens
  std::function<void(Overlay&)> happens;  // what
  Duration lasts{};                       // from then until all is as it was; 0: it stays so
  std::function<void(Overlay&)> ends;
  std::vector<std::string> orphans;  // who loses its parent
  std::vector<std::string> others;
  Duration again_max{};  // orphans are to have their rates again after so long
  std::string paper;
};

Outcome outcome_of(const Incident& incident, const Options& options) {
  Overlay overlay(incident.hops, options.seed);
  if (!overlay.form() || !overlay.offer(0, incident.size)) return failed("the cluster does not form");
  overlay.run_for(incident.at - overlay.now());
  incident.happens(overlay);
  if (incident.ends) {
    overlay.run_for(incident.lasts);
    incident.ends(overlay);
  }
  std::vector<std::string> names = incident.orphans;
  names.insert(names.end(), incident.others.begin(), incident.others.end());
  std::vector<std::size_t> receivers;
  for (const std::string& name : names) receivers.push_back(overlay.client_at(name));
  if (!overlay.run_until_done(receivers, 0, 10 * incident.at + 120s)) return failed("not all have got it");

  Outcome outcome;
  outcome.cost = cost_of(overlay);
  outcome.table.columns = {"second", "host", "kind", "mbps"};
  double slowest_s = 0, least = 1e9;
  const Duration over = incident.at + incident.lasts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_orphan = i < incident.orphans.size();
    const Course& course = overlay.course(receivers[i]);
    const double former = course.rate(incident.at / 2 / kSample * kSample, incident.at);
    if (is_orphan) {
      const std::optional<Duration> after = again_after(course, over, former);
      slowest_s = std::max(slowest_s, after ? to_seconds(*after) : 1e9);
    } else {
      const Duration end = std::min(course.done().value_or(course.end()) / kSample * kSample, over + 5s);
      if (end > incident.at + 1s) least = std::min(least, course.rate(incident.at, end) / former);
    }
    for (Duration from{}; from + kPlotted <= course.end(); from += kPlotted) {
      if (course.done() && from > *course.done()) break;
      outcome.table.rows.push_back({fmt::format("{:.1f}", to_seconds(from)), names[i], is_orphan ? "orphan" : "other",
                                    fmt::format("{:.3f}", course.rate(from, from + kPlotted) / kMega)});
    }
  }
  outcome.figures.push_back(at_most("orphans have 90 % of their rates again after", incident.paper,
                                    to_seconds(incident.again_max), slowest_s, "s"));
  if (least < 1e9) {
    outcome.figures.push_back(at_least("others' rates in the 5 s after, over their former", "", kOthers, least));
  }
  return outcome;
}

/// Two relays below the source; who is below the first one can be below the second.
Outcome relay_lost(const Options& options, bool silent) {
  Incident incident;
  incident.hops = {path("s", "r1", 10),  path("s", "r2", 10),  path("r1", "l1", 10),
                   path("r1", "l2", 10), path("r1", "l3", 10), path("r2", "l1", 10),
                   path("r2", "l2", 10), path("r2", "l3", 10), path("r2", "l4", 10)};
  incident.size = scaled(100 * kMegabyte, options.share);
  incident.at = scaled(20s, options.share);
  incident.happens = [silent](Overlay& overlay) { overlay.host("r1").crash(silent); };
  incident.orphans = {"l1", "l2", "l3"};
  incident.others = {"r2", "l4"};
  incident.again_max = silent ? kSilentMax : kKilledMax;
  incident.paper = "Bullet: 70 % left";
  return outcome_of(incident, options);
}

/// A receiver near the source has all when the source goes; the others are at a quarter.
Incident of_source(const Options& options) {
  Incident incident;
  incident.hops = {path("s", "near", 40), path("s", "x1", 10), path("s", "x2", 10), path("near", "x1", 10),
                   path("near", "x2", 10)};
  incident.size = scaled(100 * kMegabyte, options.share);
  incident.at = scaled(24s, options.share);
  incident.orphans = {"x1", "x2"};
  incident.again_max = kKilledMax;
  return incident;
}

}  // namespace

Outcome relay_killed(const Options& options) { return relay_lost(options, false); }

Outcome relay_silent(const Options& options) { return relay_lost(options, true); }

Outcome root_killed(const Options& options) {
  Incident incident = of_source(options);
  incident.happens = [](Overlay& overlay) { overlay.host("s").crash(); };
  return outcome_of(incident, options);
}

Outcome source_killed(const Options& options) {
  Incident incident = of_source(options);
  incident.happens = [](Overlay& overlay) { overlay.session(0).kill(); };
  return outcome_of(incident, options);
}

Outcome partition(const Options& options) {
  constexpr Duration kMergeMax = 5s;
  Incident incident;
  incident.hops = {path("s", "a", 10), path("a", "b", 10), path("b", "c", 10)};
  incident.size = scaled(100 * kMegabyte, options.share);
  incident.at = scaled(20s, options.share);
  incident.happens = [](Overlay& overlay) {
    const auto index = [&](const char* name) { return overlay.host(name).index(); };
    overlay.simulator().network().partition({{index("s"), index("a")}, {index("b"), index("c")}});
  };
  incident.lasts = 10s;
  incident.ends = [](Overlay& overlay) { overlay.simulator().network().heal(); };
  incident.orphans = {"b", "c"};
  incident.others = {"a"};
  incident.again_max = kMergeMax;
  return outcome_of(incident, options);
}

Outcome late_joiner(const Options& options) {
  constexpr double kRate = 20;
  // So much that it is there within the minute for which a channel stays once its audience has all.
  const std::uint64_t size = scaled(200 * kMegabyte, options.share);
  Overlay overlay({path("s", "a", kRate), path("a", "b", kRate)}, options.seed, {"b"});
  if (!overlay.form() || !overlay.offer(0, size)) return failed("the cluster does not form");
  const double ideal_s = static_cast<double>(size) * 8 / (kRate * kMega);
  overlay.run_for(Duration(from_seconds(ideal_s / 2)));
  const Duration joined = overlay.now();
  const std::size_t late = overlay.add_client("b"), early = overlay.client_at("a");
  if (!overlay.run_until_done({early, late}, 0, from_seconds(4 * ideal_s + 60))) return failed("not all have got it");
  Outcome outcome;
  outcome.cost = cost_of(overlay);
  outcome.table.columns = {"second", "host", "kind", "mbps"};
  for (const auto& [name, member] : {std::pair<std::string, std::size_t>{"a", early}, {"b", late}}) {
    const Course& course = overlay.course(member);
    for (Duration from{}; from + kPlotted <= *course.done(); from += kPlotted) {
      outcome.table.rows.push_back({fmt::format("{:.1f}", to_seconds(from)), name, name == "b" ? "late" : "other",
                                    fmt::format("{:.3f}", course.rate(from, from + kPlotted) / kMega)});
    }
  }
  const double took_s = to_seconds(*overlay.course(late).done() - joined);
  const double hop_content = static_cast<double>(overlay.hop_bytes()) / (2 * static_cast<double>(size));
  outcome.figures = {
      at_least("the late one's rate over its path's, from its joining on", "", kOfPath, ideal_s / took_s),
      at_least("the other's rate over its path's", "", kOfPath, ideal_s / to_seconds(*overlay.course(early).done())),
      at_most("beyond content, all hops, both ways", "3 %", 0.005, hop_content - 1, "%"),
  };
  return outcome;
}

Outcome weights(const Options& options) {
  constexpr double kRate = 20;
  constexpr double kShare = 0.75, kOff = 0.05;
  const std::uint64_t size = scaled(200 * kMegabyte, options.share);
  Overlay overlay({path("s", "r", kRate)}, options.seed);
  if (!overlay.form() || !overlay.offer(0, size, 10) || !overlay.offer(0, size, 30)) {
    return failed("the cluster does not form");
  }
  const Duration from = 2s, to = scaled(60s, options.share);
  overlay.run_for(to + kSample);
  const std::size_t receiver = overlay.client_at("r");
  const double light = overlay.course(receiver, 0).rate(from, to), heavy = overlay.course(receiver, 1).rate(from, to);
  Outcome outcome;
  outcome.cost = cost_of(overlay);
  outcome.table.columns = {"weight", "mbps"};
  outcome.table.rows = {{"10", fmt::format("{:.2f}", light / kMega)}, {"30", fmt::format("{:.2f}", heavy / kMega)}};
  const double share = heavy / (light + heavy);
  outcome.figures = {
      at_most("share of weight 30 beside 10, off 3/4 by", "", kOff, std::abs(share - kShare) / kShare, "%"),
      at_least("both together over the path's rate", "", kOfPath, (light + heavy) / (kRate * kMega)),
  };
  return outcome;
}

}  // namespace spindled::scenarios::bulk
