#include "bench/sim/scenarios/changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/sim/scenarios/grid.h"

namespace spindled::scenarios {

namespace {

constexpr double kPacketBits = 1040 * 8;  // a message of 1,000 bytes with its head
constexpr double kFast = 400e6;           // from this on a second is many packets to simulate
constexpr std::size_t kFastMessageBytes = 10'000;
/// How exact a share of what passes can be measured: a window has so many packets.
constexpr double kWindowPackets = 100;
constexpr double kOwnPackets = 50;  // of one sender
constexpr Duration kWindowMin = 100ms, kOwnWindowMin = 5ms;
constexpr std::size_t kOthers = 4;
constexpr int kFlaps = 4;

bool is_fast(const ChangeCell& cell) { return cell.bits_per_second > kFast; }

Duration time_of(double packets, double bits_per_second) {
  return from_seconds(packets * kPacketBits / bits_per_second);
}

Duration bin_of(const ChangeCell& cell) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::clamp<Duration>(cell.round_trip() / 10, 1ms, 10ms));
}

/// Steps begin and windows end with a bin, whatever the cell.
Duration rounded(Duration duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(duration) / kBin * kBin + kBin;
}
Duration in_bins(const ChangeCell& cell, Duration duration) {
  const Duration bin = bin_of(cell);
  return (duration + bin - 1ns) / bin * bin;
}

std::vector<Step> capacity_steps(const ChangeCell& cell) {
  const double full = cell.bits_per_second;
  const Duration trip = cell.round_trip();
  const Duration must = std::max<Duration>(500ms, 20 * trip);
  const Duration least = is_fast(cell) ? 1s : 5s;
  Duration now = rounded(std::max({least, 2 * must, time_of(1000, full)}));
  std::vector<Step> steps;
  const auto add = [&](const char* name, double capacity, Duration length) {
    Step step;
    step.name = name;
    step.at = now;
    step.before = steps.empty() ? full : steps.back().after;
    step.after = capacity;
    step.must = must;
    step.window = in_bins(cell, std::max({kWindowMin, trip, time_of(kWindowPackets, capacity)}));
    now += rounded(length > 0s ? length : std::max({least, must + must / 2, must + 3 * step.window}));
    step.until = now;
    steps.push_back(step);
  };
  add("1/2", full / 2, 0s);
  add("x2", full, 0s);
  add("1/4", full / 4, 0s);
  add("x4", full, 0s);
  // Every five seconds; on a fast path sooner, if all can have become right by then.
  const Duration interval = is_fast(cell) ? std::clamp<Duration>(2 * must, 1s, 5s) : Duration(5s);
  for (int i = 1; i <= kFlaps; ++i) add("flaps", i % 2 == 1 ? full / 2 : full, i == kFlaps ? Duration(0s) : interval);
  return steps;
}

std::vector<Step> sender_steps(const ChangeCell& cell) {
  const double full = cell.bits_per_second;
  const Duration trip = cell.round_trip();
  const Duration least = is_fast(cell) ? 1s : 5s;
  std::vector<Step> steps;
  Step alone;
  alone.name = "alone";
  alone.before = alone.after = full;
  alone.must = std::max<Duration>(20ms, 6 * trip);
  alone.window = in_bins(cell, std::max({kOwnWindowMin, trip / 2, time_of(kOwnPackets, full)}));
  alone.senders = 1;
  alone.until = rounded(std::max({least, 30 * trip, 20 * alone.window}));
  Step beside;
  beside.name = "beside others";
  beside.before = beside.after = full;
  beside.must = 1s;
  beside.traffic_class = 2;
  beside.senders = kOthers + 2;
  const double share = full / static_cast<double>(beside.senders);
  beside.window = in_bins(cell, std::max({kWindowMin, trip, time_of(kOwnPackets, share)}));
  // The four others begin in between, and have become equal by then.
  beside.at = alone.until + rounded(std::max({least, 40 * trip, time_of(1000, full)}));
  beside.until = beside.at + rounded(std::max({least, 20 * trip, beside.must + 3 * beside.window}));
  return {alone, beside};
}

}  // namespace

std::string_view to_string(ChangeKind kind) { return kind == ChangeKind::capacity ? "capacity" : "senders"; }

std::string ChangeCell::name() const {
  return fmt::format("{}-{}-{:g}ms", to_string(kind), rate_name(bits_per_second), to_seconds(delay) * 1e3);
}

std::vector<ChangeCell> change_cells() {
  std::vector<ChangeCell> cells;
  for (const ChangeKind kind : {ChangeKind::capacity, ChangeKind::senders}) {
    for (const double mega : {0.25, 2.0, 10.0, 100.0, 1'000.0, 10'000.0}) {
      for (const Duration delay : {Duration(100us), Duration(10ms), Duration(50ms), Duration(100ms)}) {
        const Duration longest = mega > 1'000 ? 10ms : mega > 100 ? 50ms : 100ms;
        if (delay <= longest) cells.push_back({kind, mega * 1e6, delay});
      }
    }
  }
  return cells;
}

std::vector<Step> steps_of(const ChangeCell& cell) {
  return cell.kind == ChangeKind::capacity ? capacity_steps(cell) : sender_steps(cell);
}

Scenario scenario_of(const ChangeCell& cell, const AdmissionConfig& admission) {
  const bool has_many = cell.kind == ChangeKind::capacity;
  const std::size_t bytes = is_fast(cell) ? kFastMessageBytes : kMessageBytes;
  const Cell network{Shape::single, cell.bits_per_second, cell.delay, has_many ? 10u : kOthers + 2, has_many ? 5u : 1u,
                     bytes};
  const std::vector<Step> steps = steps_of(cell);
  Scenario scenario = scenario_of(network, admission);
  scenario.id = scenario.title = cell.name();
  scenario.end = steps.back().until;
  scenario.settle = 0s;
  scenario.bin = bin_of(cell);
  if (has_many) {
    scenario.classes.front().spread = std::min<Duration>(1s, steps.front().at / 4);
    for (const Step& step : steps) scenario.changes.push_back({step.at, 0, step.after});
    return scenario;
  }
  const Direction bottleneck = scenario.classes.front().bottleneck;
  scenario.classes = {{"alone", bottleneck, 0s, 0s},
                      {"others", bottleneck, steps.front().until, 500ms},
                      {"new", bottleneck, steps.back().at, 0s}};
  for (std::size_t i = 0; i < scenario.senders.size(); ++i) {
    scenario.senders[i].traffic_class = i == 0 ? 0 : i <= kOthers ? 1 : 2;
  }
  return scenario;
}

}  // namespace spindled::scenarios
