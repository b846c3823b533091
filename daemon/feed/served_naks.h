// NAKs that somebody has served, on their way to the origin.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/wire/datagrams.h"

namespace spindled {

/// The origin's rate has to know of losses that were repaired elsewhere, and not of each at once: of one feed they
/// leave a daemon every kInterval at most, merged by who reports them.
class ServedNaks {
 public:
  static constexpr Duration kInterval = 5ms;
  static constexpr std::size_t kReportersMax = 8;

  /// What may go at once; the NAK waits otherwise. One more reporter than there is room for goes unheard.
  std::vector<FeedNak> add(Time now, const FeedNak& nak) {
    if (waiting_.empty() && now >= next_at_) {
      next_at_ = now + kInterval;
      std::vector<FeedNak> one;
      one.push_back(nak);
      return one;
    }
    const auto same = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& each) {
      return each.nak.reporter == nak.reporter && each.nak.ref.view == nak.ref.view;
    });
    if (same != waiting_.end()) {
      merge(same->nak, nak);
    } else if (waiting_.size() < kReportersMax) {
      waiting_.push_back({nak, now});
    }
    return {};
  }
  Time next_at() const { return waiting_.empty() ? kNever : next_at_; }
  /// Once `next_at` has come.
  std::vector<FeedNak> take(Time now) {
    std::vector<FeedNak> naks;
    for (Waiting& each : std::exchange(waiting_, {})) {
      each.nak.held_us += static_cast<std::uint32_t>((now - each.since) / 1us);
      naks.push_back(std::move(each.nak));
    }
    next_at_ = now + kInterval;
    return naks;
  }

 private:
  struct Waiting {
    FeedNak nak;
    Time since{};
  };

  /// The first one's time is kept; what is out of reach of its bitmap is left out.
  static void merge(FeedNak& nak, const FeedNak& other) {
    other.bits.for_each([&](std::size_t i) {
      const std::uint32_t index = other.first + static_cast<std::uint32_t>(i) - nak.first;
      if (index < SequenceBits::kMax) nak.bits.insert(index);
    });
  }

  Time next_at_{};
  std::vector<Waiting> waiting_;
};

}  // namespace spindled
