// What repair may take of a link, and a neighbour of a daemon.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "daemon/base/member_set.h"
#include "daemon/base/ring.h"
#include "daemon/base/time.h"

namespace spindled {

/// Repairs on one link: kPackets packets of full length, and a quarter of the bytes of feeds that have gone over the
/// link lately, in whichever direction, as a replier sends back where packets came from.
class RepairBudget {
 public:
  static constexpr double kShare = 0.25;
  static constexpr double kPackets = 16;
  /// After which half of what has gone is forgotten.
  static constexpr Duration kHalfLife = 1s;

  explicit RepairBudget(std::size_t packet_bytes) : packet_bytes_(static_cast<double>(packet_bytes)) {}

  void fed(std::size_t bytes) { fed_ += static_cast<double>(bytes); }
  /// Whether a repair may be sent; it counts as sent then.
  bool take(Time now, std::size_t bytes) {
    const double left = std::exp2(-to_seconds(now - faded_at_) / to_seconds(kHalfLife));
    faded_at_ = now;
    fed_ *= left;
    repaired_ *= left;
    if (repaired_ + static_cast<double>(bytes) > kShare * fed_ + kPackets * packet_bytes_) return false;
    repaired_ += static_cast<double>(bytes);
    return true;
  }

 private:
  double packet_bytes_;
  double fed_ = 0;
  double repaired_ = 0;
  Time faded_at_{};
};

/// NAKs of one neighbour. One that names many packets counts for several, as each of them has to be looked for.
class NakLimit {
 public:
  static constexpr double kPerSecond = 10'000;
  static constexpr double kBurst = 1'000;
  static constexpr std::size_t kPackets = 64;

  bool take(Time now, std::size_t packets = 1) {
    credit_ = std::min(kBurst, credit_ + kPerSecond * to_seconds(now - filled_at_));
    filled_at_ = now;
    if (credit_ < 1) return false;
    credit_ -= 1 + static_cast<double>(packets / kPackets);
    return true;
  }

 private:
  double credit_ = kBurst;
  Time filled_at_{};
};

/// Repairs of one feed that were lately sent from here, or have come here: a first request for one of them has crossed
/// it (LMS, section III-A).
class RecentRepairs {
 public:
  static constexpr std::size_t kMax = 64;

  void sent(Time now, std::uint64_t sequence, const MemberSet& to) { add({sequence, now, to, false}); }
  void received(Time now, std::uint64_t sequence, const MemberSet& to) { add({sequence, now, to, true}); }

  /// Whether the sequence went to all of `to` within `round_trip`. `is_replier`: what has come counts whomever it was
  /// for, as those who have turned to this daemon lacked what it lacked itself.
  bool covers(Time now, std::uint64_t sequence, const MemberSet& to, Duration round_trip, bool is_replier) const {
    for (std::size_t i = repairs_.size(); i-- > 0;) {
      const Repair& each = repairs_[i];
      if (now - each.at > round_trip) return false;
      if (each.sequence == sequence && ((is_replier && each.has_come) || to.is_subset_of(each.to))) return true;
    }
    return false;
  }

 private:
  struct Repair {
    std::uint64_t sequence = 0;
    Time at{};
    MemberSet to;
    bool has_come = false;
  };

  void add(Repair repair) {
    if (repairs_.size() == kMax) repairs_.pop_front();
    repairs_.push_back(std::move(repair));
  }

  Ring<Repair, 8> repairs_;
};

}  // namespace spindled
