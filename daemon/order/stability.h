// Stability: who has received what, and what nobody needs to keep any longer.
#pragma once

#include "daemon/base/timers.h"
#include "daemon/order/order_state.h"

namespace spindled {

/// A message is stable when all its destinations have received it. Its origin and its other destinations keep it until
/// then, since recovery may have to send it again (recovery.h). What goes to its origin only is kept by nobody.
///
/// A daemon takes both parts. As a destination it acknowledges to each origin the highest number that it has received
/// of its stream; that is the frame Acknowledgement. As an origin it finds out from acknowledgements up to where its
/// own stream is stable (OwnStream). It announces that line to those who keep copies; that is the frame Stable.
///
/// One number is enough for either, since either is about a prefix. An origin's frames arrive in the order in which
/// they were sent: what a destination has received is a prefix of what the stream addressed to it. The stable line ends
/// the longest prefix of the stream in which every message is stable. One message without an acknowledgement therefore
/// holds up the memory of all behind it, even of those that went to others.
///
/// No message waits for any of this, only memory does. So both frames may be late: an acknowledgement waits until much
/// has arrived or some time has passed, and the announcement of little waits longer. While the layer above is behind
/// nothing is acknowledged, so that senders run into their windows.
///
/// Order of calls: `restart` with each view, then what arrives and the ends of turns as they come, and `stop` when the
/// view is frozen.
class Stability {
 public:
  explicit Stability(OrderState& state) : state_(state) {}

  /// A new view.
  void restart() { acknowledgements_due_ = false; }
  /// The view is frozen: nothing more is acknowledged or announced in it.
  void stop();

  // What arrives.

  /// A message of `stream`, another daemon's, has been received.
  void note_received(Time now, const IncomingStream& stream) {
    const OrderConfig& config = state_.context.config.order;
    if (stream.has_news()) {
      // A few messages to this daemon hold up many to others.
      const bool holds_up = stream.passed_by() >= kManyPassedBy;
      const Duration interval = config.acknowledge_within;
      timers_.set_earlier(Timer::acknowledge, now + (holds_up ? interval / kSooner : interval));
    }
    if (stream.bytes_since_acknowledgement() >= config.acknowledge_every_bytes) acknowledgements_due_ = true;
  }
  /// A destination has received this daemon's stream as far as `acknowledgement` says.
  void take_acknowledgement(Time now, const Acknowledgement& acknowledgement);
  /// Another daemon's stream is stable.
  void take_announcement(const Stable& announcement) {
    if (announcement.from < state_.incoming.size()) state_.incoming[announcement.from].release(announcement.line);
  }

  /// The end of a turn.
  void flush();
  void handle_time(Time now);
  Time next_deadline() const { return timers_.next(); }

 private:
  enum class Timer : std::uint8_t { acknowledge, announce, count_ };
  /// To whom an acknowledgement goes: to origins of which much has arrived since the last one, or anything.
  enum class Origins : std::uint8_t { of_much, of_anything };

  /// Where an origin has sent so many messages to others only since the last acknowledgement, the next one is due
  /// sooner: in this part of `acknowledge_within`.
  static constexpr std::uint64_t kManyPassedBy = 64;
  static constexpr int kSooner = 10;

  void acknowledge(Origins origins);
  void announce();
  /// Bytes of this daemon's stream, stable and not announced, below which the announcement can be late.
  std::size_t little() const;

  OrderState& state_;
  bool acknowledgements_due_ = false;  // some origin has sent much
  Timers<Timer> timers_;
};

}  // namespace spindled
