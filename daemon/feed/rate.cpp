#include "daemon/feed/rate.h"

#include <algorithm>

namespace spindled {

namespace {

/// Of samples that are shorter than half of the mean (section 2.3.3).
constexpr double kShortDropped = 0.9;
/// Without a packet for so many intervals a rate does not grow.
constexpr int kIdleIntervals = 16;
/// What the source uses is measured over so many packets that it may send, at least.
constexpr double kUsePackets = 4;
/// The rate is at most so many times what was sent.
constexpr double kUseFactor = 2;
/// What a loss leaves of the rate; in the paper a half.
constexpr double kLeft = 0.5;

}  // namespace

FeedRate::FeedRate(Time now, const FeedRateConfig& config, Random random, const FeedTree* tree)
    : config_(config),
      random_(random),
      paths_(tree),
      is_starting_(config.start),
      round_trip_(config.round_trip),
      deviation_(config.round_trip / 2),
      allowed_until_(now),
      idle_since_(now) {
  set_rate(config.start ? start_rate() : config.first_rate);
  next_increase_ = now + interval();
}

void FeedRate::set_rate(double rate) {
  const Duration epoch = round_trip_ + 4 * deviation_;
  const double least = has_floor() ? std::max(config_.rate_min, packets_in(epoch)) : packets_in(epoch);
  rate_ = std::min(std::max(rate, least), config_.rate_max);
}

bool FeedRate::has_floor() const {
  if (config_.rate_min <= 0) return false;
  const auto packet = static_cast<double>(config_.packet_bytes);
  const Duration queue = from_seconds(kFloorPackets * packet / config_.rate_min);
  return round_trip_ < config_.round_trip + queue && loss() < kFloorLoss;
}

void FeedRate::set_round_trip(Duration round_trip) {
  config_.round_trip = round_trip;
  if (is_measured_) return;
  round_trip_ = round_trip;
  deviation_ = round_trip / 2;
}

void FeedRate::sent(Time now, std::uint64_t sequence, std::size_t bytes) {
  advance(now);
  sent_.sent(now, sequence);
  highest_ = sequence;
  used_ += static_cast<double>(bytes);
  idle_since_ = now;
}

bool FeedRate::lost(Time now, const LossReport& report) {
  advance(now);
  const bool is_signaled = is_signal(report);
  const bool begins_epoch = is_signaled && now >= congested_until_;
  // The silence is by the round trip of before, the end of the epoch by that of after.
  const Duration silence = silence_now();
  if (report.is_first_try && !report.sequences.empty()) measure(now, report);
  if (!begins_epoch) return false;
  ++epochs_;
  account(now);
  const bool leaves_floor = has_floor();
  silent_until_ = allowed_until_ = leaves_floor ? now : now + silence;
  held_until_ = leaves_floor ? now + silence : Time{};
  congested_until_ = now + silence + round_trip_ + 4 * deviation_;
  const double before = rate_;
  const std::optional<Time> sent_at = is_starting_ ? sent_.sent_at(report.sequences.front()) : std::nullopt;
  set_rate(sent_at ? kLeft * rate_at(*sent_at) : rate_ * (config_.like_tcp ? kLeftLikeTcp : kLeft));
  is_starting_ = false;
  starts_.clear();
  return rate_ < before;
}

double FeedRate::rate_at(Time sent_at) const {
  const auto found =
      std::find_if(starts_.begin(), starts_.end(), [&](const auto& start) { return sent_at <= start.first; });
  return found == starts_.end() ? rate_ : found->second;
}

bool FeedRate::is_signal(const LossReport& report) {
  for (const std::uint64_t sequence : report.sequences) {
    const std::optional<Time> sent_at = sent_.sent_at(sequence);
    if (sent_at) paths_.lost(report.reporter, sequence, *sent_at, increase_interval());
  }
  const bool is_on_worst = paths_.is_on_worst(report.reporter, highest_);
  if (config_.worst_path && !is_on_worst) return false;
  mean_round_trip_ = report.mean_round_trip;
  bool is_new = false;
  for (const std::uint64_t sequence : report.sequences) is_new |= sent_.note_lost(sequence);
  return is_new;
}

void FeedRate::measure(Time now, const LossReport& report) {
  const std::optional<Time> sent_at = sent_.sent_at(config_.like_tcp ? report.heard : report.sequences.back());
  if (!sent_at || now - *sent_at <= report.held) return;
  const Duration longest = now - *sent_at - report.held;
  const Duration shortest = *sent_at < report.late_at ? longest - report.late_by : longest;
  if (shortest >= round_trip_) {
    sample(report.reporter, shortest);
  } else if (longest <= round_trip_) {
    sample(report.reporter, longest);
  }
}

void FeedRate::sample(FeedReporter reporter, Duration round_trip) {
  paths_.sample(reporter, round_trip);
  is_measured_ = true;
  if (2 * round_trip < round_trip_ && random_.chance(kShortDropped)) return;
  const Duration difference = round_trip > round_trip_ ? round_trip - round_trip_ : round_trip_ - round_trip;
  deviation_ += (difference - deviation_) / 4;
  round_trip_ += (round_trip - round_trip_) / 8;
}

Duration FeedRate::silence_now() const {
  const bool is_timeout = config_.like_tcp && rate_ < kTimeoutPackets * packets_in(round_trip_);
  return is_timeout ? std::max(round_trip_ / 2, kTimeout) : round_trip_ / 2;
}

Duration FeedRate::increase_interval() const {
  const Duration deviations = config_.increase_deviations * deviation_;
  if (!config_.like_tcp) return round_trip_ + deviations;
  const Duration without_queues = std::clamp(config_.round_trip, round_trip_ / 4, round_trip_);
  const double blind = kBlindPackets * static_cast<double>(config_.packet_bytes) / rate_;
  const auto between = [&](double weight) {
    return to_seconds(without_queues) + weight * to_seconds(round_trip_ - without_queues);
  };
  const double mean =
      std::clamp(kMeanWeight * to_seconds(mean_round_trip_), between(kQueueWeight), between(kQueueWeightMax));
  return from_seconds(mean + blind) + deviations;
}

void FeedRate::advance(Time now) {
  sent_.forget_old(now);
  if (is_held() && held_until_ <= now) account(held_until_);
  now_ = std::max(now_, now);
  if (now < next_increase_) return;
  if (now - next_increase_ > kIdleIntervals * interval()) {
    account(now);
    decay(now);
    next_increase_ = now + interval();
    return;
  }
  while (next_increase_ <= now) {
    const Time at = next_increase_;
    increase(at);
    next_increase_ = at + interval();
  }
}

void FeedRate::increase(Time at) {
  account(at);
  decay(at);
  if (at < congested_until_) return;
  const double wanted = is_starting_ ? 2 * rate_ : rate_ + packets_in(increase_interval());
  const double ceiling = config_.start ? kUseFactor * use_ * rate_ : wanted;
  if (ceiling <= rate_) return;
  if (is_starting_) {
    std::erase_if(starts_, [&](const auto& start) { return start.first + SentPackets::kTime < at; });
    starts_.emplace_back(at, rate_);
  }
  set_rate(std::min(wanted, ceiling));
}

void FeedRate::account(Time at) {
  if (at <= allowed_until_) return;
  allowed_ += pace() * to_seconds(at - allowed_until_);
  allowed_until_ = at;
  if (allowed_ < kUsePackets * static_cast<double>(config_.packet_bytes)) return;
  use_ = used_ / allowed_;
  used_ = allowed_ = 0;
}

void FeedRate::decay(Time now) {
  const Duration period = std::max(kIdle, round_trip_ + 4 * deviation_);
  while (config_.start && idle_since_ + period <= now && rate_ > start_rate()) {
    set_rate(std::max(rate_ / 2, start_rate()));
    idle_since_ += period;
  }
}

FeedLimit FeedRate::limited_by() const {
  if (rate_ >= config_.rate_max) return FeedLimit::maximum;
  if (config_.start && kUseFactor * use_ <= 1) return FeedLimit::source;
  return is_starting_ ? FeedLimit::start : FeedLimit::link;
}

}  // namespace spindled
