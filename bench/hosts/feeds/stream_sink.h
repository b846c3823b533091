// What comes of a stream.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "bench/hosts/cluster/histogram.h"
#include "bench/hosts/feeds/stream.h"

namespace spindle::bench {

/// Counts messages, those of the plan's measured part by number. May be called by several threads.
class StreamSink {
 public:
  explicit StreamSink(const StreamPlan& plan);

  void take(std::span<const std::byte> message);

  /// All that has come, with the warm-up: {"messages", "bytes"}.
  std::string counts() const;
  /// Of the measured part: {"received", "lost", "duplicates", "disordered": behind one with a greater number,
  /// "latency_ns": buckets, "max_ns"}. A duplicate counts as nothing else.
  std::string result() const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t first_;
  std::vector<bool> has_come_;  // by number, from `first_` on
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t disordered_ = 0;
  std::uint64_t highest_ = 0;
  std::int64_t latency_max_ns_ = 0;
  Histogram latency_;
};

}  // namespace spindle::bench
