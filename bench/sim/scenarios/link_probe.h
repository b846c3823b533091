// What passes a link, by what it is, and how much waits for it.
#pragma once

#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "bench/sim/scenarios/frame_parser.h"
#include "bench/sim/scenarios/scenario.h"
#include "tests/sim/simulator.h"

namespace spindled::scenarios {

/// What a frame is, for who counts bytes.
enum class FrameKind : std::uint8_t {
  message,  // data: messages of clients
  order,    // data: operations on groups, and the order
  price,
  report,
  stable,
  view,  // agreement on views, link state, recovery
  ping,
  count_
};
inline constexpr std::size_t kFrameKinds = static_cast<std::size_t>(FrameKind::count_);
std::string_view to_string(FrameKind kind);

/// Messages of one class.
struct Passed {
  std::uint64_t bytes = 0;  // frames with their heads
  std::uint64_t frames = 0;
  std::uint64_t messages = 0;
};

/// What happened on a link within a moment, as long as the scenario has it.
struct Bin {
  std::vector<Passed> classes;
  std::array<std::uint64_t, kFrameKinds> bytes{};  // of all frames
  std::array<std::uint64_t, kFrameKinds> frames{};
  std::uint32_t queue_max = 0;  // packets, of the samples taken
  std::uint64_t queue_sum = 0;
  std::uint64_t queue_bytes_max = 0;
  std::uint64_t queue_bytes_sum = 0;
  std::uint32_t samples = 0;

  void add(const Bin& other);
};

/// How often queues are looked at, at the least.
inline constexpr Duration kQueueSampleInterval = 2ms;

struct LinkSeries {
  Direction direction;
  std::vector<Bin> bins;  // the first begins at time 0
  Duration bin = kBin;    // how long each of them is

  /// The bins that lie in [from, to), taken together.
  Bin sum(Duration from, Duration to) const;
};

/// Says which class a client's message belongs to, by its origin and destinations.
class Classifier {
 public:
  Classifier(const Scenario& scenario, const View& view);
  /// Nothing for a message of no class.
  std::optional<std::size_t> class_of(const Body& body) const;

 private:
  struct Entry {
    MemberSet destinations;
    std::size_t traffic_class = 0;
  };

  std::map<MemberIndex, std::vector<Entry>> entries_;  // by origin
};

/// One direction of a link, from its construction on, which comes before the first byte.
class LinkProbe {
 public:
  LinkProbe(sim::Simulator& simulator, const sim::SimHost& from, const sim::SimHost& to, Direction direction,
            std::size_t classes, Duration bin);
  LinkProbe(const LinkProbe&) = delete;
  LinkProbe& operator=(const LinkProbe&) = delete;

  /// Counts from now on, which becomes time 0, and forgets what it has counted.
  void begin(const Classifier& classifier);
  /// Looks at the queue.
  void sample();
  const LinkSeries& series() const { return series_; }

 private:
  Bin& bin();
  void count(const PassedFrame& frame);

  sim::Simulator& simulator_;
  const sim::SimHost& from_;
  const std::size_t classes_;
  std::map<sim::StreamRef, FrameParser> parsers_;
  const Classifier* classifier_ = nullptr;  // nullptr: not begun
  Time start_{};
  LinkSeries series_;
};

}  // namespace spindled::scenarios
