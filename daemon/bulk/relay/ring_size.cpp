#include "daemon/bulk/relay/ring_size.h"

#include <algorithm>

namespace spindled {

namespace {

/// How often it is looked at.
constexpr Duration kInterval = 50ms;
/// What the ring holds of the rate at which symbols come.
constexpr Duration kRingTime = 100ms;
constexpr int kRoundTrips = 4;
/// It grows at once, and becomes smaller by and by: a pause says nothing of the rate.
constexpr double kLeft = 0.75;

}  // namespace

std::size_t RingSize::symbols(std::size_t bytes) const { return std::max<std::size_t>(bytes / symbol_bytes_, 1); }

void RingSize::set_bytes_max(std::size_t bytes, SymbolRing& ring) {
  bytes_max_ = std::min(bytes, kBytesMax);
  if (ring.capacity() > symbols(bytes_max_)) ring.set_capacity(symbols(bytes_max_));
}

void RingSize::follow(Time now, Duration longest_round_trip, SymbolRing& ring) {
  if (now - at_ < kInterval) return;
  const double seconds = to_seconds(now - at_);
  const auto bytes = static_cast<double>((ring.end() - arrived_) * symbol_bytes_);
  arrived_ = ring.end();
  at_ = now;
  const Duration time = std::max(kRingTime, kRoundTrips * longest_round_trip);
  const double least = kLeft * static_cast<double>(ring.capacity() * symbol_bytes_);
  const double wanted = std::max(bytes / seconds * to_seconds(time), least);
  const auto most = static_cast<double>(bytes_max_);
  const double size = std::clamp(wanted, std::min(double{kBytesMin}, most), most);
  ring.set_capacity(symbols(static_cast<std::size_t>(size)));
}

}  // namespace spindled
