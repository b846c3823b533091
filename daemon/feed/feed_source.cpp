#include "daemon/feed/feed_source.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spindled {

namespace {
/// What a packet counts for in the mean of those before.
constexpr double kMeanWeight = 1.0 / 16;
/// Until the first packet has left.
constexpr double kPayloadShareAtFirst = 0.9;
/// So long after ordered messages have kept a packet from a link, that is what limits the feed.
constexpr Duration kYieldedLately = 1s;
/// A flow is news where a number is so much another one.
constexpr double kNews = 0.02;

bool differs(double a, double b) { return std::abs(a - b) > kNews * std::max(std::abs(a), std::abs(b)); }

}  // namespace

FeedSource::FeedSource(FeedHandle handle, Owner owner, FeedTerms terms, Random random, const FeedTree& tree,
                       SlabPool& slabs)
    : handle_(handle),
      owner_(std::move(owner)),
      terms_(std::move(terms)),
      groups_{terms_.group},
      random_(random),
      tree_(tree),
      queue_(slabs) {}

void FeedSource::add(Time now, ByteView message) {
  if (queue_.empty()) {
    pacer_.begin(now);
    limit_.begin(now);
  }
  queue_.add(message);
  credit_ -= static_cast<std::int64_t>(message.size());
  active_at_ = now;
}

bool FeedSource::drop() {
  is_closing_ = true;
  const bool has_waited = !queue_.empty();
  queue_.clear();
  return has_waited;
}

void FeedSource::set_destinations(Time now, FeedDestinations destinations, std::size_t packet_bytes,
                                  std::size_t rate_min) {
  destinations_ = std::move(destinations);
  if (destinations_.members.empty()) {
    rate_.reset();
    return;
  }
  const Duration known = destinations_.round_trip == Duration::zero() ? kRoundTripUnknown : destinations_.round_trip;
  const Duration round_trip = std::max(known, kRoundTripMin);
  if (rate_) {
    rate_->set_round_trip(round_trip);
  } else {
    FeedRateConfig config;
    config.packet_bytes = packet_bytes;
    config.round_trip = round_trip;
    config.rate_min = static_cast<double>(rate_min);
    rate_.emplace(now, config, random_.split(), &tree_);
  }
  advance(now);
}

void FeedSource::advance(Time now) {
  if (rate_) {
    rate_->advance(now);
    pacer_.set_rate(now, rate_->pace(), rate_->silent_until());
  }
  if (terms_.bytes_per_second_max != 0) {
    limit_.set_rate(now, static_cast<double>(terms_.bytes_per_second_max), Time{});
  }
  if (!is_abandoned_ || !is_begun_) return;
  if (dropped_at_ == kNever) dropped_at_ = now + std::max(terms_.repair_for, kLeaveTimeMin);
  if (dropped_at_ <= now) drop();
}

bool FeedSource::may_send(Time now) {
  if (queue_.empty() || !is_begun_) return false;
  if (terms_.bytes_per_second_max != 0 && !limit_.may_send(now)) return false;
  return !rate_ || pacer_.may_send(now);
}

void FeedSource::sent(Time now, std::uint64_t sequence, std::size_t payload, std::size_t bytes) {
  ++packets_;
  active_at_ = now;
  const auto size = static_cast<double>(payload);
  if (payload_mean_ == 0) {
    payload_mean_ = size;
    bytes_mean_ = static_cast<double>(bytes);
  } else {
    payload_mean_ += kMeanWeight * (size - payload_mean_);
    bytes_mean_ += kMeanWeight * (static_cast<double>(bytes) - bytes_mean_);
  }
  if (terms_.bytes_per_second_max != 0) limit_.sent(payload);
  if (!rate_) return;
  pacer_.sent(bytes);
  rate_->sent(now, sequence, bytes);
}

/// The rate is that of each link: what one of them carries counts for as much less.
void FeedSource::repaired(std::size_t bytes) { pacer_.sent(bytes / std::max<std::size_t>(destinations_.links, 1)); }

