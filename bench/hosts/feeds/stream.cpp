#include "bench/hosts/feeds/stream.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "bench/hosts/client_lines.h"
#include "bench/hosts/cluster/clock.h"

namespace spindle::bench {
namespace {

/// How long to wait until a source that had no room is asked again.
constexpr std::int64_t kRetryNs = 200'000;

/// The messages from `oldest` on, as far as they are due, are to be sent.
class Sender {
 public:
  Sender(const StreamPlan& plan, std::int64_t start_ns, StreamSource& source)
      : plan_(plan), start_ns_(start_ns), source_(source), message_(std::max(plan.bytes, sizeof(StreamHead))) {}

  StreamSent run() {
    const std::uint64_t total = plan_.total();
    while (oldest_ < total) {
      const std::int64_t now = now_ns();
      drop_what_is_too_late(now);
      if (oldest_ == total) break;
      if (due(oldest_) > now) {
        sleep_until(due(oldest_));
      } else if (send(due(oldest_))) {
        if (oldest_ >= plan_.first()) sent_.lag_max_ns = std::max(sent_.lag_max_ns, now - due(oldest_));
        ++oldest_;
      } else {
        sleep_until(now + kRetryNs);
      }
    }
    return sent_;
  }

  /// As many as there is room for.
  StreamSent flood() {
    const auto end_ns = start_ns_ + static_cast<std::int64_t>((plan_.warmup + plan_.seconds + plan_.rest) * 1e9);
    sleep_until(start_ns_);
    for (std::int64_t now = now_ns(); now < end_ns; now = now_ns()) {
      if (send(now)) {
        ++oldest_;
      } else {
        sleep_until(now + kRetryNs);
      }
    }
    return sent_;
  }

 private:
  std::int64_t due(std::uint64_t number) const {
    return start_ns_ + static_cast<std::int64_t>(static_cast<double>(number) * 1e9 / plan_.rate);
  }

  void drop_what_is_too_late(std::int64_t now) {
    const std::uint64_t total = plan_.total();
    const auto patience_ns = static_cast<std::int64_t>(plan_.patience * 1e9);
    for (; is_waiting_ && oldest_ < total && now - due(oldest_) > patience_ns; ++oldest_) ++sent_.dropped;
  }

  /// A message that leaves late because this program got no processor is sent all the same: only what found no room is
  /// dropped.
  bool send(std::int64_t due_ns) {
    StreamHead{due_ns, oldest_}.write(message_);
    is_waiting_ = !source_.send(message_);
    if (!is_waiting_) ++sent_.sent;
    return !is_waiting_;
  }

  const StreamPlan& plan_;
  std::int64_t start_ns_;
  StreamSource& source_;
  std::vector<std::byte> message_;
  std::uint64_t oldest_ = 0;
  bool is_waiting_ = false;
  StreamSent sent_;
};

}  // namespace

StreamHead StreamHead::read(std::span<const std::byte> message) {
  StreamHead head;
  if (message.size() < sizeof head) fail("a message of {} bytes came", message.size());
  std::memcpy(&head, message.data(), sizeof head);
  return head;
}

void StreamHead::write(std::span<std::byte> message) const { std::memcpy(message.data(), this, sizeof *this); }

StreamSent send_stream(const StreamPlan& plan, std::int64_t start_ns, StreamSource& source) {
  Sender sender(plan, start_ns, source);
  return plan.rate > 0 ? sender.run() : sender.flood();
}

}  // namespace spindle::bench
