#include "tests/hunt/report.h"

#include <fmt/format.h>

namespace spindled::hunt {

namespace {

std::string size_class(std::uint32_t daemons) {
  if (daemons < 5) return "02-04";
  if (daemons < 10) return "05-09";
  return daemons < 25 ? "10-24" : "25-64";
}

bool is_stall(const Summary::Failure& failure) { return failure.findings.front().property.starts_with("liveness"); }

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') out += '\\';
    if (static_cast<unsigned char>(each) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(each));
    } else {
      out += each;
    }
  }
  return out + "\"";
}

std::string object(const std::map<std::string, std::uint64_t>& values) {
  std::string out;
  for (const auto& [name, value] : values) {
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", quoted(name), value);
  }
  return "{" + out + "}";
}

/// The counts whose names begin with `prefix`, in one line.
std::string counts_line(const Tally& tally, const std::string& prefix) {
  std::string line;
  for (const auto& [name, value] : tally.counts) {
    if (!name.starts_with(prefix)) continue;
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name.substr(prefix.size()), value);
  }
  return line.empty() ? "none" : line;
}

}  // namespace

void Summary::add(std::uint64_t seed, std::uint32_t daemons, const Outcome& outcome) {
  ++runs;
  ++sizes[size_class(daemons)];
  tally.merge(outcome.tally);
  if (outcome.failed()) failures.push_back({seed, outcome.findings});
}

std::string to_text(const Summary& summary) {
  const Tally& tally = summary.tally;
  std::string sizes;
  for (const auto& [name, count] : summary.sizes) sizes += fmt::format("  {}: {}", name, count);
  std::uint64_t stalls = 0;
  for (const Summary::Failure& each : summary.failures) stalls += is_stall(each) ? 1 : 0;
  std::string text;
  const auto row = [&](const std::string& name, const std::string& value) {
    text += fmt::format("{:<28} {}\n", name, value);
  };
  row("runs", fmt::format("{} (seeds {} to {}) in {:.1f} s", summary.runs, summary.first_seed,
                          summary.first_seed + summary.runs - (summary.runs > 0 ? 1 : 0), summary.seconds));
  row("  by daemons", sizes);
  row("virtual time", fmt::format("{:.2f} h", static_cast<double>(tally.count("virtual ms")) / 3'600'000));
  row("daemons, clients", fmt::format("{}, {}", tally.count("daemons"), tally.count("clients")));
  row("faults", counts_line(tally, "faults."));
  row("restarts", std::to_string(tally.count("restarts")));
  row("messages sent", counts_line(tally, "sent."));
  row("  of them in bundles", std::to_string(tally.count(counted(Counter::messages_bundled))));
  row("denied by rules", counts_line(tally, "denied."));
  row("bulk channels", counts_line(tally, "channels."));
  row("contents", counts_line(tally, "contents."));
  row("meshes of contents", counts_line(tally, "meshes."));
  row("messages delivered", std::to_string(tally.count("delivered")));
  row("views of daemons", std::to_string(tally.count(counted(Counter::views_installed))));
  row("views of groups",
      fmt::format("{}, transitional signals {}", tally.count("group views"), tally.count("transitional signals")));
  row("slow clients cut off", std::to_string(tally.count("slow clients cut off")));
  for (const auto& [name, value] : tally.largest) row("most: " + name, std::to_string(value));
  row("violations", std::to_string(summary.failures.size() - stalls));
  row("stalls", std::to_string(stalls));
  for (const Summary::Failure& each : summary.failures) {
    text += fmt::format("  seed {}: {}\n", each.seed, each.findings.front().sentence);
  }
  return text;
}

std::string to_json(const Summary& summary) {
  std::string failures;
  std::uint64_t stalls = 0;
  for (const Summary::Failure& each : summary.failures) {
    stalls += is_stall(each) ? 1 : 0;
    failures += fmt::format("{}{{\"seed\": {}, \"property\": {}, \"sentence\": {}}}", failures.empty() ? "" : ", ",
                            each.seed, quoted(each.findings.front().property), quoted(each.findings.front().sentence));
  }
  return fmt::format(
      "{{\"first_seed\": {}, \"runs\": {}, \"seconds\": {:.3f}, \"violations\": {}, \"stalls\": {}, \"sizes\": {}, "
      "\"counts\": {}, \"largest\": {}, \"failures\": [{}]}}\n",
      summary.first_seed, summary.runs, summary.seconds, summary.failures.size() - stalls, stalls,
      object(summary.sizes), object(summary.tally.counts), object(summary.tally.largest), failures);
}

}  // namespace spindled::hunt
