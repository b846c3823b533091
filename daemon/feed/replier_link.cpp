#include "daemon/feed/replier_link.h"

#include <algorithm>
#include <utility>

namespace spindled {

namespace {
/// So much of the cost of the present link another one may have, to be better.
constexpr double kBetter = 0.75;
/// Packets that count as sent and not asked for, before anything is known.
constexpr double kNoneAsked = 64;
}  // namespace

void ReplierLink::asked(LinkId link, std::uint64_t packets) {
  const auto found = std::find_if(asked_.begin(), asked_.end(), [&](const Asked& each) { return each.link == link; });
  if (found != asked_.end()) {
    found->packets += packets;
  } else {
    asked_.push_back({link, packets});
  }
}

void ReplierLink::forget_half() {
  sent_ /= 2;
  for (Asked& each : asked_) each.packets /= 2;
  std::erase_if(asked_, [](const Asked& each) { return each.packets == 0; });
}

double ReplierLink::cost(const Candidate& candidate, Duration origin) const {
  double share = 0;
  for (const Asked& each : asked_) {
    if (each.link != candidate.link) continue;
    share = std::min(1.0, static_cast<double>(each.packets) / (static_cast<double>(sent_) + kNoneAsked));
  }
  return to_seconds(candidate.nearest) + share * to_seconds(origin);
}

const ReplierLink::Candidate* ReplierLink::find_best(std::span<const Candidate> candidates, Duration origin) const {
  const Candidate* found = nullptr;
  double least = 0;
  for (const Candidate& each : candidates) {
    const double own = cost(each, origin);
    if (found != nullptr && own >= least) continue;
    found = &each;
    least = own;
  }
  return found;
}

std::optional<LinkId> ReplierLink::choose(Time now, std::span<const Candidate> candidates, Duration origin) {
  const auto is_current = [&](const Candidate& each) { return current_ && each.link == *current_; };
  const auto present = std::find_if(candidates.begin(), candidates.end(), is_current);
  if (present != candidates.end() && now < looked_at_ + kLookEvery) return current_;
  looked_at_ = now;
  const Candidate* found = find_best(candidates, origin);
  if (present == candidates.end() || found == nullptr) {
    current_ = found == nullptr ? std::nullopt : std::optional(found->link);
    better_.reset();
    return current_;
  }
  if (cost(*found, origin) > kBetter * cost(*present, origin)) {
    better_.reset();
  } else if (better_ != found->link) {
    better_ = found->link;
    better_since_ = now;
  } else if (now - better_since_ >= kPatience) {
    current_ = std::exchange(better_, std::nullopt);
  }
  return current_;
}

std::optional<LinkId> ReplierLink::best_of(std::span<const Candidate> candidates, Duration origin) const {
  const Candidate* found = find_best(candidates, origin);
  return found == nullptr ? std::nullopt : std::optional(found->link);
}

}  // namespace spindled
