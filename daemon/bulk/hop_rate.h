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
/// as long as nothing waits: a queue that content fills at once leaves the later the less the path has left. Each time
/// that the rate is set anew,
///
/// - where the link has had something waiting, and not less of it than before, the rate falls by the square of the part
///   of the time in which it has: to 0.7 of what it was where that was all (the decrease of CUBIC, RFC 9438);
/// - where there are ordered messages beside, a round trip is longer than the shortest one by more than kSharedBytes
///   take, from kSharedDelay to kDelayMax, and is not falling back soon, the rate falls in that proportion, and to no
///   less than 0.7: what waits in a queue of the path is not seen to wait on the link;
/// - the same where there are none, from kDelayMaxAlone on: any queue in front of a path is filled by whoever has the
///   path to himself, and one that is left as often as it fills costs much of what the path carries;
/// - it does not fall below the least share of what the path carries, and stays unlimited while the hop carries next
///   to nothing: then it is others that are waited for, and content that comes later would be held up;
/// - where nothing has waited it grows by half of what it fell by last, or by 2 % of what the path carries, whichever
///   is more. Where it exceeds all that the path carries, it is unlimited again;
/// - where it was unlimited before ordered messages came, it is so again when they have gone by.
///
/// What the link costs (daemon/admission) is no measure of this: a price outlasts its queue by far, so that bulk
/// content would leave unused what ordered messages do not want.
///
/// Order of calls: `start`; then `note_link` at the end of each turn, and `adjust` every kInterval; `begin` where
/// content is about to be sent and it says that none has been of late.
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

  /// What has gone over the path until now, and how long a round trip takes.
  struct Path {
    std::uint64_t ordered_bytes = 0;    // on the link,
    std::uint64_t bulk_bytes = 0;       // and on the hop, ever
    std::uint64_t message_packets = 0;  // of clients' messages, that the link has been given ever
    std::size_t ordered_waiting = 0;    // bytes that the link has yet to take
    Duration round_trip{};              // the longer one of those connections that carry something; zero: not known
    Duration shortest{};                // of both lately, as the system has measured it; zero: not known
  };

  /// `since`: when the messages of `path` were counted.
  void start(Time now, const Path& path, Time since);
  /// Whether something waits to be written on the link that could be.
  void note_link(Time now, bool waits);
  /// `capacity`: what the path carries, in bytes a second; 0: not known. `share`: of it, what is left to bulk in any
  /// case. Says whether the rate has become less.
  bool adjust(Time now, const Path& path, std::uint64_t capacity, double share);

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
  /// Whether more may be sent. What is sent then may be more than the rate allows; it is made up for.
  bool may_send(Time now);
  void sent(std::size_t bytes) {
    if (is_limited()) credit_ -= static_cast<double>(bytes);
  }
  /// When it may be again.
  Time next_at() const;

 private:
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  void measure(const Path& path);
  /// It is unlimited.
  void end_beginning();

  double rate_ = kUnlimited;
  double credit_ = 0;  // bytes
  Time credited_at_{};
  // Since `adjusted_at_`.
  Path before_;
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
