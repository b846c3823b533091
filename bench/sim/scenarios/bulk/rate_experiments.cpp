// Rates: of trees with the rates of the paper's Table 1, and of chains of lossy hops.
#include <fmt/format.h>

#include <algorithm>

#include "bench/sim/scenarios/bulk/experiment_parts.h"
#include "bench/sim/scenarios/bulk/tcp_chain.h"

namespace spindled::scenarios::bulk {

namespace {

/// "We considered 1 GB transfers" (section VI).
constexpr std::uint64_t kContent = 1000 * kMegabyte;
constexpr double kOfMinimum = 0.97;
constexpr double kBeyondMax = 0.005;
constexpr double kLossOfHopMax = 0.03;
/// "An application buffer of 1 MB" (section VI).
constexpr std::size_t kRelayBuffer = 1u << 20;
/// The shortest that a mean over lossy paths is taken of.
constexpr Duration kMeasuredMin = 30s;

/// Blocks are served whole to those that have missed some of them: until one has passed so many hops, hops wait.
constexpr Duration kUntilAllHaveBlocks = 180s;

std::string megabits(double bits_per_second) { return fmt::format("{:.2f}", bits_per_second / kMega); }

/// An edge of a tree: its rate in Mb/s, and what the paper has measured at its end, where it says so.
struct Edge {
  std::string from, to;
  double rate = 0;
  double papers = 0;
  double direct = 0;  // of one TCP stream from the root; 0: not wanted
};

/// A tree whose paths have the rates of Table 1. The table says nothing of delays: PlanetLab's hosts in the United
/// States are 20 to 80 ms apart.
Outcome tree(const Options& options, const std::vector<Edge>& edges) {
  std::vector<Hop> hops;
  for (const Edge& edge : edges) hops.push_back({edge.from, edge.to, edge.rate * kMega, 20ms});
  const std::uint64_t size = scaled(kContent, options.share);
  Overlay overlay(hops, options.seed);
  if (!overlay.form() || !overlay.offer(0, size)) return failed("the cluster does not form");
  std::vector<std::size_t> receivers;
  for (const Edge& edge : edges) receivers.push_back(overlay.client_at(edge.to));
  const double slowest =
      std::min_element(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.rate < b.rate; })->rate;
  const double limit_s = 2 * static_cast<double>(size) * 8 / (slowest * kMega) + 60;
  if (!overlay.run_until_done(receivers, 0, from_seconds(limit_s))) return failed("not all have got it");

  Outcome outcome;
  outcome.cost = cost_of(overlay);
  outcome.table.columns = {"host",      "parent", "hop_mbps",   "minimum_mbps",
                           "ours_mbps", "ratio",  "paper_mbps", "direct_mbps"};
  std::map<std::string, double> minimum;
  double worst = 1, advantage = 0;
  std::string worst_at;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    const auto above = minimum.find(edge.from);
    const double bound = above == minimum.end() ? edge.rate : std::min(above->second, edge.rate);
    minimum[edge.to] = bound;
    const double ours = static_cast<double>(size) * 8 / to_seconds(*overlay.course(receivers[i]).done()) / kMega;
    if (ours / bound < worst) {
      worst = ours / bound;
      worst_at = edge.to;
    }
    if (edge.direct > 0) advantage += ours / edge.direct / static_cast<double>(edges.size());
    outcome.table.rows.push_back({edge.to, edge.from, fmt::format("{:.1f}", edge.rate), fmt::format("{:.1f}", bound),
                                  fmt::format("{:.2f}", ours), fmt::format("{:.4f}", ours / bound),
                                  edge.papers > 0 ? fmt::format("{:.1f}", edge.papers) : "",
                                  edge.direct > 0 ? fmt::format("{:.1f}", edge.direct) : ""});
    if (edge.papers > 0) {
      outcome.figures.push_back(beside(fmt::format("{}, of {:.1f} Mb/s", edge.to, bound),
                                       fmt::format("{:.1f} Mb/s", edge.papers), fmt::format("{:.2f} Mb/s", ours)));
    }
  }
  outcome.figures.push_back(
      at_least(fmt::format("rate over the path's minimum, least ({})", worst_at), "about 0.88", kOfMinimum, worst));
  if (advantage > 0) {
    outcome.figures.push_back(
        beside("rate over that of one TCP from the root, mean", "", fmt::format("{:.2f} x", advantage)));
  }
  const double carried = static_cast<double>(overlay.hop_bytes());
  const double content = static_cast<double>(size) * static_cast<double>(edges.size());
  outcome.figures.push_back(
      at_most("beyond content, all hops, both ways", "3 %", kBeyondMax, carried / content - 1, "%"));
  return outcome;
}

