// The loads: how much, how fast, and how soon.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/hosts/cluster/deliveries.h"
#include "bench/hosts/cluster/group_member.h"
#include "bench/hosts/cluster/histogram.h"

namespace spindle::bench {

/// All times are of the clock in clock.h, and the same for all members.
struct Plan {
  std::size_t member = 0;  // index of this one
  std::size_t members = 1;
  std::size_t senders = 1;  // members with a lower index send, all receive
  std::size_t size = 100;   // bytes of a message, at least sizeof(Stamp)
  std::size_t window = 1;   // closed loop: own messages under way
  double rate = 0;          // open loop: messages a second of all senders together
  /// Open loop: what is to be sent within so long is sent at once. A member that wakes up more often than every
  /// millisecond takes more of the processor for that than for sending, and the load falls behind for that alone.
  std::int64_t burst_ns = 1'000'000;
  std::int64_t span_ns = 5'000'000;  // courses: what is told together
  std::int64_t start_ns = 0;         // load begins
  std::int64_t measure_from_ns = 0;  // what comes before is warm-up
  std::int64_t measure_to_ns = 0;
};

/// Numbers and stamps the messages of one sender.
class Sender {
 public:
  Sender(const Plan& plan, GroupMember& member)
      : member_(member), index_(static_cast<std::uint16_t>(plan.member)), payload_(plan.size) {}

  void send(std::int64_t intended_ns, bool last = false);

 private:
  GroupMember& member_;
  std::uint16_t index_;
  std::uint32_t sequence_ = 0;
  std::vector<std::byte> payload_;
};

/// Closed loop: as soon as an own message has come back, the next one leaves. Measures throughput.
class ClosedLoop {
 public:
  ClosedLoop(const Plan& plan, GroupMember& member)
      : plan_(plan), sender_(plan, member), deliveries_(plan.senders, plan.size) {}

  void receive(std::span<const std::byte> payload);
  /// Returns when everybody has stopped and everything has arrived.
  void run();
  /// A JSON object.
  std::string result() const;

 private:
  void look_at_clock();

  // Reading the clock may cost as much as receiving a message: it is done for one delivery in so many.
  static constexpr std::uint64_t kDeliveriesPerLook = 16;

  const Plan& plan_;
  Sender sender_;
  Deliveries deliveries_;
  std::int64_t now_ns_ = 0;
  std::size_t outstanding_ = 0;
  bool stopped_ = false;
  std::int64_t from_ns_ = 0;  // when the measurement really began and ended, and how much had arrived by then
  std::int64_t to_ns_ = 0;
  std::uint64_t count_at_from_ = 0;
  std::uint64_t count_at_to_ = 0;
};

/// A closed loop that tells its course: how many messages have arrived here in each span since the load began.
class ClosedLoopCourse {
 public:
  ClosedLoopCourse(const Plan& plan, GroupMember& member) : plan_(plan), loop_(plan, member) {}

  void receive(std::span<const std::byte> payload);
  void run() { loop_.run(); }
  std::string result() const;

 private:
  const Plan& plan_;
  ClosedLoop loop_;
  std::vector<std::uint64_t> arrived_;  // by span since the load began
};

/// Open loop: messages leave at times fixed beforehand, whatever the system does. Latency counts from the time at which
/// a message was to be sent, so that a system that stalls does not escape the messages that it keeps from being sent.
/// What is to be sent within a moment, `Plan::burst_ns`, leaves at once.
class OpenLoop {
 public:
  OpenLoop(const Plan& plan, GroupMember& member)
      : plan_(plan), sender_(plan, member), deliveries_(plan.senders, plan.size) {}

  void receive(std::span<const std::byte> payload);
  void run();
  std::string result() const;

 private:
  bool is_measured(std::int64_t intended_ns) const {
    return intended_ns >= plan_.measure_from_ns && intended_ns < plan_.measure_to_ns;
  }

  void send_all();

  const Plan& plan_;
  Sender sender_;
  Deliveries deliveries_;
  Histogram latency_;   // from the intended time of sending to the delivery here, messages of all senders
  Histogram send_lag_;  // from the intended time of sending to the real one: the share of the machine's scheduler
  std::uint64_t measured_ = 0;
};

/// An open loop that tells its course: the latencies of the messages that were to be sent in each span since the load
/// began.
class OpenLoopCourse {
 public:
  OpenLoopCourse(const Plan& plan, GroupMember& member) : plan_(plan), loop_(plan, member) {}

  void receive(std::span<const std::byte> payload);
  void run() { loop_.run(); }
  std::string result() const;

 private:
  const Plan& plan_;
  OpenLoop loop_;
  std::vector<Histogram> latencies_;  // by span
};

}  // namespace spindle::bench
