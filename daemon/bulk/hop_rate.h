// How fast bulk content goes to a neighbour beside ordered messages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "daemon/base/time.h"

namespace spindled {

/// The rate of one hop. It is unlimited until ordered messages have to wait: their link and the hop share a path, whose
/// ends share it fairly at best. Beside messages content begins slowly, at kRateAtBegin, and the rate doubles each time
/// as long as nothing waits: a queue that content fills at once leaves the later the less the path has left.
///
/// While the link has something waiting the hop sends no more than its least share. Beside messages it has no more in
/// flight than the path takes in a round trip, and what a queue may hold of content: half of what kSharedBytes take,
/// from kSharedDelay to kDelayMax. So messages never wait for much content, and that is enough beside those that come
/// in bursts and wait for each other whatever the hop does. Where something waits all the time there is more that wants
/// to go, and that an admission holds back far from here. So each time that the rate is set anew,
///
/// - where the link has had something waiting for most of two intervals, and not less of it than before, the rate falls
///   by the square of the part of the time in which it has: to 0.7 of what it was where that was all (the decrease of
///   CUBIC, RFC 9438), and to half where content has just begun, which is what nothing has waited for;
/// - where there are ordered messages beside, no round trip of two intervals was shorter than the shortest one and what
///   kSharedBytes take, with a quarter more, and that is not falling back soon, the rate falls in that proportion, and
///   to no less than 0.7: what waits in a queue of the path is not seen to wait on the link;
/// - the same where there are none, from kDelayMaxAlone on: any queue in front of a path is filled by whoever has the
///   path to himself, and one that is left as often as it fills costs much of what the path carries;
/// - it does not fall below the least share of what the path carries, and stays unlimited while the hop carries next
///   to nothing: then it is others that are waited for, and content that comes later would be held up;
/// - otherwise it grows by two thirds of what it fell by last, or by 2 % of what the path carries, whichever is more.
///   Where it exceeds all that the path carries, it is unlimited again;
/// - where it was unlimited before ordered messages came, it is so again when they have gone by.
///
/// What the link costs (daemon/admission) is no measure of this: a price outlasts its queue by far, so that bulk
/// content would leave unused what ordered messages do not want.
///
/// Order of calls: `start`; then `note_link` at the end of each turn, and `adjust` every kInterval; `begin` and
/// `note_hop` where content is about to be sent and `is_to_begin` or `wants_hop` says so.
class HopRate {
 public:
  static constexpr Duration kInterval = 50ms;
  static constexpr Duration kDelayMax = 25ms;
  static constexpr Duration kDelayMaxAlone = 250ms;
  static constexpr Duration kSharedDelay = 5ms;
  /// Three symbols of a large content.
  static constexpr double kSharedBytes = 24u << 10;
  /// There are ordered messages where the packets of messages that the link has been given are this part of what the
  /// path carries, each as large as one may be,
  static constexpr double kSharedPart = 0.01;
  /// and for so long after. What daemons tell each other is no message: no client waits for it.
  static constexpr Duration kSharedFor = 1s;

  /// Bytes a second, at first, beside ordered messages,
  static constexpr double kRateAtBegin = 256u << 10;
  /// and for so long where none were seen, but nobody has looked before: some may come.
  static constexpr Duration kLook = 20ms;
  /// What the hop has in flight beside messages is looked at so often at most.
  static constexpr Duration kLookAtHop = 500us;

  /// What has gone over the path until now, and how long a round trip takes.
  struct Path {
    std::uint64_t ordered_bytes = 0;    // on the link,
    std::uint64_t bulk_bytes = 0;       // and on the hop, acknowledged, ever
    std::uint64_t message_packets = 0;  // of clients' messages, that the link has been given ever
    std::size_t ordered_waiting = 0;    // bytes that the link has yet to take
    Duration round_trip{};              // of the hop, or of the link where the hop carries nothing; zero: not known
    Duration shortest{};                // of both lately, as the system has measured it; zero: not known
  };