/// Rates of a chain of `hops` through daemons: of each host but the first, over `measured` after `before`.
struct ChainRates {
  std::vector<double> rates;
  Cost cost;
};
std::optional<ChainRates> chain(const std::vector<Hop>& hops, Duration before, Duration measured, std::uint64_t seed) {
  Overlay overlay(hops, seed);
  double fastest = 0;
  for (const Hop& hop : hops) fastest = std::max(fastest, hop.bits_per_second);
  // More than can be sent: nobody is done meanwhile.
  const double size = fastest / 8 * to_seconds(before + measured);
  if (!overlay.form() || !overlay.offer(0, static_cast<std::uint64_t>(size))) return std::nullopt;
  overlay.run_for(before + measured);
  ChainRates chain;
  for (const Hop& hop : hops) {
    chain.rates.push_back(overlay.course(overlay.client_at(hop.b)).rate(before, before + measured));
  }
  chain.cost = cost_of(overlay);
  return chain;
}

/// The same hop so many times.
std::vector<Hop> repeated(const Hop& hop, std::size_t count) {
  std::vector<Hop> hops(count, hop);
  for (std::size_t i = 0; i < count; ++i) {
    hops[i].a = fmt::format("h{:02}", i);
    hops[i].b = fmt::format("h{:02}", i + 1);
  }
  return hops;
}

void add_to(std::vector<double>& sums, const std::vector<double>& values, double share) {
  sums.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) sums[i] += share * values[i];
}

/// The share that each hop behind the first takes away, in the mean.
double loss_of_hop(const std::vector<double>& rates) {
  return 1 - std::pow(rates.back() / rates.front(), 1.0 / static_cast<double>(rates.size() - 1));
}

/// Section V-A: what a stream has over a path that loses segments.
double formula(Duration round_trip, double loss) {
  return sim::SegmentFlow::kSegmentBytes * 8 * std::sqrt(1.5) / (to_seconds(round_trip) * std::sqrt(loss));
}

std::size_t trials_of(std::size_t trials, double share) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::round(static_cast<double>(trials) * share)));
}

/// Of the experiments of Fig. 17 and 18: 40 Mb/s, 30 ms and a loss of 0.05 % on every hop.
const Hop kLossyHop{"", "", 40 * kMega, 30ms, sim::CongestionControl::reno, 0.0005};

}  // namespace

Outcome table1_bu(const Options& options) {
  return tree(options, {{"bu", "gt", 53.9, 47.8},
                        {"bu", "duke", 40.9, 35.6},
                        {"gt", "utk", 46.3},
                        {"gt", "arizona", 22.2},
                        {"gt", "ucla", 20.5},
                        {"duke", "cornell", 15.4},
                        {"duke", "berkeley", 9.4}});
}

Outcome table1_ucla(const Options& options) {
  return tree(options, {{"ucla", "berkeley", 30.3},
                        {"ucla", "arizona", 21.7},
                        {"ucla", "gt", 18.8, 17.8},
                        {"gt", "duke", 31.8, 17.8},
                        {"gt", "utk", 46.3},
                        {"arizona", "cornell", 19.0},
                        {"arizona", "bu", 16.0}});
}

Outcome table1_uw(const Options& options) {
  return tree(options, {{"uw", "ucla", 39.0, 0, 39.0},
                        {"uw", "berkeley", 38.4, 0, 38.4},
                        {"ucla", "arizona", 21.7, 0, 19.3},
                        {"arizona", "gt", 22.8, 0, 17.1},
                        {"gt", "utk", 46.3, 0, 12.8},
                        {"gt", "duke", 31.8, 0, 9.2},
                        {"gt", "cornell", 28.7, 0, 16.5},
                        {"gt", "bu", 27.0, 0, 8.7}});
}

