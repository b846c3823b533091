#include "tests/sim/congestion_window.h"

#include <algorithm>
#include <cmath>

namespace spindled::sim {

namespace {
constexpr double kFirstSegments = 10;  // RFC 6928
constexpr double kLeastSegments = 2;
constexpr double kRenoBeta = 0.5;
constexpr double kCubicBeta = 0.7, kCubicC = 0.4;  // RFC 9438 sections 4.6 and 5
constexpr double kCubicAlpha = 3 * (1 - kCubicBeta) / (1 + kCubicBeta);
constexpr double kTargetMost = 1.5;
}  // namespace

std::string_view to_string(CongestionControl kind) {
  constexpr std::string_view kNames[] = {"none", "reno", "cubic"};
  return kNames[static_cast<std::size_t>(kind)];
}

CongestionWindow::CongestionWindow(CongestionControl kind, std::size_t segment_bytes)
    : kind_(kind), segment_bytes_(static_cast<double>(segment_bytes)), window_(kFirstSegments) {}

std::size_t CongestionWindow::bytes() const { return static_cast<std::size_t>(window_ * segment_bytes_); }

void CongestionWindow::acked(Time now, std::size_t bytes, Duration round_trip) {
  const double segments = static_cast<double>(bytes) / segment_bytes_;
  if (is_slow_start()) {
    window_ = std::min(window_ + segments, std::max(threshold_, window_));
  } else {
    avoid_congestion(now, segments, round_trip);
  }
}

void CongestionWindow::avoid_congestion(Time now, double segments, Duration round_trip) {
  if (kind_ == CongestionControl::cubic) {
    grow_cubic(now, segments, round_trip);
  } else {
    window_ += segments / window_;
  }
}

/// RFC 9438 sections 4.2 to 4.5.
void CongestionWindow::grow_cubic(Time now, double segments, Duration round_trip) {
  if (epoch_ == kNever) {
    epoch_ = now;
    window_max_ = std::max(window_max_, window_);
    plateau_s_ = std::cbrt((window_max_ - window_) / kCubicC);
    reno_window_ = window_;
  }
  const auto cubic = [&](double seconds) { return kCubicC * std::pow(seconds - plateau_s_, 3) + window_max_; };
  const double since_s = to_seconds(now - epoch_);
  reno_window_ += (reno_window_ >= window_before_ ? 1 : kCubicAlpha) * segments / window_;
  if (cubic(since_s) < reno_window_) {
    window_ = std::max(window_, reno_window_);
    return;
  }
  const double target = std::clamp(cubic(since_s + to_seconds(round_trip)), window_, kTargetMost * window_);
  window_ += (target - window_) / window_ * segments;
}

void CongestionWindow::reduce() {
  if (kind_ == CongestionControl::cubic) {
    // Fast convergence, section 4.7.
    window_max_ = window_ < window_max_ ? window_ * (1 + kCubicBeta) / 2 : window_;
    window_before_ = window_;
    threshold_ = std::max(kLeastSegments, window_ * kCubicBeta);
  } else {
    threshold_ = std::max(kLeastSegments, window_ * kRenoBeta);
  }
  epoch_ = kNever;
}

void CongestionWindow::lost() {
  reduce();
  window_ = threshold_;
}

void CongestionWindow::timed_out() {
  reduce();
  window_ = 1;
}

}  // namespace spindled::sim