  /// `since`: when the messages of `path` were counted.
  void start(Time now, const Path& path, Time since);
  /// Whether something waits to be written on the link that could be.
  void note_link(Time now, bool waits);
  /// Whether `note_hop` is to be called before more is sent.
  bool wants_hop(Time now) const {
    return window_.most > 0 && now < shared_until_ && now - window_.seen_at >= kLookAtHop;
  }
  /// `in_flight`: bytes that the hop has been given and that are not acknowledged. `round_trip`: of the hop; zero: not
  /// known.
  void note_hop(Time now, std::size_t in_flight, Duration round_trip);
  /// `capacity`: what the path carries, in bytes a second; 0: not known. `share`: of it, what is left to bulk in any
  /// case. Says whether the rate has become less.
  bool adjust(Time now, Path path, std::uint64_t capacity, double share);

  /// Whether `begin` is to be called before more is sent: next to nothing was for an interval, or it is not known yet
  /// whether there are messages.
  bool is_to_begin() const { return is_idle_ || is_looking_; }
  /// Content begins. `message_packets`: as in Path, and `share` as there.
  void begin(Time now, std::uint64_t message_packets, double share);

  /// Of the interval that `adjust` has ended, the part in which the link has had something waiting.
  double waited_share() const { return waited_share_; }

  bool is_limited() const { return rate_ < kUnlimited; }
  /// Bytes a second, where it is limited.
  double rate() const { return rate_; }
  /// Whether more may be sent. What is sent then may be more than the rate allows; it is made up for. `link_waits`:
  /// whether something waits to be written on the link that could be.
  bool may_send(Time now, bool link_waits);
  void sent(std::size_t bytes) {
    window_.flight += static_cast<double>(bytes);
    if (is_limited()) allowed_.credit -= static_cast<double>(bytes);
    if (link_waits_) least_allowed_.credit -= static_cast<double>(bytes);
  }
  /// When it may be again.
  Time next_at() const;

 private:
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  /// Bytes that may be sent at some rate.
  struct Allowance {
    double credit = 0;
    Time credited_at{};

    /// `most`: credit that is kept.
    bool is_there(Time now, double rate, double most);
    Time next_at(double rate) const;
  };
  /// What the hop may have in flight beside ordered messages, in bytes.
  struct Window {
    double most = 0;    // 0: as much as it takes
    double flight = 0;  // written, and not acknowledged when it was looked at last; and what was sent since
    double drain = 0;   // bytes a second that leave the path
    Time seen_at{};

    bool is_full() const { return most > 0 && flight >= most; }
    /// When there could be room.
    Time open_at() const;
  };

  void measure(const Path& path);
  /// `whole`: bytes a second that the path carries. `standing`: the shortest round trip of two intervals.
  void set_window(double whole, Duration standing, double share);
  /// It is unlimited.
  void end_beginning();

  double rate_ = kUnlimited;
  Allowance allowed_;  // at that rate
  double least_ = 0;   // bytes a second, while the link has something waiting; 0: as many as otherwise
  Allowance least_allowed_;
  bool link_waits_ = false;
  Window window_;
  // Since `adjusted_at_`.
  Path before_;
  Duration least_round_trip_ = Duration::max();  // of the hop
  Time adjusted_at_{};
  Duration waited_{};  // the time in which the link had something waiting
  std::optional<Time> waits_since_;
  double waited_share_ = 0;
  double most_carried_ = 0;  // bytes a second, by both, since `start`
  Duration shortest_{};      // round trip; zero: not known
  Time shared_until_{};
  bool fell_for_messages_ = false;  // and was unlimited before, or begins slowly for them
  Time counted_at_{};               // since then there have been the messages of `before_`, and no more
  bool is_idle_ = true;
  bool is_looking_ = false;    // for messages
  bool is_beginning_ = false;  // since `begin` nothing has waited
  Time fell_at_{};
  double fell_from_ = 0;  // the rate, then
};

}  // namespace spindled