Outcome slow_receiver(const Options& options) {
  constexpr double kRate = 40;
  constexpr double kCostMax = 0.01;
  const std::uint64_t size = scaled(kContent, options.share);
  const std::vector<std::string> fast{"a", "b", "c"};
  Outcome outcome;
  outcome.table.columns = {"receivers", "host", "seconds"};
  std::vector<double> seconds;
  for (const bool with_slow : {false, true}) {
    std::vector<Hop> hops{
        {"s", "a", kRate * kMega, 20ms}, {"s", "b", kRate * kMega, 20ms}, {"a", "c", kRate * kMega, 20ms}};
    if (with_slow) hops.push_back({"a", "slow", kRate / 100 * kMega, 20ms});
    Overlay overlay(hops, options.seed);
    if (!overlay.form() || !overlay.offer(0, size)) return failed("the cluster does not form");
    std::vector<std::size_t> receivers;
    for (const std::string& name : fast) receivers.push_back(overlay.client_at(name));
    if (!overlay.run_until_done(receivers, 0, from_seconds(2 * static_cast<double>(size) * 8 / (kRate * kMega) + 60))) {
      return failed("not all have got it");
    }
    double last = 0;
    for (std::size_t i = 0; i < fast.size(); ++i) {
      const double at = to_seconds(*overlay.course(receivers[i]).done());
      last = std::max(last, at);
      outcome.table.rows.push_back({with_slow ? "with a slow one" : "alone", fast[i], fmt::format("{:.2f}", at)});
    }
    seconds.push_back(last);
    outcome.cost.add(cost_of(overlay));
    if (!with_slow) continue;
    const Course& slow = overlay.course(overlay.client_at("slow"));
    const Duration end = slow.end();
    outcome.figures.push_back(at_least("the slow one's rate over that of its path meanwhile", "", kOfMinimum,
                                       slow.rate(end / 10 / kSample * kSample, end) / (kRate / 100 * kMega)));
  }
  outcome.figures.push_back(
      at_most("what a receiver at 1/100 costs the others", "nothing", kCostMax, seconds[1] / seconds[0] - 1, "%"));
  return outcome;
}

/// The figure's labels are not in the text that there is. These are values with which the paper's formula gives
/// its 22.2 and 9.0 Mb/s, for segments of 1,448 bytes.
Outcome detour(const Options& options) {
  const auto lossy = [](std::string a, std::string b, Duration delay, double loss) {
    return Hop{std::move(a), std::move(b), 100 * kMega, delay, sim::CongestionControl::reno, loss};
  };
  constexpr double kFirst = 0.00055, kSecond = 0.00102;
  const std::vector<Hop> direct{lossy("a", "c", 20ms, kFirst + kSecond)};
  const std::vector<Hop> by_b{lossy("a", "b", 10ms, kFirst), lossy("b", "c", 10ms, kSecond)};
  const std::size_t trials = trials_of(3, options.share);
  const Duration before = 20s, measured = std::max(kMeasuredMin, scaled(180s, options.share));
  double direct_rate = 0;
  std::vector<double> plain, ours;
  Outcome outcome;
  for (std::size_t i = 0; i < trials; ++i) {
    const std::uint64_t seed = options.seed + i;
    const double weight = 1 / static_cast<double>(trials);
    direct_rate += weight * tcp_chain(direct, kRelayBuffer, before, measured, seed).back();
    add_to(plain, tcp_chain(by_b, kRelayBuffer, before, measured, seed), weight);
    const auto rates = chain(by_b, before, measured, seed);
    if (!rates) return failed("the cluster does not form");
    add_to(ours, rates->rates, weight);
    outcome.cost.add(rates->cost);
  }
  outcome.table.columns = {"way", "formula_mbps", "measured_mbps"};
  outcome.table.rows = {
      {"direct", megabits(formula(40ms, kFirst + kSecond)), megabits(direct_rate)},
      {"detour, plain TCP", megabits(formula(20ms, kSecond)), megabits(plain.back())},
      {"detour, bulk channel", megabits(formula(20ms, kSecond)), megabits(ours.back())},
  };
  outcome.figures = {
      beside("direct TCP", "9.0 Mb/s", megabits(direct_rate) + " Mb/s"),
      beside("plain TCP over the detour", "", megabits(plain.back()) + " Mb/s"),
      beside("bulk channel over the detour", "22.2 Mb/s", megabits(ours.back()) + " Mb/s"),
      at_least("detour over direct", "2.47", 2, ours.back() / direct_rate),
  };
  return outcome;
}

