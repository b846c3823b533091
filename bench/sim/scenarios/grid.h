// One bottleneck, or two, over a grid of rates, delays, senders, sizes and shapes: what admission makes of each.
#pragma once

#include <string>
#include <vector>

#include "bench/sim/scenarios/run.h"

namespace spindled::scenarios {

/// How a cell's daemons are connected. All paths have the same delay.
enum class Shape : std::uint8_t {
  single,  // senders' daemons around x, the bottleneck from x to y, the receiver at y
  chain,  // a line of daemons with senders at each but the last, where the receiver is; the last path is the bottleneck
  series,  // as single, and a second bottleneck of a quarter of the rate behind y, which every other daemon sends over
};
std::string_view to_string(Shape shape);

/// "250K", "10M", "1G": bits per second in names of cells.
std::string rate_name(double bits_per_second);

/// Everybody always has more to send.
struct Cell {
  Shape shape = Shape::single;
  double bits_per_second = 0;  // of the (first) bottleneck
  Duration delay{};            // one way, of each path
  std::size_t daemons = 1;     // with senders
  std::size_t senders = 1;     // at each of them
  std::size_t message_bytes = kMessageBytes;
  double loss = 0;  // of segments of the first bottleneck
  sim::CongestionControl congestion_control = sim::CongestionControl::none;

  std::string name() const;  // "single-10M-10ms-10x5-1000B", "single-10M-10ms-10x5-1000B-1%-cubic"
  /// A cell lasts for a minute, and less where more than so many packets would pass: a hundred round trips at least,
  /// a second, and no less than a quarter of a million packets take; twenty round trips where even those are too many.
  /// With loss always for five minutes: windows grow for seconds, and are of every size by chance.
  Duration length() const;
};

/// The whole grid: a plane of rates and delays, and lines through it along each of the other quantities.
std::vector<Cell> all_cells();
/// A few of them, for a look within a minute or two.
std::vector<Cell> some_cells();
/// A bottleneck that loses packets, with the TCP of common kernels.
std::vector<Cell> lossy_cells();

Scenario scenario_of(const Cell& cell, const AdmissionConfig& admission);

/// Of the last two thirds of a cell. Of two bottlenecks the worse figure counts.
struct CellOutcome {
  Cell cell;
  std::string error;         // why there is nothing to see
  double rate = 0;           // bits a second that could be used: with loss, what its TCP carries alone
  double used = 0;           // of that, by all frames
  double queue_packets = 0;  // in the mean
  double queue_s = 0;        // in the mean: what the queue's bytes take to leave
  double queue_most_packets = 0;
  double queue_most_s = 0;
  double variation = 0;  // of the clients of one class: standard deviation over mean
  double prices = 0;     // share of the bottleneck's rate, on the path that has the most of them
  double cpu_seconds = 0;

  // What issue and documentation hold a cell to.
  bool is_used() const { return used >= 0.98; }
  bool is_short() const { return queue_s <= 0.02 || queue_packets <= 50; }
  bool is_bounded() const { return queue_most_s <= 3 * 0.02 || queue_most_packets <= 3 * 50; }
  bool is_equal() const { return variation <= 0.01 || !is_long_enough(); }
  bool is_quiet() const { return prices <= (cell.bits_per_second <= 2e6 ? 0.005 : 0.001); }
  bool is_ok() const { return error.empty() && is_used() && is_short() && is_bounded() && is_equal() && is_quiet(); }
  /// Whether a client sends enough messages for equality to show: of n that come one by one, the count differs by one.
  bool is_long_enough() const;
};
CellOutcome outcome_of(const Cell& cell, const Result& result);

std::string table_of(const std::vector<CellOutcome>& outcomes);
std::string csv_of(const std::vector<CellOutcome>& outcomes);
std::string json_of(std::uint64_t seed, const std::vector<CellOutcome>& outcomes);

}  // namespace spindled::scenarios
