#include "bench/hosts/feeds/stream_sink.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/hosts/cluster/clock.h"

namespace spindle::bench {

StreamSink::StreamSink(const StreamPlan& plan) : first_(plan.first()), has_come_(plan.count()) {}

void StreamSink::take(std::span<const std::byte> message) {
  const std::int64_t now = now_ns();
  const StreamHead head = StreamHead::read(message);
  const std::lock_guard lock(mutex_);
  ++messages_;
  bytes_ += message.size();
  if (head.number < first_ || head.number - first_ >= has_come_.size()) return;
  if (has_come_[head.number - first_]) {
    ++duplicates_;
    return;
  }
  has_come_[head.number - first_] = true;
  ++received_;
  if (head.number < highest_) ++disordered_;
  highest_ = std::max(highest_, head.number);
  latency_.record(now - head.due_ns);
  latency_max_ns_ = std::max(latency_max_ns_, now - head.due_ns);
}

std::string StreamSink::counts() const {
  const std::lock_guard lock(mutex_);
  return fmt::format(R"({{"messages": {}, "bytes": {}}})", messages_, bytes_);
}

std::string StreamSink::result() const {
  const std::lock_guard lock(mutex_);
  return fmt::format(
      R"({{"received": {}, "lost": {}, "duplicates": {}, "disordered": {}, "max_ns": {}, "latency_ns": {}}})",
      received_, has_come_.size() - received_, duplicates_, disordered_, latency_max_ns_, latency_.to_json());
}

}  // namespace spindle::bench