/// Segments have 1,448 bytes where the paper's have 512; the buffers hold as many bytes as its 3,000 packets.
Outcome competing(const Options& options) {
  constexpr std::size_t kHops = 3, kBuffer = 3000 * 512;
  const std::vector<double> papers{4.27, 3.92, 3.62};
  const Hop hop{"", "", 44 * kMega, 10ms, sim::CongestionControl::reno, 0, 110'000, 10};
  const std::vector<Hop> hops = repeated(hop, kHops);
  const std::size_t trials = trials_of(6, options.share);
  const Duration before = 20s, measured = std::max(kMeasuredMin, scaled(180s, options.share));
  std::vector<double> plain, ours;
  Outcome outcome;
  for (std::size_t i = 0; i < trials; ++i) {
    const double weight = 1 / static_cast<double>(trials);
    add_to(plain, tcp_chain(hops, kBuffer, before, measured, options.seed + i), weight);
    const auto rates = chain(hops, before, measured, options.seed + i);
    if (!rates) return failed("the cluster does not form");
    add_to(ours, rates->rates, weight);
    outcome.cost.add(rates->cost);
  }
  outcome.table.columns = {"hops", "paper_mbps", "plain_mbps", "ours_mbps"};
  for (std::size_t i = 0; i < kHops; ++i) {
    outcome.table.rows.push_back(
        {fmt::format("{}", i + 1), fmt::format("{:.2f}", papers[i]), megabits(plain[i]), megabits(ours[i])});
    outcome.figures.push_back(beside(fmt::format("behind hop {} of the chain", i + 1),
                                     fmt::format("{:.2f} Mb/s", papers[i]), megabits(ours[i]) + " Mb/s"));
  }
  outcome.figures.push_back(beside("plain TCP chain, behind the last", "", megabits(plain.back()) + " Mb/s"));
  outcome.figures.push_back(at_most("loss of a hop", "9 %", kLossOfHopMax, loss_of_hop(ours), "%"));
  return outcome;
}

Outcome buffers(const Options& options) {
  constexpr std::size_t kHops = 4;
  const std::vector<Hop> hops = repeated(kLossyHop, kHops);
  // Plain chains are all alike; where hops go apart, what each of them has by chance takes longer to have a mean.
  const std::size_t plain_trials = trials_of(3, options.share), trials = trials_of(9, options.share);
  const Duration before = kUntilAllHaveBlocks;
  const Duration measured = std::max(kMeasuredMin, scaled(300s, options.share));
  Outcome outcome;
  outcome.table.columns = {"relays", "buffer_bytes"};
  for (std::size_t i = 1; i <= kHops; ++i) outcome.table.columns.push_back(fmt::format("hop{}_mbps", i));
  const auto add_row = [&](std::string relays, std::size_t bytes, const std::vector<double>& rates) {
    std::vector<std::string> row{std::move(relays), fmt::format("{}", bytes)};
    for (const double rate : rates) row.push_back(megabits(rate));
    outcome.table.rows.push_back(std::move(row));
  };
  std::vector<double> plain;
  for (const std::size_t bytes : {16u << 10, 64u << 10, 128u << 10, 256u << 10, 512u << 10, 1u << 20, 4u << 20}) {
    plain.clear();
    for (std::size_t i = 0; i < plain_trials; ++i) {
      const double weight = 1 / static_cast<double>(plain_trials);
      add_to(plain, tcp_chain(hops, bytes, before, measured, options.seed + i), weight);
    }
    add_row("plain", bytes, plain);
  }
  std::vector<double> ours;
  for (std::size_t i = 0; i < trials; ++i) {
    const auto rates = chain(hops, before, measured, options.seed + i);
    if (!rates) return failed("the cluster does not form");
    add_to(ours, rates->rates, 1 / static_cast<double>(trials));
    outcome.cost.add(rates->cost);
  }
  add_row("ours", kRelayBuffer, ours);
  outcome.figures = {
      beside("plain TCP chain with 4 MiB, behind hop 4", "", megabits(plain.back()) + " Mb/s"),
      beside("bulk channel with 1 MiB, behind hop 4", "", megabits(ours.back()) + " Mb/s"),
      at_most("loss of a hop", "9 %", kLossOfHopMax, loss_of_hop(ours), "%"),
  };
  return outcome;
}

Outcome depth(const Options& options) {
  constexpr std::size_t kHops = 16;
  constexpr double kKeptMin = 0.8;
  const std::vector<Hop> hops = repeated(kLossyHop, kHops);
  const std::size_t trials = trials_of(2, options.share);
  const Duration before = kUntilAllHaveBlocks;
  const Duration measured = std::max(kMeasuredMin, scaled(480s, options.share));
  const double weight = 1 / static_cast<double>(trials);
  std::vector<double> plain, ours;
  Outcome outcome;
  for (std::size_t i = 0; i < trials; ++i) {
    add_to(plain, tcp_chain(hops, kRelayBuffer, before, measured, options.seed + i), weight);
    const auto rates = chain(hops, before, measured, options.seed + i);
    if (!rates) return failed("the cluster does not form");
    add_to(ours, rates->rates, weight);
    outcome.cost.add(rates->cost);
  }
  outcome.table.columns = {"hops", "plain_mbps", "ours_mbps"};
  for (std::size_t i = 0; i < kHops; ++i) {
    outcome.table.rows.push_back({fmt::format("{}", i + 1), megabits(plain[i]), megabits(ours[i])});
  }
  outcome.figures = {
      beside("bulk channel, behind hop 1", "", megabits(ours.front()) + " Mb/s"),
      beside("bulk channel, behind hop 16", "", megabits(ours.back()) + " Mb/s"),
      beside("plain TCP chain, behind hop 16", "", megabits(plain.back()) + " Mb/s"),
      at_least("what 16 hops keep", "exponential", kKeptMin, ours.back() / ours.front()),
  };
  return outcome;
}

}  // namespace spindled::scenarios::bulk
