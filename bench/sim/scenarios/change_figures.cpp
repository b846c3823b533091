#include "bench/sim/scenarios/change_figures.h"

#include <algorithm>

#include "bench/sim/scenarios/figures.h"

namespace spindled::scenarios {

namespace {

constexpr double kPacketBytes = 1040;  // a message of 1,000 bytes with its head
/// A mean queue is short up to this, and the longest is bounded by so many times that.
constexpr QueueLength kShort{0.020, 50};
constexpr double kMostTimes = 3;
constexpr double kUsed = 0.95;
constexpr double kShare = 0.9;

/// What piles up however quick the answer is: what was on its way, and what was there.
double inevitable_bytes(const ChangeCell& cell, const LinkSums& sums, const Step& step) {
  if (step.after >= step.before) return 0;
  const double on_its_way = (step.before - step.after) / 8 * to_seconds(cell.feedback());
  return on_its_way + sums.window(std::max<Duration>(0s, step.at - step.window), step.at).queue_bytes;
}

StepOutcome outcome_of(const ChangeCell& cell, const LinkSeries& series, const LinkSums& sums, const Step& step) {
  StepOutcome outcome;
  outcome.step = step;
  const double bytes_per_s = step.after / 8;
  const Bin all = series.sum(step.at, step.until);
  outcome.most = {static_cast<double>(all.queue_bytes_max) / bytes_per_s, static_cast<double>(all.queue_max)};
  outcome.used = sums.window(step.at, step.until).bits / step.after / to_seconds(step.until - step.at);
  outcome.has_time = step.until - step.at >= step.must + step.window;
  const double inevitable = inevitable_bytes(cell, sums, step);
  outcome.allowed = {kMostTimes * kShort.seconds + inevitable / bytes_per_s,
                     kMostTimes * kShort.packets + inevitable / kPacketBytes};
  outcome.holds_queue = cell.kind == ChangeKind::capacity;
  const auto is_right = [&](Duration from, Duration to) {
    const LinkSums::Window window = sums.window(from, to);
    const double seconds = to_seconds(to - from);
    if (cell.kind == ChangeKind::senders) {
      const double share = step.after / static_cast<double>(step.senders);
      return window.classes[step.traffic_class] >= kShare * share * seconds;
    }
    return window.bits >= kUsed * step.after * seconds &&
           QueueLength{window.queue_bytes / bytes_per_s, window.queue_packets}.is_within(kShort);
  };
  const auto right = right_from(step.at, step.until, step.window, sums.bin(), is_right);
  if (right) outcome.right_after = *right - step.at;
  const auto reached = first_right(step.at, step.until, step.window, sums.bin(), is_right);
  if (reached) outcome.reached_after = *reached - step.at;
  return outcome;
}

}  // namespace

LinkSums::LinkSums(const LinkSeries& series) : bin_(series.bin) {
  Bin sum;
  if (!series.bins.empty()) sum.classes.resize(series.bins.front().classes.size());
  until_.push_back(sum);
  for (const Bin& bin : series.bins) {
    sum.add(bin);
    until_.push_back(sum);
  }
}

LinkSums::Window LinkSums::window(Duration from, Duration to) const {
  const auto at = [&](Duration time) -> const Bin& {
    return until_[std::min(until_.size() - 1, static_cast<std::size_t>(time / bin_))];
  };
  const Bin &first = at(from), &last = at(to);
  Window window;
  for (std::size_t i = 0; i < kFrameKinds; ++i) window.bits += 8 * static_cast<double>(last.bytes[i] - first.bytes[i]);
  for (std::size_t i = 0; i < last.classes.size(); ++i) {
    window.classes.push_back(8 * static_cast<double>(last.classes[i].bytes - first.classes[i].bytes));
  }
  const double samples = last.samples - first.samples;
  if (samples > 0) {
    window.queue_bytes = static_cast<double>(last.queue_bytes_sum - first.queue_bytes_sum) / samples;
    window.queue_packets = static_cast<double>(last.queue_sum - first.queue_sum) / samples;
  }
  return window;
}

bool ChangeOutcome::is_ok() const {
  return error.empty() && std::all_of(steps.begin(), steps.end(), [](const StepOutcome& each) { return each.is_ok(); });
}

ChangeOutcome outcome_of(const ChangeCell& cell, const Result& result) {
  ChangeOutcome outcome;
  outcome.cell = cell;
  outcome.error = result.error;
  outcome.cpu_seconds = result.cpu_seconds;
  if (!result.error.empty()) return outcome;
  const LinkSeries& series = result.link(result.scenario.classes.front().bottleneck);
  const LinkSums sums(series);
  for (const Step& step : steps_of(cell)) outcome.steps.push_back(outcome_of(cell, series, sums, step));
  return outcome;
}

}  // namespace spindled::scenarios
