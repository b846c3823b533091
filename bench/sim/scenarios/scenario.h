// A scenario as data: the network, who sends what to whom and when, what changes on the way, what is watched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/node_config.h"
#include "tests/sim/congestion_window.h"

namespace spindled::scenarios {

inline constexpr std::size_t kMessageBytes = 1000;
inline constexpr std::size_t kSendersMax = 800;  // of scenario 4
/// What is measured is taken together for as long at a time, unless a scenario says otherwise.
inline constexpr Duration kBin = 100ms;

/// A path with a daemon at each end, the same both ways.
struct Path {
  std::string a, b;
  double bits_per_second = 0;
  Duration delay{};
  sim::CongestionControl congestion_control = sim::CongestionControl::none;
  double loss = 0;  // of its segments, with congestion control; while it has its capacity
};

/// One direction of a path.
struct Direction {
  std::string from, to;

  bool operator==(const Direction&) const = default;
};

/// Senders whose traffic is counted together.
struct TrafficClass {
  std::string name;
  Direction bottleneck;  // where its rate is measured
  Duration start{};      // its senders begin at times drawn between this
  Duration spread{};     // and so much later
};

struct Sender {
  std::size_t traffic_class = 0;
  std::string daemon;
  std::string group;  // of which it is no member
};

struct Receiver {
  std::string daemon;
  std::vector<std::string> groups;
};

/// A path gets another capacity.
struct CapacityChange {
  Duration at{};
  std::size_t path = 0;
  double bits_per_second = 0;
};

/// Times count from the first moment at which a sender may begin.
struct Scenario {
  std::string id;     // "1", "2a", ...
  std::string title;  // for tables and plots
  std::vector<Path> paths;
  std::vector<TrafficClass> classes;
  std::vector<Sender> senders;
  std::vector<Receiver> receivers;
  std::vector<CapacityChange> changes;
  std::vector<Direction> watched;  // the others are not looked at
  Duration settle{};               // after each change nothing is measured for so long
  Duration end{};
  std::size_t message_bytes = kMessageBytes;
  std::size_t window_max = 0;  // what the receive window of a path grows to; 0: as Linux has it
  Duration bin = kBin;
  NodeConfig node;  // of all daemons; name and neighbours are filled in
};

/// From one change of who sends, or what a path carries, to the next. Rates are measured in [from, to).
struct Phase {
  Duration start{}, from{}, to{};
};
/// At least one; the last is what most figures are about.
std::vector<Phase> phases_of(const Scenario& scenario);

struct Options {
  double seconds = 0;                                           // how long a scenario lasts; 0: as long as it should
  std::vector<std::size_t> senders{5, 20, 100, 200, 400, 800};  // scenario 4: how many, one after the other
  AdmissionConfig admission;
};

/// "1", "2a", "2b", "3", "4", in this order.
const std::vector<std::string>& scenario_names();
/// The scenario of one of these names.
Scenario scenario_named(const std::string& name, const Options& options);

}  // namespace spindled::scenarios
