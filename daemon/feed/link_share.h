// What feeds may send on a link that ordered messages wait for.
#pragma once

#include <algorithm>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/link/link_id.h"

namespace spindled {

/// While a link has a price, feeds have a share of what its connection carries; otherwise all that they want. What the
/// connection carries is measured over kInterval while they send. A packet goes as soon as all is there that may go at
/// once, however long it is: what is beyond is made up for before the next one.
class LinkShare {
 public:
  static constexpr Duration kInterval = 50ms;
  /// What there is in any case, in bytes a second: a connection may carry nothing at all.
  static constexpr double kRateMin = 16'000;
  /// That may go at once.
  static constexpr Duration kBurst = 20ms;
  static constexpr double kBurstPacketsMin = 4;

  /// `packet_bytes`: of the longest packet that this daemon makes.
  explicit LinkShare(std::size_t packet_bytes) : burst_min_(kBurstPacketsMin * static_cast<double>(packet_bytes)) {}

  struct Connection {
    bool has_price = false;
    std::uint64_t bytes = 0;  // that it has carried ever
  };
  /// Whether so many bytes may go; they count as sent then.
  bool take(Time now, LinkId link, const Connection& connection, double share, std::size_t bytes) {
    const auto index = static_cast<std::size_t>(link);
    if (index >= links_.size()) links_.resize(index + 1, Link{.credit = burst_min_});
    Link& state = links_[index];
    measure(now, state, connection.bytes);
    const double rate = std::max(kRateMin, share * state.rate);
    const double burst = std::max(burst_min_, rate * to_seconds(kBurst));
    state.credit = std::min(burst, state.credit + rate * to_seconds(now - state.filled_at));
    state.filled_at = now;
    if (!connection.has_price) return true;
    if (state.credit < std::min(static_cast<double>(bytes), burst)) return false;
    state.credit -= static_cast<double>(bytes);
    return true;
  }
  void forget(LinkId link) {
    if (static_cast<std::size_t>(link) < links_.size()) links_[static_cast<std::size_t>(link)] = {.credit = burst_min_};
  }

 private:
  struct Link {
    Time measured_at{};
    std::uint64_t bytes = 0;
    double rate = 0;  // bytes a second
    double credit = 0;
    Time filled_at{};
  };

  static void measure(Time now, Link& link, std::uint64_t bytes) {
    if (now - link.measured_at < kInterval) return;
    const bool is_old = now - link.measured_at > 10 * kInterval;
    const double rate = static_cast<double>(bytes - link.bytes) / to_seconds(now - link.measured_at);
    link.rate = is_old ? rate : (link.rate + rate) / 2;
    link.measured_at = now;
    link.bytes = bytes;
  }

  double burst_min_;
  std::vector<Link> links_;
};

}  // namespace spindled
