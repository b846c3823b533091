#include "bench/sim/scenarios/change_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "bench/sim/scenarios/figures.h"

namespace spindled::scenarios {

namespace {

constexpr Duration::rep kSeriesLines = 1000;

/// Whether `a` is further from what it must reach than `b`.
bool is_worse(const StepOutcome& a, const StepOutcome& b) {
  if (a.has_time != b.has_time) return a.has_time;
  if (!a.right_after || !b.right_after) return !a.right_after && b.right_after.has_value();
  return *a.right_after > *b.right_after;
}

/// Flaps as one: the latest to be right, and the longest queue for what is allowed.
std::vector<StepOutcome> lines_of(const ChangeOutcome& outcome) {
  std::vector<StepOutcome> lines;
  for (const StepOutcome& each : outcome.steps) {
    if (lines.empty() || lines.back().step.name != each.step.name) {
      lines.push_back(each);
      continue;
    }
    StepOutcome& line = lines.back();
    const bool is_longer =
        std::pair(!each.is_bounded(), each.most.seconds) > std::pair(!line.is_bounded(), line.most.seconds);
    const StepOutcome queue = is_longer ? each : line;
    const double used = std::min(line.used, each.used);
    if (is_worse(each, line)) line = each;
    line.most = queue.most;
    line.allowed = queue.allowed;
    line.used = used;
  }
  return lines;
}

std::string text_of(const std::optional<Duration>& time) {
  return time ? fmt::format("{:.3f}", to_seconds(*time)) : "never";
}
std::string json_of(const std::optional<Duration>& time) {
  return time ? fmt::format("{:.3f}", to_seconds(*time)) : "null";
}

std::string short_of(const StepOutcome& line) {
  std::vector<std::string> wrong;
  if (!line.is_in_time()) wrong.push_back("late");
  if (!line.is_bounded()) wrong.push_back("queue");
  return fmt::format("{}", fmt::join(wrong, ", "));
}

}  // namespace

std::string table_of(const std::vector<ChangeOutcome>& outcomes) {
  std::string text = fmt::format("{:24} {:13} {:>9} {:>13} {:>6} {:>26} {:>18} {:>8}\n", "cell", "change", "reached s",
                                 "right after s", "must", "longest queue ms, packets", "must be within", "used");
  std::size_t steps = 0, ok = 0;
  for (const ChangeOutcome& each : outcomes) {
    if (!each.error.empty()) {
      text += fmt::format("{:24} {}\n", each.cell.name(), each.error);
      ++steps;
      continue;
    }
    for (const StepOutcome& line : lines_of(each)) {
      const std::string bound =
          line.holds_queue ? fmt::format("{:.0f}, {:.0f}", line.allowed.seconds * 1e3, line.allowed.packets) : "";
      text += fmt::format("{:24} {:13} {:>9} {:>13} {:6.3f} {:>26} {:>18} {:6.1f} %  {}\n", each.cell.name(),
                          line.step.name, text_of(line.reached_after), text_of(line.right_after),
                          to_seconds(line.step.must),
                          fmt::format("{:.0f}, {:.0f}", line.most.seconds * 1e3, line.most.packets), bound,
                          line.used * 100, short_of(line));
      ++steps;
      ok += line.is_ok() ? 1 : 0;
    }
  }
  return text + fmt::format("{} of {} changes are as they should be\n", ok, steps);
}

std::string csv_of(const std::vector<ChangeOutcome>& outcomes) {
  std::string text =
      "kind,bits_per_second,delay_ms,change,at_s,until_s,reached_after_s,right_after_s,must_s,queue_most_ms,queue_most_"
      "packets,"
      "queue_allowed_ms,queue_allowed_packets,used,ok,error\n";
  for (const ChangeOutcome& each : outcomes) {
    const std::string cell = fmt::format("{},{:.0f},{:g}", to_string(each.cell.kind), each.cell.bits_per_second,
                                         to_seconds(each.cell.delay) * 1e3);
    if (!each.error.empty()) text += fmt::format("{},,,,,,,,,,,,0,{}\n", cell, each.error);
    for (const StepOutcome& line : each.steps) {
      text +=
          fmt::format("{},{},{:.1f},{:.1f},{},{},{:.3f},{:.3f},{:.0f},{:.3f},{:.0f},{:.5f},{},\n", cell, line.step.name,
                      to_seconds(line.step.at), to_seconds(line.step.until), text_of(line.reached_after),
                      text_of(line.right_after), to_seconds(line.step.must), line.most.seconds * 1e3, line.most.packets,
                      line.allowed.seconds * 1e3, line.allowed.packets, line.used, line.is_ok() ? 1 : 0);
    }
  }
  return text;
}

std::string json_of(std::uint64_t seed, const std::vector<ChangeOutcome>& outcomes) {
  std::vector<std::string> lines;
  for (const ChangeOutcome& each : outcomes) {
    std::vector<std::string> steps;
    for (const StepOutcome& line : lines_of(each)) {
      steps.push_back(fmt::format(
          R"({{"change": "{}", "reached_after_s": {}, "right_after_s": {}, "due_after_s": {}, "has_time": {}, "must_s": {:.3f}, "queue_most_ms": {:.3f}, )"
          R"("queue_most_packets": {:.0f}, "queue_allowed_ms": {:.3f}, "queue_allowed_packets": {:.0f}, )"
          R"("used": {:.5f}, "ok": {}}})",
          line.step.name, json_of(line.reached_after), json_of(line.right_after), json_of(line.due()), line.has_time,
          to_seconds(line.step.must), line.most.seconds * 1e3, line.most.packets, line.allowed.seconds * 1e3,
          line.allowed.packets, line.used, line.is_ok()));
    }
    lines.push_back(fmt::format(
        R"({{"kind": "{}", "bits_per_second": {:.0f}, "delay_ms": {:g}, "ok": {}, "error": "{}", "processor_s": {:.1f}, )"
        R"("changes": [{}]}})",
        to_string(each.cell.kind), each.cell.bits_per_second, to_seconds(each.cell.delay) * 1e3, each.is_ok(),
        each.error, each.cpu_seconds, fmt::join(steps, ", ")));
  }
  return fmt::format("{{\"seed\": {}, \"cells\": [\n  {}\n]}}\n", seed, fmt::join(lines, ",\n  "));
}

void write_series(const std::filesystem::path& file, const Result& result) {
  const Scenario& scenario = result.scenario;
  const LinkSeries& series = result.link(scenario.classes.front().bottleneck);
  const LinkSums sums(series);
  const Duration line = std::max<Duration::rep>(1, scenario.end / scenario.bin / kSeriesLines) * scenario.bin;
  std::ofstream out(file);
  out << "seconds,capacity_bps,frames_bps,queue_mean_packets,queue_max_packets,queue_max_ms";
  for (const TrafficClass& each : scenario.classes) out << fmt::format(",{}_bps", each.name);
  out << "\n";
  for (Duration at{}; at + line <= scenario.end; at += line) {
    const LinkSums::Window window = sums.window(at, at + line);
    const double capacity = capacity_of(scenario, series.direction, at), seconds = to_seconds(line);
    const Bin most = series.sum(at, at + line);
    out << fmt::format("{:.3f},{:.0f},{:.0f},{:.1f},{},{:.3f}", to_seconds(at), capacity, window.bits / seconds,
                       window.queue_packets, most.queue_max,
                       static_cast<double>(most.queue_bytes_max) * 8e3 / capacity);
    for (const double bits : window.classes) out << fmt::format(",{:.0f}", bits / seconds);
    out << "\n";
  }
}

}  // namespace spindled::scenarios
