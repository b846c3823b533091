// A stream of messages at a fixed rate, from one program to several, whatever carries it: feeds, or another system.
// What `tools/bench feeds` measures is how many of them come, and how long they take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace spindle::bench {

/// What is sent. Messages are counted from 0; those of the warm-up are not measured, nor the last ones: how soon
/// somebody hears of a loss that nothing comes after is another matter.
struct StreamPlan {
  double rate = 1000;  // messages a second; 0: as many as there is room for
  std::size_t bytes = 1000;
  double warmup = 2;
  double seconds = 20;
  double rest = 1;
  /// How long a message waits for room before it is dropped: what is later than that is of no use.
  double patience = 0.1;
  std::size_t receivers = 1;

  /// The first message that is measured, and how many are. Only for a plan with a rate.
  std::uint64_t first() const { return static_cast<std::uint64_t>(rate * warmup); }
  std::uint64_t count() const { return static_cast<std::uint64_t>(rate * seconds); }
  std::uint64_t total() const { return first() + count() + static_cast<std::uint64_t>(rate * rest); }
};

/// What each message begins with, in this machine's order of bytes.
struct StreamHead {
  std::int64_t due_ns = 0;  // CLOCK_MONOTONIC: when it was to be sent
  std::uint64_t number = 0;

  /// Nothing else is needed of a message. Shorter ones end the program.
  static StreamHead read(std::span<const std::byte> message);
  void write(std::span<std::byte> message) const;
};

/// Where messages go.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  /// False where there is no room for it now. What is more than that ends the program.
  virtual bool send(std::span<const std::byte> message) = 0;
};

/// Takes messages one at a time, in whatever thread, until what it was given to is destroyed.
using StreamReceive = std::function<void(std::span<const std::byte>)>;

/// Where they come from: derived classes have a StreamReceive.
class StreamReceiver {
 public:
  virtual ~StreamReceiver() = default;
};

/// What became of the messages at the source.
struct StreamSent {
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;    // waited longer for room than the plan's patience
  std::int64_t lag_max_ns = 0;  // the longest that one of them left later than it was due, the warm-up left out
};

/// Sends what the plan says, from `start_ns` (CLOCK_MONOTONIC) on. A message that finds no room waits, and all behind
/// it.
StreamSent send_stream(const StreamPlan& plan, std::int64_t start_ns, StreamSource& source);

}  // namespace spindle::bench
