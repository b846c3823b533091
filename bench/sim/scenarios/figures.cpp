#include "bench/sim/scenarios/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spindled::scenarios {

namespace {

constexpr double kReferenceCapacity = 2e6;  // what the share of control traffic refers to
constexpr Duration kWindow = 1s;
constexpr Duration kStays = 5s;
constexpr double kNear = 0.1;

double per_second(std::uint64_t bytes, const Phase& phase) {
  return static_cast<double>(bytes) * 8 / to_seconds(phase.to - phase.from);
}

/// Whether all that send at `at` have, from `from` to `to`, about the share that is theirs at that time.
bool is_near(const Result& result, Duration from, Duration to, Duration at) {
  const std::vector<TrafficClass>& classes = result.scenario.classes;
  const auto sends = [&](const TrafficClass& each) { return each.start < at; };
  const auto sending = static_cast<double>(std::count_if(classes.begin(), classes.end(), sends));
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (!sends(classes[i])) continue;
    const double share = capacity_of(result.scenario, classes[i].bottleneck, at) / sending;
    if (std::abs(rate_of(result, i, {from, from, to}).framed - share) > kNear * share) return false;
  }
  return true;
}

}  // namespace

Rate rate_of(const Result& result, std::size_t traffic_class, const Phase& phase) {
  const LinkSeries& series = result.link(result.scenario.classes[traffic_class].bottleneck);
  const Bin sum = series.sum(phase.from, phase.to);
  if (sum.classes.empty()) return {};
  const Passed& passed = sum.classes[traffic_class];
  return {per_second(passed.bytes, phase), per_second(passed.messages * result.scenario.message_bytes, phase)};
}

double capacity_of(const Scenario& scenario, const Direction& direction, Duration at) {
  const auto path = std::find_if(scenario.paths.begin(), scenario.paths.end(), [&](const Path& each) {
    return Direction{each.a, each.b} == direction || Direction{each.b, each.a} == direction;
  });
  double capacity = path->bits_per_second;
  for (const CapacityChange& change : scenario.changes) {
    const bool is_this = change.path == static_cast<std::size_t>(path - scenario.paths.begin());
    if (is_this && change.at <= at) capacity = change.bits_per_second;
  }
  return capacity;
}

LinkUse use_of(const Scenario& scenario, const LinkSeries& series, const Phase& phase) {
  const Bin sum = series.sum(phase.from, phase.to);
  LinkUse use;
  use.capacity = capacity_of(scenario, series.direction, phase.from);
  std::uint64_t all = 0;
  for (const std::uint64_t bytes : sum.bytes) all += bytes;
  use.used = per_second(all, phase) / use.capacity;
  use.queue_max = sum.queue_max;
  use.queue_mean = sum.samples == 0 ? 0 : static_cast<double>(sum.queue_sum) / sum.samples;
  for (std::size_t kind = 0; kind < kFrameKinds; ++kind) use.kinds[kind] = per_second(sum.bytes[kind], phase);
  return use;
}

Spread spread_of(const Result& result, std::size_t traffic_class, const Phase& phase) {
  std::vector<double> rates;
  for (const ClientSeries& client : result.clients) {
    if (client.traffic_class == traffic_class) rates.push_back(client.rate(phase.from, phase.to));
  }
  Spread spread;
  for (const double rate : rates) spread.mean += rate / static_cast<double>(rates.size());
  double variance = 0;
  for (const double rate : rates) variance += std::pow(rate - spread.mean, 2) / static_cast<double>(rates.size());
  spread.variation = spread.mean == 0 ? 0 : std::sqrt(variance) / spread.mean;
  return spread;
}

std::uint32_t queue_max_of(const Result& result) {
  std::uint32_t most = 0;
  for (const LinkSeries& series : result.links) {
    most = std::max(most, series.sum(0s, result.scenario.end).queue_max);
  }
  return most;
}

std::optional<Duration> adaptation_time(const Result& result, Duration at, Duration until) {
  for (Duration now = at + kBin; now + kStays <= until; now += kBin) {
    if (is_near(result, now - kWindow, now, now) && is_near(result, now, now + kStays, now)) return now - at;
  }
  return std::nullopt;
}

std::vector<std::size_t> senders_of(const Scenario& scenario) {
  std::vector<std::size_t> counts;
  for (const Phase& phase : phases_of(scenario)) {
    counts.push_back(static_cast<std::size_t>(std::count_if(
        scenario.senders.begin(), scenario.senders.end(),
        [&](const Sender& sender) { return scenario.classes[sender.traffic_class].start <= phase.start; })));
  }
  return counts;
}

// The table.

namespace {

std::string mega(double bits_per_second) { return fmt::format("{:.3f} Mb/s", bits_per_second / 1e6); }
std::string percent(double share) { return fmt::format("{:.2f} %", share * 100); }

/// Bits a second of prices on the link that has the most of them.
double price_rate(const std::vector<LinkSeries>& links, const Scenario& scenario, const Phase& phase) {
  double most = 0;
  for (const LinkSeries& series : links) most = std::max(most, use_of(scenario, series, phase).of(FrameKind::price));
  return most;
}

class Table {
 public:
  void begin(std::string scenario) { scenario_ = std::move(scenario); }
  void add(std::string what, std::string paper, std::string must, std::string ours, bool ok) {
    figures_.push_back({scenario_, std::move(what), std::move(paper), std::move(must), std::move(ours), ok});
  }
  void add_queue(const Result& result, std::string paper, std::uint32_t limit) {
    const std::uint32_t most = queue_max_of(result);
    add("longest queue, packets", std::move(paper), fmt::format("<= {}", limit), std::to_string(most), most <= limit);
  }
  void add_prices(const Result& result) {
    const double congested = price_rate(result.links, result.scenario, phases_of(result.scenario).back());
    const double idle = price_rate(result.idle, result.scenario, {0s, 0s, kIdle});
    add("prices on a link, of 2 Mb/s", "0.5 %", "<= 0.50 %", percent(congested / kReferenceCapacity),
        congested <= 0.005 * kReferenceCapacity);
    add("the same, nobody sends", "0.01 %", "<= 0.01 %", percent(idle / kReferenceCapacity),
        idle <= 0.0001 * kReferenceCapacity);
  }
  std::vector<Figure> take() { return std::move(figures_); }

