#include "bench/hosts/cluster/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/hosts/cluster/clock.h"

namespace spindle::bench {

namespace {
/// What is kept of the span that `when` is in.
template <typename Kept>
Kept& at_span(std::vector<Kept>& course, const Plan& plan, std::int64_t when_ns) {
  const auto span = static_cast<std::size_t>(std::max<std::int64_t>(0, when_ns - plan.start_ns) / plan.span_ns);
  if (course.size() <= span) course.resize(span + 1);
  return course[span];
}
}  // namespace

void Sender::send(std::int64_t intended_ns, bool last) {
  const Stamp stamp{intended_ns, sequence_++, index_, static_cast<std::uint16_t>(last)};
  std::memcpy(payload_.data(), &stamp, sizeof stamp);
  member_.send(payload_);
}

void ClosedLoop::run() {
  sleep_until(plan_.start_ns);
  // The first message only: when it has come back, `receive` sends the rest of the window, so that from then on one
  // thread does all the sending.
  if (plan_.member < plan_.senders) sender_.send(plan_.start_ns);
  deliveries_.wait_for_all();
}

void ClosedLoop::receive(std::span<const std::byte> payload) {
  // With the last message the result is read. It may come so soon after the end that no look was due since.
  const bool is_last = payload.size() >= sizeof(Stamp) && read_stamp(payload).last != 0;
  if (is_last || deliveries_.count() % kDeliveriesPerLook == 0) look_at_clock();
  const Stamp stamp = deliveries_.take(payload);
  if (stamp.sender != plan_.member || stamp.last != 0) return;
  if (stamp.sequence != 0) --outstanding_;
  if (!stopped_) stopped_ = now_ns_ >= plan_.measure_to_ns;
  for (; !stopped_ && outstanding_ < plan_.window; ++outstanding_) sender_.send(now_ns_);
  if (stopped_ && outstanding_ == 0) sender_.send(now_ns_, true);
}

void ClosedLoop::look_at_clock() {
  now_ns_ = now_ns();
  if (from_ns_ == 0 && now_ns_ >= plan_.measure_from_ns) {
    from_ns_ = now_ns_;
    count_at_from_ = deliveries_.count();
  }
  if (to_ns_ == 0 && now_ns_ >= plan_.measure_to_ns) {
    to_ns_ = now_ns_;
    count_at_to_ = deliveries_.count();
  }
}

std::string ClosedLoop::result() const {
  return fmt::format(R"({{"messages": {}, "nanoseconds": {}, "total": {}, "total_ns": {}, "digest": "{:016x}"}})",
                     count_at_to_ - count_at_from_, to_ns_ - from_ns_, deliveries_.count(), now_ns_ - plan_.start_ns,
                     deliveries_.digest());
}

void ClosedLoopCourse::receive(std::span<const std::byte> payload) {
  const std::int64_t now = now_ns();
  if (now < plan_.measure_to_ns) ++at_span(arrived_, plan_, now);
  loop_.receive(payload);
}

std::string ClosedLoopCourse::result() const {
  return fmt::format(R"({{"span_ns": {}, "arrived": [{}]}})", plan_.span_ns, fmt::join(arrived_, ", "));
}

void OpenLoop::run() {
  if (plan_.member < plan_.senders) send_all();
  deliveries_.wait_for_all();
}

void OpenLoop::send_all() {
  const double interval_ns = 1e9 * static_cast<double>(plan_.senders) / plan_.rate;
  const auto burst =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(plan_.burst_ns) / interval_ns));
  const double offset_ns = interval_ns * static_cast<double>(burst * plan_.member) / static_cast<double>(plan_.senders);
  for (std::uint64_t i = 0;; ++i) {
    const auto intended_ns =
        plan_.start_ns + static_cast<std::int64_t>(offset_ns + interval_ns * static_cast<double>(i - i % burst));
    if (i % burst == 0) sleep_until(intended_ns);
    if (is_measured(intended_ns)) send_lag_.record(now_ns() - intended_ns);
    const bool last = intended_ns >= plan_.measure_to_ns;
    sender_.send(intended_ns, last);
    if (last) break;
  }
}

void OpenLoop::receive(std::span<const std::byte> payload) {
  const std::int64_t arrived_ns = now_ns();
  const Stamp stamp = deliveries_.take(payload);
  if (!is_measured(stamp.intended_ns)) return;
  latency_.record(arrived_ns - stamp.intended_ns);
  ++measured_;
}

std::string OpenLoop::result() const {
  return fmt::format(
      R"({{"messages": {}, "nanoseconds": {}, "digest": "{:016x}", "latency_ns": {}, "send_lag_ns": {}}})", measured_,
      plan_.measure_to_ns - plan_.measure_from_ns, deliveries_.digest(), latency_.to_json(), send_lag_.to_json());
}

void OpenLoopCourse::receive(std::span<const std::byte> payload) {
  const std::int64_t arrived_ns = now_ns();
  // First, since with the last message the result is read. The loop looks whether a payload is whole.
  const Stamp stamp = payload.size() >= sizeof(Stamp) ? read_stamp(payload) : Stamp{};
  if (stamp.intended_ns < plan_.measure_to_ns) {
    at_span(latencies_, plan_, stamp.intended_ns).record(arrived_ns - stamp.intended_ns);
  }
  loop_.receive(payload);
}

std::string OpenLoopCourse::result() const {
  std::vector<std::string> spans;
  for (const Histogram& latencies : latencies_) spans.push_back(latencies.to_json());
  return fmt::format(R"({{"span_ns": {}, "latency_ns": [{}]}})", plan_.span_ns, fmt::join(spans, ", "));
}

}  // namespace spindle::bench