bool FeedSource::lost(Time now, const LossReport& report) {
  if (!rate_) return false;
  const bool is_less = rate_->lost(now, report);
  if (is_less) pacer_.set_rate(now, rate_->pace(), rate_->silent_until());
  return is_less;
}

double FeedSource::payload_rate() const {
  const double share = payload_mean_ == 0 ? kPayloadShareAtFirst : payload_share();
  return rate_ ? rate_->rate() * share : 0;
}

std::size_t FeedSource::take_room(std::size_t payload_max) {
  if (is_closing_) return 0;
  double rate = rate_ ? payload_rate() : std::numeric_limits<double>::infinity();
  if (terms_.bytes_per_second_max != 0) rate = std::min(rate, static_cast<double>(terms_.bytes_per_second_max));
  // A packet in any case. Of many short messages that is as much as leaves in one.
  const double packet = payload_mean_ == 0 ? static_cast<double>(payload_max) : std::max(payload_mean_, 1.0);
  const double bytes = std::max(packet, rate * to_seconds(FeedPacer::kQueue));
  const auto wanted =
      static_cast<std::size_t>(std::min(bytes, static_cast<double>(rate_ ? kQueueBytesMax : kLocalQueueBytes)));
  const std::int64_t room = static_cast<std::int64_t>(wanted) - static_cast<std::int64_t>(queue_.bytes()) - credit_;
  const bool is_worth = credit_ <= 0 || 4 * room >= static_cast<std::int64_t>(wanted);
  if (room <= 0 || credit_ + room <= 0 || !is_worth) return 0;
  credit_ += room;
  return static_cast<std::size_t>(room);
}

FeedFlow FeedSource::flow(Time now) const {
  FeedFlow flow;
  const auto limit = static_cast<double>(terms_.bytes_per_second_max);
  if (!rate_) {
    flow.bytes_per_second = limit;
    flow.limited_by = limit != 0 ? FeedLimit::maximum : FeedLimit::source;
    return flow;
  }
  flow.bytes_per_second = payload_rate();
  if (rate_->epochs() != 0) flow.round_trip = rate_->round_trip();
  flow.loss = std::clamp(rate_->loss(), 0.0, 1.0);
  flow.limited_by = rate_->limited_by();
  if (now < yielded_at_ + kYieldedLately) flow.limited_by = FeedLimit::share;
  if (limit != 0 && flow.bytes_per_second >= limit) {
    flow.bytes_per_second = limit;
    flow.limited_by = FeedLimit::maximum;
  }
  return flow;
}

bool FeedSource::is_different(const FeedFlow& flow) const {
  return !told_ || flow.limited_by != told_->limited_by || differs(flow.bytes_per_second, told_->bytes_per_second) ||
         differs(to_seconds(flow.round_trip), to_seconds(told_->round_trip)) || differs(flow.loss, told_->loss);
}

std::optional<FeedFlow> FeedSource::take_flow(Time now) {
  if (is_closing_ || (told_ && now < told_at_ + kFlowInterval)) return std::nullopt;
  const FeedFlow news = flow(now);
  if (!is_different(news)) return std::nullopt;
  told_ = news;
  told_at_ = now;
  return news;
}

Time FeedSource::next_at(Time now) {
  Time next = kNever;
  if (!queue_.empty() && is_begun_) {
    next = now;
    if (rate_) next = std::max(next, pacer_.next_at());
    if (terms_.bytes_per_second_max != 0) next = std::max(next, limit_.next_at());
    next = std::min(next, dropped_at_);
  }
  // The rate goes on to change for a while, and with it the room and what is told.
  if (rate_ && !is_closing_ && now < active_at_ + kActive)
    next = std::min(next, std::max(now, told_at_) + kFlowInterval);
  // Of one that is busy later than all else.
  return rate_ ? std::min(next, rate_->forgotten_at()) : next;
}

}  // namespace spindled