 private:
  std::string scenario_;
  std::vector<Figure> figures_;
};

void add_scenario_1(Table& table, const Result& result) {
  const Phase steady = phases_of(result.scenario).back();
  const double acfg = rate_of(result, 0, steady).framed, cdg = rate_of(result, 1, steady).framed;
  table.add("class acfg on e-f", "1.977 Mb/s", ">= 1.977 Mb/s", mega(acfg), acfg >= 1.977e6);
  table.add("class cdg on b-d", "0.992 Mb/s", ">= 0.992 Mb/s", mega(cdg), cdg >= 0.992e6);
  table.add_queue(result, "about 150", 150);
  table.add_prices(result);
}

void add_scenario_2a(Table& table, const Result& result) {
  const Phase steady = phases_of(result.scenario).back();
  const double acfg = rate_of(result, 0, steady).framed, cdg = rate_of(result, 1, steady).framed;
  const double sum = acfg + cdg, apart = std::abs(acfg - cdg) / std::max(acfg, cdg);
  table.add("class acfg on e-g", "0.997 Mb/s", "", mega(acfg), true);
  table.add("class cdg on e-g", "0.998 Mb/s", "", mega(cdg), true);
  table.add("both", "1.995 Mb/s", ">= 1.960 Mb/s", mega(sum), sum >= 1.96e6);
  table.add("how far apart", "0.03 %", "<= 1 %", percent(apart), apart <= 0.01);
  for (std::size_t i = 0; i < 2; ++i) {
    const double variation = spread_of(result, i, steady).variation;
    table.add(fmt::format("variation of the clients of {}", result.scenario.classes[i].name), "4.6 %", "<= 3 %",
              percent(variation), variation <= 0.03);
  }
  table.add_queue(result, "about 150", 150);
  table.add_prices(result);
}

void add_scenario_2b(Table& table, const Result& result) {
  const Duration late = result.scenario.classes[1].start, halved = result.scenario.changes[0].at;
  const auto add = [&](const char* what, Duration at, Duration until) {
    const std::optional<Duration> time = adaptation_time(result, at, until);
    table.add(what, "< 5 s", "<= 2 s", time ? fmt::format("{:.1f} s", to_seconds(*time)) : "never",
              time && *time <= 2s);
  };
  add("shares are right after the late start", late, halved);
  add("shares are right after the halving", halved, result.scenario.end);
  table.add_queue(result, "no spike", 150);
}

void add_scenario_3(Table& table, const Result& result) {
  const Phase steady = phases_of(result.scenario).back();
  double sum = 0;
  for (std::size_t i = 0; i < result.scenario.classes.size(); ++i) sum += rate_of(result, i, steady).framed;
  table.add("all six flows", "9.677 Mb/s", ">= 9.7 Mb/s", mega(sum), sum >= 9.7e6);
}

/// What all 800 senders reach is required; what fewer do is for comparison.
void add_scenario_4(Table& table, const Result& result) {
  const std::vector<Phase> phases = phases_of(result.scenario);
  const std::vector<std::size_t> senders = senders_of(result.scenario);
  const LinkSeries& bottleneck = result.link(result.scenario.classes.front().bottleneck);
  std::vector<double> prices;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    double rate = 0;
    for (std::size_t k = 0; k <= i; ++k) rate += rate_of(result, k, phases[i]).framed;
    const std::uint32_t queue = bottleneck.sum(phases[i].start, phases[i].to).queue_max;
    const bool all = senders[i] == 800;
    table.add(fmt::format("{} senders on a-b", senders[i]), all ? "1.979 Mb/s" : "", all ? ">= 1.98 Mb/s" : "",
              mega(rate), !all || rate >= 1.98e6);
    table.add(fmt::format("{} senders, longest queue, packets", senders[i]), all ? "170" : "", all ? "<= 150" : "",
              std::to_string(queue), !all || queue <= 150);
    prices.push_back(price_rate(result.links, result.scenario, phases[i]));
  }
  table.add_prices(result);
  if (phases.size() < 2) return;
  table.add(fmt::format("prices on a link, {} and {} senders", senders.front(), senders.back()), "the same",
            "within 10 %", fmt::format("{:.0f} and {:.0f} b/s", prices.front(), prices.back()),
            std::abs(prices.front() - prices.back()) <= 0.1 * std::max(prices.front(), prices.back()));
}

}  // namespace

std::vector<Figure> figures_of(const std::vector<Result>& results) {
  Table table;
  for (const Result& result : results) {
    const std::string& id = result.scenario.id;
    table.begin(id);
    if (!result.error.empty()) {
      table.add("runs to its end", "", "yes", "no", false);
      continue;
    }
    if (id == "1") add_scenario_1(table, result);
    if (id == "2a") add_scenario_2a(table, result);
    if (id == "2b") add_scenario_2b(table, result);
    if (id == "3") add_scenario_3(table, result);
    if (id == "4") add_scenario_4(table, result);
  }
  return table.take();
}

}  // namespace spindled::scenarios
