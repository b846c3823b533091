#include "tests/sim/tcp_flow.h"

#include <algorithm>

namespace spindled::sim {

namespace {
constexpr int kDuplicates = 3;
constexpr double kLeastThreshold = 2;
constexpr Duration kTimeoutFirst = 1s, kTimeoutMax = 60s;
}  // namespace

TcpFlow::TcpFlow(EventQueue& events, const PacketRoute& there, const PacketRoute& back, const TcpProperties& properties)
    : events_(&events), there_(&there), back_(&back), properties_(properties), window_(properties.first_window) {}

// The sender.

void TcpFlow::send_more() {
  double room = std::min(window_, properties_.receive_window);
  if (!is_recovering_) room += std::min(duplicates_, kDuplicates - 1);
  while (in_flight() + 1 <= room) send(next_++);
}

void TcpFlow::send(std::uint64_t number) {
  const std::size_t index = number - unacknowledged_;
  const bool again = number < highest_;
  if (!again) {
    outstanding_.emplace_back();
    highest_ = number + 1;
  }
  outstanding_[index] = {events_->now(), again};
  ++counts_.sent;
  if (again) ++counts_.sent_again;
  if (deadline_ == kNever) arm();
  send_packet(*there_, properties_.packet_bytes, [this, number] { arrived(number); });
}

void TcpFlow::acknowledged(std::uint64_t next) {
  if (next > unacknowledged_) {
    advanced(next);
  } else if (next == unacknowledged_ && next_ > unacknowledged_) {
    repeated();
  }
  send_more();
}

void TcpFlow::advanced(std::uint64_t next) {
  const std::uint64_t packets = next - unacknowledged_;
  // Karn's algorithm: of what was sent twice nobody knows which one arrived.
  const Outstanding& newest = outstanding_[packets - 1];
  if (!newest.again) measure(events_->now() - newest.sent_at);
  outstanding_.erase(outstanding_.begin(), outstanding_.begin() + static_cast<std::ptrdiff_t>(packets));
  unacknowledged_ = next;
  next_ = std::max(next_, next);
  backoff_ = 0;
  duplicates_ = 0;
  if (!is_recovering_) {
    grow(packets);
    arm();
    return;
  }
  if (properties_.kind == TcpKind::newreno && next < recover_) {
    partly_recovered(packets);
    return;
  }
  is_recovering_ = false;
  window_ = properties_.kind == TcpKind::newreno ? std::min(threshold_, std::max(in_flight(), 1.0) + 1) : threshold_;
  acked_ = 0;
  arm();
}

void TcpFlow::grow(std::uint64_t packets) {
  if (window_ < threshold_) {
    window_ += 1;
    return;
  }
  acked_ += properties_.counts_packets ? static_cast<double>(packets) : 1;
  if (acked_ < window_) return;
  acked_ -= window_;
  window_ += 1;
}

/// RFC 6582, section 3.2, step 3.
void TcpFlow::partly_recovered(std::uint64_t packets) {
  send(unacknowledged_);
  window_ = std::max(1.0, window_ - static_cast<double>(packets) + 1);
  if (is_first_partial_) arm();
  is_first_partial_ = false;
}

void TcpFlow::repeated() {
  ++duplicates_;
  if (is_recovering_) {
    window_ += 1;
  } else if (duplicates_ == kDuplicates && unacknowledged_ >= not_before_) {
    begin_recovery();
  }
}

void TcpFlow::begin_recovery() {
  ++counts_.fast_retransmits;
  is_recovering_ = true;
  is_first_partial_ = true;
  // What limited transmit has let out does not count (RFC 5681, section 3.2).
  threshold_ = std::max((in_flight() - (kDuplicates - 1)) / 2, kLeastThreshold);
  recover_ = highest_;
  if (properties_.kind == TcpKind::newreno) not_before_ = highest_;
  window_ = threshold_ + kDuplicates;
  send(unacknowledged_);
  arm();
}

void TcpFlow::measure(Duration sample) {
  if (round_trip_ == Duration::zero()) {
    round_trip_ = sample;
    deviation_ = sample / 2;
    return;
  }
  const Duration difference = sample > round_trip_ ? sample - round_trip_ : round_trip_ - sample;
  deviation_ += (difference - deviation_) / 4;
  round_trip_ += (sample - round_trip_) / 8;
}

Duration TcpFlow::timeout() const {
  const Duration measured = round_trip_ == Duration::zero() ? kTimeoutFirst : round_trip_ + 4 * deviation_;
  return std::min(kTimeoutMax, std::max(measured, properties_.timeout_min) * (1 << std::min(backoff_, 8)));
}

void TcpFlow::arm() {
  deadline_ = next_ > unacknowledged_ ? events_->now() + timeout() : kNever;
  watch();
}

void TcpFlow::watch() {
  if (is_watched_ || deadline_ == kNever) return;
  is_watched_ = true;
  events_->at(deadline_, [this] {
    is_watched_ = false;
    if (events_->now() >= deadline_) {
      time_out();
    } else {
      watch();
    }
  });
}

void TcpFlow::time_out() {
  ++counts_.timeouts;
  // Once for packets that are lost again and again (RFC 5681, section 3.1).
  if (backoff_ == 0) threshold_ = std::max(in_flight() / 2, kLeastThreshold);
  ++backoff_;
  window_ = 1;
  acked_ = 0;
  duplicates_ = 0;
  is_recovering_ = false;
  recover_ = not_before_ = highest_;
  next_ = unacknowledged_;
  deadline_ = kNever;
  send_more();
}

// The receiver.

void TcpFlow::arrived(std::uint64_t number) {
  if (number != expected_) {
    if (number > expected_) early_.insert(number);
    acknowledge();
    return;
  }
  const bool had_gap = !early_.empty();
  ++expected_;
  while (!early_.empty() && *early_.begin() == expected_) {
    early_.erase(early_.begin());
    ++expected_;
  }
  if (had_gap || owes_ack_) {
    acknowledge();
  } else {
    acknowledge_late();
  }
}

void TcpFlow::acknowledge() {
  owes_ack_ = false;
  ++acks_;
  send_packet(*back_, properties_.ack_bytes, [this, next = expected_] { acknowledged(next); });
}

void TcpFlow::acknowledge_late() {
  owes_ack_ = true;
  events_->after(properties_.delayed_ack_max, [this, acks = acks_] {
    if (owes_ack_ && acks_ == acks) acknowledge();
  });
}

}  // namespace spindled::sim
