#include "daemon/session/queue_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace spindled {

namespace {

/// A warning is repeated only after the queue has fallen to this part of what it warned of, and a while.
constexpr double kRepeatBelow = 0.5;
constexpr Duration kRepeatAfter = 10s;

/// However scarce memory is, so much may wait for a client.
constexpr std::size_t kDropFromLeast = 16u << 10;
/// A client for which no more waits keeps up.
constexpr std::size_t kBehindLeast = 1u << 10;

/// Bytes from which on a client is behind, and from which on no longer.
struct Bounds {
  std::size_t behind, caught_up;
};

Bounds bounds_of(SlowPolicy policy, const SessionConfig& config, double allowance) {
  if (policy != SlowPolicy::price) return {config.queue_soft_bytes, config.queue_soft_bytes / 2};
  const auto allowed = static_cast<std::size_t>(allowance * static_cast<double>(config.queue_full_price_bytes));
  const std::size_t behind = config.queue_full_price_bytes / 16;
  const std::size_t scarce = std::min(behind, std::max(allowed / 16, kBehindLeast));
  return {scarce, scarce / 4};
}

}  // namespace

std::size_t QueueWatch::drop_from() const {
  const double allowed = memory_->allowance() * static_cast<double>(config_->queue_soft_bytes);
  return std::min(config_->queue_soft_bytes, std::max(static_cast<std::size_t>(allowed), kDropFromLeast));
}

void QueueWatch::note_look(Time now) {
  const Duration stood_still = now - std::exchange(looked_at_, now) - kLookPeriod;
  if (!behind_since_ || stood_still <= Duration::zero()) return;
  progress_at_ = std::min(now, progress_at_ + stood_still);
  behind_since_ = std::min(now, *behind_since_ + stood_still);
}

void QueueWatch::note_return(Time now, std::size_t bytes) {
  progress_at_ = now;
  if (behind_since_) behind_since_ = now;
  excused_ = bytes;
}

std::optional<unsigned> QueueWatch::note_length(Time now, std::size_t bytes) {
  excused_ = std::min(excused_, bytes);
  const Bounds bounds = bounds_of(policy_, *config_, memory_->allowance());
  if (!behind_since_ && bytes > bounds.behind) {
    behind_since_ = progress_at_ = now;
  } else if (behind_since_ && bytes <= bounds.caught_up) {
    behind_since_.reset();
  }
  const double percent = 100 * static_cast<double>(bytes) / static_cast<double>(limit());
  unsigned reached = 0;
  for (const unsigned warning : kWarnings) {
    if (percent >= warning) reached = warning;
  }
  if (reached > warned_) {
    warned_ = reached;
    warned_at_ = now;
    return reached;
  }
  while (warned_ != 0 && percent < kRepeatBelow * warned_ && now - warned_at_ >= kRepeatAfter) {
    const auto* at = std::lower_bound(std::begin(kWarnings), std::end(kWarnings), warned_);
    warned_ = at == std::begin(kWarnings) ? 0 : *(at - 1);
  }
  return std::nullopt;
}

std::optional<Duration> QueueWatch::note_stall(Time now) {
  if (!is_priced() || now - progress_at_ < kStalled) return std::nullopt;
  if (stall_said_at_ && now - *stall_said_at_ < kStalledAgain) return std::nullopt;
  stall_said_at_ = now;
  return now - progress_at_;
}

std::optional<std::string> QueueWatch::objection(Time now, std::size_t bytes) const {
  if (unexcused(bytes) > config_->queue_hard_bytes && !is_paid_for(now)) {
    return fmt::format(
        "{} bytes wait for the client, more than the limit of {} (session.queue_hard_bytes): it has to "
        "read faster, or to receive less",
        unexcused(bytes), config_->queue_hard_bytes);
  }
  if (!behind_since_) return std::nullopt;
  if (policy_ == SlowPolicy::price && now - progress_at_ >= config_->stall_timeout) {
    return fmt::format(
        "the client has read nothing for {:.1f} s, with {} bytes waiting, for which senders slow down "
        "(session.stall_timeout_ms is {}): it has to go on reading, or to connect with the policy drop",
        to_seconds(now - progress_at_), bytes, config_->stall_timeout / 1ms);
  }
  if (policy_ == SlowPolicy::disconnect && now - *behind_since_ >= config_->stall_timeout) {
    return fmt::format(
        "{} bytes wait for the client, which has been behind for {:.1f} s with more than {} "
        "(session.queue_soft_bytes): it has to read faster, or to connect with the policy price or drop",
        bytes, to_seconds(now - *behind_since_), config_->queue_soft_bytes);
  }
  return std::nullopt;
}

}  // namespace spindled
