// How much a TCP sender keeps in the network: a model of what kernels do about loss.
#pragma once

#include <cstdint>
#include <string_view>

#include "daemon/base/time.h"

namespace spindled::sim {

enum class CongestionControl : std::uint8_t {
  none,   // nothing is lost, and nothing but the receive window limits what is in flight
  reno,   // RFC 5681: a segment more in a round trip, half after a loss
  cubic,  // RFC 9438, with the region in which it grows as Reno would
};

std::string_view to_string(CongestionControl kind);

/// A congestion window. Slow start is that of RFC 5681 for both: there is no HyStart.
///
/// Order of calls: `acked` for what has arrived, outside of recovery; `lost` once for all losses of a round trip;
/// `timed_out` where nothing has arrived for so long that all in flight counts as lost.
class CongestionWindow {
 public:
  CongestionWindow(CongestionControl kind, std::size_t segment_bytes);

  std::size_t bytes() const;
  /// `round_trip`: the shortest that was seen. Call it only where the window was what limited the sender.
  void acked(Time now, std::size_t bytes, Duration round_trip);
  void lost();
  void timed_out();
  bool is_slow_start() const { return window_ < threshold_; }

 private:
  void reduce();
  void avoid_congestion(Time now, double segments, Duration round_trip);
  void grow_cubic(Time now, double segments, Duration round_trip);

  CongestionControl kind_;
  double segment_bytes_;
  // In segments.
  double window_;
  double threshold_ = 1e9;
  // CUBIC's, RFC 9438 section 4.1.1.
  double window_max_ = 0;
  double window_before_ = 0;  // cwnd_prior
  double reno_window_ = 0;    // W_est
  double plateau_s_ = 0;      // K
  Time epoch_ = kNever;       // kNever: the next acknowledgement begins it
};

}  // namespace spindled::sim
