// Which way leads to whoever is to repair a feed below a daemon.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/link/link_id.h"

namespace spindled {

/// Of the links that a feed leaves a daemon by, the one that NAKs from the others are steered to (Papadopoulos,
/// Parulkar and Varghese, Light-Weight Multicast Services, sections II-C and II-D). Their cost is how far it is to the
/// nearest replier behind the link, and to the origin as often as packets are asked for on that link: what is lost
/// there has to come from above. Nothing is kept of a receiver.
class ReplierLink {
 public:
  struct Candidate {
    LinkId link{};
    Duration nearest{};  // round trip to the nearest replier behind it
  };

  /// Packets have gone out on all links of the feed.
  void packets_sent(std::uint64_t packets) {
    sent_ += packets;
    if (sent_ >= kMemory) forget_half();
  }
  /// Somebody behind the link has asked for so many packets for the first time.
  void asked(LinkId link, std::uint64_t packets);

  /// The link to steer to. It changes where another has been better by a quarter for a second, and at once where it is
  /// no candidate any more. Nothing where there are no candidates.
  std::optional<LinkId> choose(Time now, std::span<const Candidate> candidates, Duration origin);
  /// The one that costs least.
  std::optional<LinkId> best_of(std::span<const Candidate> candidates, Duration origin) const;

  static constexpr Duration kPatience = 1s;
  /// How often candidates are compared.
  static constexpr Duration kLookEvery = 20ms;

 private:
  /// Packets after which half of what was counted is forgotten.
  static constexpr std::uint64_t kMemory = 1'024;

  struct Asked {
    LinkId link{};
    std::uint64_t packets = 0;
  };

  void forget_half();
  double cost(const Candidate& candidate, Duration origin) const;
  const Candidate* find_best(std::span<const Candidate> candidates, Duration origin) const;

  std::optional<LinkId> current_;
  std::optional<LinkId> better_;  // another one,
  Time better_since_{};           // since then
  Time looked_at_{};
  std::uint64_t sent_ = 0;
  std::vector<Asked> asked_;
};

}  // namespace spindled
