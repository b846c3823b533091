#include "bench/sim/scenarios/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/sim/scenarios/figures.h"
#include "bench/sim/scenarios/tcp_alone.h"

namespace spindled::scenarios {

namespace {

constexpr double kPacketBits = 1040 * 8;  // a message of 1,000 bytes with its head
constexpr double kPacketsMax = 2.5e5;
constexpr double kRoundTripsMin = 100;
/// Where a hundred round trips are too many packets to simulate.
constexpr double kRoundTripsFew = 20;
constexpr double kPacketsMost = 1.5e6;
constexpr std::size_t kChainDaemons = 4;
constexpr double kMega = 1e6;

/// The longest way from a sender to a receiver, and back.
Duration round_trip(const Cell& cell) {
  const int paths = cell.shape == Shape::chain ? kChainDaemons : cell.shape == Shape::series ? 3 : 2;
  return 2 * paths * cell.delay;
}

}  // namespace

std::string rate_name(double bits_per_second) {
  if (bits_per_second >= 1e9) return fmt::format("{:g}G", bits_per_second / 1e9);
  return bits_per_second >= 1e6 ? fmt::format("{:g}M", bits_per_second / 1e6)
                                : fmt::format("{:g}K", bits_per_second / 1e3);
}

std::string_view to_string(Shape shape) {
  constexpr std::string_view kNames[] = {"single", "chain", "series"};
  return kNames[static_cast<std::size_t>(shape)];
}

std::string Cell::name() const {
  std::string name = fmt::format("{}-{}-{:g}ms-{}x{}-{}B", to_string(shape), rate_name(bits_per_second),
                                 to_seconds(delay) * 1e3, daemons, senders, message_bytes);
  if (congestion_control == sim::CongestionControl::none) return name;
  return name + fmt::format("-{:g}%-{}", loss * 100, to_string(congestion_control));
}

Duration Cell::length() const {
  if (loss > 0) return 300s;
  const double packets_per_s = bits_per_second / kPacketBits;
  const double trip_s = to_seconds(round_trip(*this));
  const double wanted = std::max({1.0, kPacketsMax / packets_per_s, kRoundTripsMin * trip_s});
  const double bound = std::max({1.0, kPacketsMost / packets_per_s, kRoundTripsFew * trip_s});
  const double seconds = std::min({60.0, wanted, bound});
  return std::chrono::ceil<std::chrono::milliseconds>(Duration(from_seconds(seconds / 3))) / kBin * kBin * 3 + 3 * kBin;
}

std::vector<Cell> all_cells() {
  std::vector<Cell> cells;
  const auto add = [&](Cell cell) {
    const bool is_known =
        std::any_of(cells.begin(), cells.end(), [&](const Cell& each) { return each.name() == cell.name(); });
    if (!is_known) cells.push_back(cell);
  };
  for (const double mega : {0.25, 2.0, 10.0, 50.0, 100.0, 400.0, 1'000.0}) {
    for (const Duration delay : {Duration(100us), Duration(10ms), Duration(25ms), Duration(100ms), Duration(150ms)}) {
      if (mega > 400 && delay > 25ms) continue;  // more packets than can be simulated in the time
      add({Shape::single, mega * kMega, delay, 10, 5, kMessageBytes});
    }
  }
  add({Shape::single, 10'000 * kMega, 100us, 10, 5, 10'000});  // messages of 1,000 bytes are too many
  for (const double mega : {0.25, 2.0, 10.0, 100.0}) {
    for (const auto& [daemons, senders] : {std::pair{1, 1}, {1, 20}, {2, 1}, {2, 20}, {10, 1}, {50, 2}, {50, 20}}) {
      if (mega < 1 && daemons * senders > 100) continue;  // a message every half a minute
      add({Shape::single, mega * kMega, 10ms, static_cast<std::size_t>(daemons), static_cast<std::size_t>(senders),
           kMessageBytes});
    }
  }
  for (const double mega : {2.0, 10.0, 100.0, 400.0}) {
    for (const std::size_t bytes : {100u, 10'000u, 100'000u}) {
      if (mega > 100 && bytes < 1000) continue;
      add({Shape::single, mega * kMega, 10ms, 10, 5, bytes});
    }
  }
  for (const Shape shape : {Shape::chain, Shape::series}) {
    for (const double mega : {2.0, 10.0, 100.0}) {
      for (const Duration delay : {Duration(100us), Duration(10ms), Duration(100ms)}) {
        add({shape, mega * kMega, delay, shape == Shape::chain ? kChainDaemons : 10, 5, kMessageBytes});
      }
    }
  }
  return cells;
}

std::vector<Cell> some_cells() {
  std::vector<Cell> cells;
  for (const auto& [mega, delay] : {std::pair{0.25, Duration(10ms)},
                                    {2.0, Duration(10ms)},
                                    {10.0, Duration(100us)},
                                    {10.0, Duration(10ms)},
                                    {10.0, Duration(100ms)},
                                    {100.0, Duration(10ms)}}) {
    cells.push_back({Shape::single, mega * kMega, delay, 10, 5, kMessageBytes});
  }
  cells.push_back({Shape::single, 10 * kMega, 10ms, 1, 1, kMessageBytes});
  cells.push_back({Shape::single, 10 * kMega, 10ms, 50, 2, kMessageBytes});
  cells.push_back({Shape::single, 10 * kMega, 10ms, 10, 5, 10'000});
  cells.push_back({Shape::chain, 10 * kMega, 10ms, kChainDaemons, 5, kMessageBytes});
  cells.push_back({Shape::series, 10 * kMega, 10ms, 10, 5, kMessageBytes});
  return cells;
}

std::vector<Cell> lossy_cells() {
  std::vector<Cell> cells;
  for (const sim::CongestionControl control : {sim::CongestionControl::reno, sim::CongestionControl::cubic}) {
    for (const double mega : {10.0, 100.0}) {
      for (const Duration delay : {Duration(10ms), Duration(50ms)}) {
        for (const double loss : {0.001, 0.01}) {
          cells.push_back({Shape::single, mega * kMega, delay, 10, 5, kMessageBytes, loss, control});
        }
      }
    }
  }
  return cells;
}

Scenario scenario_of(const Cell& cell, const AdmissionConfig& admission) {
  Scenario scenario;
  scenario.id = cell.name();
  scenario.title = cell.name();
  scenario.message_bytes = cell.message_bytes;
  scenario.end = cell.length();
  scenario.settle = scenario.end / 3;
  scenario.node.admission = admission;
  const double product = cell.bits_per_second / 8 * to_seconds(round_trip(cell));
  // What bounds windows is not what is looked at: an administrator raises it for such a path.
  scenario.window_max = std::max<std::size_t>(6u << 20, static_cast<std::size_t>(4 * product));
  SessionConfig& session = scenario.node.session;
  session.send_window_bytes = std::max(session.send_window_bytes, static_cast<std::size_t>(4 * product));
  OrderConfig& order = scenario.node.order;
  order.retention_bytes_max = std::max(order.retention_bytes_max, 2 * session.send_window_bytes);

  const Duration spread = std::min<Duration>(1s, scenario.end / 10);
  const auto add_senders = [&](std::size_t traffic_class, const std::string& daemon, const std::string& group) {
    for (std::size_t i = 0; i < cell.senders; ++i) scenario.senders.push_back({traffic_class, daemon, group});
  };
  if (cell.shape == Shape::chain) {
    const auto daemon = [](std::size_t i) { return fmt::format("d{}", i); };
    for (std::size_t i = 0; i < cell.daemons; ++i) {
      const bool is_last = i + 1 == cell.daemons;
      scenario.paths.push_back({daemon(i), daemon(i + 1), is_last ? cell.bits_per_second : 0, cell.delay});
      add_senders(0, daemon(i), "all");
    }
    const Direction bottleneck{daemon(cell.daemons - 1), daemon(cell.daemons)};
    scenario.classes = {{"all", bottleneck, 0s, spread}};
    scenario.receivers = {{bottleneck.to, {"all"}}};
    scenario.watched = {bottleneck, {bottleneck.to, bottleneck.from}, {daemon(1), daemon(0)}};
    return scenario;
  }
  scenario.paths.push_back({"x", "y", cell.bits_per_second, cell.delay, cell.congestion_control, cell.loss});
  scenario.classes = {{"near", {"x", "y"}, 0s, spread}};
  scenario.receivers = {{"y", {"near"}}};
  scenario.watched = {{"x", "y"}, {"y", "x"}, {"x", "s00"}};
  const bool has_second = cell.shape == Shape::series;
  if (has_second) {
    scenario.paths.push_back({"y", "z", cell.bits_per_second / 4, cell.delay});
    scenario.classes.push_back({"far", {"y", "z"}, 0s, spread});
    scenario.receivers.push_back({"z", {"far"}});
    scenario.watched.push_back({"y", "z"});
  }
  for (std::size_t i = 0; i < cell.daemons; ++i) {
    const std::string daemon = fmt::format("s{:02}", i);
    scenario.paths.push_back({"x", daemon, 0, cell.delay});
    const bool is_far = has_second && i % 2 == 1;
    add_senders(is_far ? 1 : 0, daemon, is_far ? "far" : "near");
  }
  return scenario;
}

bool CellOutcome::is_long_enough() const {
  const double packets = rate / kPacketBits * to_seconds(cell.length()) * 2 / 3;
  const double each = packets * 1000 / static_cast<double>(std::max<std::size_t>(cell.message_bytes, 1000)) /
                      static_cast<double>(cell.daemons * cell.senders);
  return each >= 400;
}

CellOutcome outcome_of(const Cell& cell, const Result& result) {
  CellOutcome outcome;
  outcome.cell = cell;
  outcome.error = result.error;
  outcome.cpu_seconds = result.cpu_seconds;
  if (!result.error.empty()) return outcome;
  const Scenario& scenario = result.scenario;
  const Phase steady = phases_of(scenario).back();
  outcome.used = 1;
  outcome.rate = cell.loss > 0 ? tcp_alone(scenario.paths.front(), scenario.window_max) : cell.bits_per_second;
  for (std::size_t i = 0; i < scenario.classes.size(); ++i) {
    const LinkSeries& series = result.link(scenario.classes[i].bottleneck);
    const LinkUse use = use_of(scenario, series, steady);
    const Bin sum = series.sum(steady.from, steady.to);
    const double bits_per_s = use.capacity * outcome.rate / cell.bits_per_second;
    const double bytes_per_s = bits_per_s / 8;
    outcome.used = std::min(outcome.used, use.used * use.capacity / bits_per_s);
    outcome.queue_packets = std::max(outcome.queue_packets, use.queue_mean);
    outcome.queue_most_packets = std::max<double>(outcome.queue_most_packets, use.queue_max);
    if (sum.samples != 0) {
      const double mean = static_cast<double>(sum.queue_bytes_sum) / sum.samples;
      outcome.queue_s = std::max(outcome.queue_s, mean / bytes_per_s);
      outcome.queue_most_s = std::max(outcome.queue_most_s, static_cast<double>(sum.queue_bytes_max) / bytes_per_s);
    }
    outcome.variation = std::max(outcome.variation, spread_of(result, i, steady).variation);
  }
  for (const LinkSeries& series : result.links) {
    const double prices = use_of(scenario, series, steady).of(FrameKind::price);
    outcome.prices = std::max(outcome.prices, prices / cell.bits_per_second);
  }
  return outcome;
}

namespace {
double median_used(const std::vector<CellOutcome>& outcomes) {
  std::vector<double> used;
  for (const CellOutcome& each : outcomes) used.push_back(each.used);
  std::nth_element(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2), used.end());
  return used.empty() ? 0 : used[used.size() / 2];
}
}  // namespace

std::string table_of(const std::vector<CellOutcome>& outcomes) {
  std::string text = fmt::format("{:37} {:>6} {:>8} {:>8} {:>17} {:>17} {:>10} {:>8}\n", "cell", "s", "Mb/s", "used",
                                 "queue ms, packets", "most ms, packets", "variation", "prices");
  for (const CellOutcome& each : outcomes) {
    if (!each.error.empty()) {
      text += fmt::format("{:37} {}\n", each.cell.name(), each.error);
      continue;
    }
    std::vector<std::string> wrong;
    if (!each.is_used()) wrong.push_back("used");
    if (!each.is_short()) wrong.push_back("queue");
    if (!each.is_bounded()) wrong.push_back("most");
    if (!each.is_equal()) wrong.push_back("variation");
    if (!each.is_quiet()) wrong.push_back("prices");
    text += fmt::format("{:37} {:6.1f} {:8.2f} {:6.2f} % {:8.1f} {:8.1f} {:8.1f} {:8.0f} {:8.2f} % {:6.3f} %  {}\n",
                        each.cell.name(), to_seconds(each.cell.length()), each.rate / 1e6, each.used * 100,
                        each.queue_s * 1e3, each.queue_packets, each.queue_most_s * 1e3, each.queue_most_packets,
                        each.variation * 100, each.prices * 100, fmt::join(wrong, ", "));
  }
  const auto ok = std::count_if(outcomes.begin(), outcomes.end(), [](const auto& each) { return each.is_ok(); });
  text += fmt::format("{} of {} cells are as they should be; the median cell is used at {:.2f} %\n", ok,
                      outcomes.size(), median_used(outcomes) * 100);
  return text;
}

std::string csv_of(const std::vector<CellOutcome>& outcomes) {
  std::string text =
      "shape,bits_per_second,delay_ms,daemons,senders,message_bytes,loss,tcp,seconds,rate,used,queue_ms,queue_packets,"
      "queue_most_ms,"
      "queue_most_packets,variation,prices,ok,error\n";
  for (const CellOutcome& each : outcomes) {
    const Cell& cell = each.cell;
    text += fmt::format(
        "{},{:.0f},{:g},{},{},{},{:g},{},{:.1f},{:.0f},{:.5f},{:.3f},{:.2f},{:.3f},{:.0f},{:.5f},{:.6f},{},{}\n",
        to_string(cell.shape), cell.bits_per_second, to_seconds(cell.delay) * 1e3, cell.daemons, cell.senders,
        cell.message_bytes, cell.loss, to_string(cell.congestion_control), to_seconds(cell.length()), each.rate,
        each.used, each.queue_s * 1e3, each.queue_packets, each.queue_most_s * 1e3, each.queue_most_packets,
        each.variation, each.prices, each.is_ok() ? 1 : 0, each.error);
  }
  return text;
}

std::string json_of(std::uint64_t seed, const std::vector<CellOutcome>& outcomes) {
  std::vector<std::string> lines;
  for (const CellOutcome& each : outcomes) {
    const Cell& cell = each.cell;
    lines.push_back(fmt::format(
        R"({{"shape": "{}", "bits_per_second": {:.0f}, "delay_ms": {:g}, "daemons": {}, "senders": {}, )"
        R"("message_bytes": {}, "loss": {:g}, "tcp": "{}", "seconds": {:.1f}, "rate": {:.0f}, "used": {:.5f}, )"
        R"("queue_ms": {:.3f}, "queue_packets": {:.2f}, )"
        R"("queue_most_ms": {:.3f}, "queue_most_packets": {:.0f}, "variation": {:.5f}, "prices": {:.6f}, "ok": {}, )"
        R"("error": "{}", "processor_s": {:.1f}}})",
        to_string(cell.shape), cell.bits_per_second, to_seconds(cell.delay) * 1e3, cell.daemons, cell.senders,
        cell.message_bytes, cell.loss, to_string(cell.congestion_control), to_seconds(cell.length()), each.rate,
        each.used, each.queue_s * 1e3, each.queue_packets, each.queue_most_s * 1e3, each.queue_most_packets,
        each.variation, each.prices, each.is_ok(), each.error, each.cpu_seconds));
  }
  return fmt::format("{{\"seed\": {}, \"median_used\": {:.5f}, \"cells\": [\n  {}\n]}}\n", seed, median_used(outcomes),
                     fmt::join(lines, ",\n  "));
}

}  // namespace spindled::scenarios
