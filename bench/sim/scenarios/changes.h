// A bottleneck whose capacity changes, or that further senders come to, over rates and distances.
#pragma once

#include <string>
#include <vector>

#include "bench/sim/scenarios/scenario.h"

namespace spindled::scenarios {

/// What changes in a run. The network is a grid cell of shape `single`: senders' daemons around x, the bottleneck from
/// x to y, the receiver at y. Whoever sends always has more to send.
enum class ChangeKind : std::uint8_t {
  capacity,  // ten daemons with five senders each; the bottleneck halves, doubles, quarters, comes back, and flaps
  senders,   // one sender on the idle path, then four more, then one more beside these; each at its own daemon
};
std::string_view to_string(ChangeKind kind);

struct ChangeCell {
  ChangeKind kind = ChangeKind::capacity;
  double bits_per_second = 0;  // of the bottleneck, at first and at most
  Duration delay{};            // one way, of each path

  std::string name() const;  // "capacity-10M-10ms"
  /// From a sender to the receiver and back: four paths.
  Duration round_trip() const { return 4 * delay; }
  /// From the bottleneck to a sender's daemon and back: no news of the bottleneck has an effect there any sooner.
  Duration feedback() const { return 2 * delay; }
};

/// All that are run. On the fastest paths the longest delays are left out: too much would be in flight to simulate.
std::vector<ChangeCell> change_cells();

/// A moment at which something changes, and how long is looked at what comes of it.
struct Step {
  std::string name;               // "1/2", "x2", "1/4", "x4", "flaps", "alone", "beside others"
  Duration at{}, until{};         // the next step begins at `until`
  double before = 0, after = 0;   // capacity of the bottleneck, bits a second
  Duration must{};                // within which all has to be right
  Duration window{};              // over which what passes, and the queue, are looked at
  std::size_t traffic_class = 0;  // kind `senders`: whose rate counts
  std::size_t senders = 0;        // kind `senders`: how many share the bottleneck
};
/// In the order of time. Flaps are one step each.
std::vector<Step> steps_of(const ChangeCell& cell);

Scenario scenario_of(const ChangeCell& cell, const AdmissionConfig& admission);

}  // namespace spindled::scenarios
