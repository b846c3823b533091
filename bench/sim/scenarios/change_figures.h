// What is measured of changes, and what it is held to.
#pragma once

#include <optional>
#include <vector>

#include "bench/sim/scenarios/changes.h"
#include "bench/sim/scenarios/run.h"

namespace spindled::scenarios {

/// Sums of a link's bins, so that what passed in any window is known at once.
class LinkSums {
 public:
  explicit LinkSums(const LinkSeries& series);

  /// Of the bins in [from, to).
  struct Window {
    double bits = 0;              // of all frames
    std::vector<double> classes;  // bits of messages
    double queue_bytes = 0;       // in the mean
    double queue_packets = 0;     // in the mean
  };
  Window window(Duration from, Duration to) const;
  Duration bin() const { return bin_; }

 private:
  std::vector<Bin> until_;  // all bins before it, taken together
  Duration bin_;
};

/// The moment in [from, until) from which on every window in it is right, up to the last that ends there. Nothing where
/// the last one is not.
template <typename IsRight>
std::optional<Duration> right_from(Duration from, Duration until, Duration window, Duration bin, IsRight&& is_right) {
  std::optional<Duration> right;
  for (Duration at = until - window; at >= from && is_right(at, at + window); at -= bin) right = at;
  return right;
}

/// The moment in [from, until) at which the first window begins that is right.
template <typename IsRight>
std::optional<Duration> first_right(Duration from, Duration until, Duration window, Duration bin, IsRight&& is_right) {
  for (Duration at = from; at + window <= until; at += bin) {
    if (is_right(at, at + window)) return at;
  }
  return std::nullopt;
}

/// A queue, in both units. One that is short enough in either is short enough.
struct QueueLength {
  double seconds = 0;  // that its bytes take to leave
  double packets = 0;

  bool is_within(const QueueLength& bound) const { return seconds <= bound.seconds || packets <= bound.packets; }
};

/// What came of one step.
struct StepOutcome {
  Step step;
  std::optional<Duration> reached_after;  // from the step to the first window that is right; nothing: never
  std::optional<Duration> right_after;    // to the moment from which on all are
  bool has_time = true;                   // that it lasts for long enough to say so
  QueueLength most, allowed;              // the longest queue
  double used = 0;                        // of the bottleneck, over the whole step
  bool holds_queue = true;                // whether the longest queue counts

  /// What has to be in time: a sender that is alone has to reach its rate; else all has to be right, and stay so.
  std::optional<Duration> due() const { return step.senders == 1 ? reached_after : right_after; }
  bool is_in_time() const { return !has_time || (due() && *due() <= step.must); }
  bool is_bounded() const { return !holds_queue || most.is_within(allowed); }
  bool is_ok() const { return is_in_time() && is_bounded(); }
};

struct ChangeOutcome {
  ChangeCell cell;
  std::string error;  // why there is nothing to see
  std::vector<StepOutcome> steps;
  double cpu_seconds = 0;

  bool is_ok() const;
};
ChangeOutcome outcome_of(const ChangeCell& cell, const Result& result);

}  // namespace spindled::scenarios
