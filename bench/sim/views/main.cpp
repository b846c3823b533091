// view_changes: what a view change costs, measured in the simulator. Time is virtual, so that it depends on the seed
// alone, not on the machine. Processor seconds are those of all daemons and the network, for a change and what restores
// the network after it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "tests/sim/view_changes.h"

namespace spindled::sim {
namespace {

struct Arguments {
  std::vector<std::size_t> daemons{8, 16, 32, 64, 128, 256};
  std::uint64_t seed = 1;
  std::string json;
};

struct Row {
  Cause cause{};
  bool traffic = false;
  double cpu_seconds = 0;
  ViewChangeCost cost;
};

double milliseconds(Duration duration) { return to_seconds(duration) * 1e3; }

double per_square(const Row& row, std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(row.cost.daemons * row.cost.daemons);
}

bool is_message(Counter kind) {
  return kind == Counter::bytes_push || kind == Counter::bytes_data || kind == Counter::bytes_stability;
}

void print_head() {
  fmt::print("{:7} {:11} {:7} {:>4} {:>6} {:>7} {:>9} {:>5} {:>7} {:>5}", "daemons", "cause", "traffic", "hops",
             "rtt ms", "noticed", "installed", "rtts", "settled", "views");
  fmt::print(" | {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} | {:>10} {:>8} {:>6} | {:>10} {:>10} {:>6} | {:>6}\n", "links",
             "propose", "state", "commit", "done", "install", "agreement", "/daemon", "/n^2", "push", "messages",
             "/n^2", "cpu s");
}

void print(const Row& row) {
  const ViewChangeCost& cost = row.cost;
  fmt::print("{:7} {:11} {:7} {:4} {:6.0f} {:7.0f} {:9.0f} {:5.1f} {:7.0f} {:5} |", cost.daemons, to_string(row.cause),
             row.traffic ? "busy" : "idle", cost.diameter, milliseconds(cost.round_trip), milliseconds(cost.noticed),
             milliseconds(cost.installed), cost.round_trips(), milliseconds(cost.settled), cost.views);
  for (const Counter kind : kByteKinds) {
    if (!is_message(kind)) fmt::print(" {:9}", cost.bytes_of(kind));
  }
  fmt::print(" | {:10} {:8} {:6.0f} | {:10} {:10} {:6.0f} | {:6.2f}\n", cost.agreement_bytes(),
             cost.agreement_bytes() / cost.daemons, per_square(row, cost.agreement_bytes()),
             cost.bytes_of(Counter::bytes_push), cost.message_bytes(), per_square(row, cost.message_bytes()),
             row.cpu_seconds);
  std::fflush(stdout);
}

std::string to_json(const Row& row) {
  const ViewChangeCost& cost = row.cost;
  std::string bytes;
  for (const Counter kind : kByteKinds) bytes += fmt::format(R"(, "{}": {})", to_string(kind), cost.bytes_of(kind));
  return fmt::format(
      R"({{"daemons": {}, "cause": "{}", "traffic": {}, "diameter_hops": {}, "round_trip_ms": {:.3f}, )"
      R"("noticed_ms": {:.3f}, "installed_ms": {:.3f}, "settled_ms": {:.3f}, "views": {}, "cpu_s": {:.3f}{}}})",
      cost.daemons, to_string(row.cause), row.traffic, cost.diameter, milliseconds(cost.round_trip),
      milliseconds(cost.noticed), milliseconds(cost.installed), milliseconds(cost.settled), cost.views, row.cpu_seconds,
      bytes);
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

bool measure(const Arguments& arguments, std::size_t daemons, bool traffic, std::vector<Row>& rows) {
  ViewChanges changes(arguments.seed, daemons, traffic);
  if (!changes.form()) {
    fmt::print(stderr, "{} daemons have formed no view\n", daemons);
    return false;
  }
  for (const Cause cause : kCauses) {
    const double start = cpu_seconds();
    const std::optional<ViewChangeCost> cost = changes.measure(cause);
    if (!cost) {
      fmt::print(stderr, "{} daemons, {}: the view change came to no end\n{}\n", daemons, to_string(cause),
                 changes.simulator().explain());
      return false;
    }
    rows.push_back({cause, traffic, cpu_seconds() - start, *cost});
    print(rows.back());
  }
  return true;
}

int run(const Arguments& arguments) {
  std::vector<Row> rows;
  print_head();
  for (const bool traffic : {false, true}) {
    for (const std::size_t daemons : arguments.daemons) {
      if (!measure(arguments, daemons, traffic, rows)) return 1;
    }
  }
  if (arguments.json.empty()) return 0;
  std::vector<std::string> lines;
  for (const Row& row : rows) lines.push_back(to_json(row));
  std::ofstream(arguments.json) << fmt::format("[\n  {}\n]\n", fmt::join(lines, ",\n  "));
  return 0;
}

}  // namespace
}  // namespace spindled::sim

int main(int argc, char** argv) {
  spindled::sim::Arguments arguments;
  CLI::App app("What a view change costs, measured in the simulator");
  app.add_option("--daemons", arguments.daemons, "Sizes of the network")->delimiter(',')->check(CLI::Range(4, 1000));
  app.add_option("--seed", arguments.seed, "Draws the network");
  app.add_option("--json", arguments.json, "File to write all results to");
  CLI11_PARSE(app, argc, argv);
  return spindled::sim::run(arguments);
}
