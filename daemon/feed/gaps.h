// What a daemon lacks of a feed, and when it asks for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/feed/sequence_window.h"
#include "daemon/wire/sequence_bits.h"

namespace spindled {

/// How long repairs take from when they are asked for: the smoothed time plus four deviations (Jacobson, as RFC 6298).
class RepairTime {
 public:
  static constexpr Duration kMin = 2ms;

  /// `first`: patience as long as nothing was repaired; `least`: as soon as something was.
  void expect(Duration first, Duration least) {
    expected_ = first;
    least_ = std::max(kMin, least);
  }
  void add(Duration sample);
  /// After which a repair that has not come counts as lost.
  Duration patience() const { return std::max(least_, is_known_ ? smoothed_ + 4 * deviation_ : expected_); }

 private:
  Duration expected_ = 100ms;
  Duration least_ = kMin;
  Duration smoothed_{};
  Duration deviation_{};
  bool is_known_ = false;
};

/// Why a daemon has given up packets.
enum class GivenUp : std::uint8_t {
  too_late,     // repairs are of use no longer
  unanswered,   // it was asked for as often as may be
  gone,         // the origin has not got it any more
  source_lost,  // the origin has gone, or nothing has come of the feed for long
  too_many,     // gaps are open
};
inline constexpr std::size_t kGivenUpKinds = 5;

/// The gaps of one feed at one daemon.
///
/// A gap is *seen* when a later packet comes, or a beat that says that there is one. It *counts* when kLaterPackets
/// more sequences are there or after the time that a hop may disorder packets; packets that come late after all widen
/// both. Then it is asked for, and again after the patience of RepairTime, a third time after the same, and from then
/// on after twice as long each time: two in a row are lost easily where one in twenty is. What the upstream
/// lacks, too, it asks for itself; repairs of that come from farther away, and have a patience of their own. A gap is
/// *lost* when asking was in vain for as long as repairs are of use, kTriesMax times, or because somebody says so, and
/// not before the way has had its time to disorder packets.
///
/// Order of calls: after `packet`, `beat` and `lack_too`, and once `next_at` has come, `collect`.
class Gaps {
 public:
  static constexpr unsigned kLaterPackets = 3;
  static constexpr unsigned kLaterPacketsMax = 16;
  static constexpr unsigned kTriesMax = 8;
  /// Of one feed that are open at a time; the oldest beyond are lost.
  static constexpr std::size_t kOpenMax = 4'096;

  struct Settings {
    Duration repair_for = 200ms;
    unsigned later_packets = kLaterPackets;
    Duration hop_round_trip{};  // of the link that the feed comes on
    Duration way_round_trip{};  // to the origin
  };

  /// `first` is the first sequence that is asked for. Nothing is before `quiet_until`. `open_all` counts the gaps of
  /// all feeds.
  Gaps(std::uint64_t first, Time quiet_until, std::size_t& open_all);
  ~Gaps() { open_all_ -= open_.size(); }
  Gaps(const Gaps&) = delete;
  Gaps& operator=(const Gaps&) = delete;

  Settings& settings() { return settings_; }
  /// A daemon that does not ask has no gaps, and just knows what has come. It asks to begin with.
  void set_asking(bool asks);
  bool asks() const { return asks_; }
  /// What was sent since the last packet is none of this daemon's business: nothing is missing before the next one.
  void begin_with_next() { begins_with_next_ = true; }
  const Settings& settings() const { return settings_; }
  /// Of what the upstream has, and of what it lacks.
  RepairTime& near() { return near_; }
  RepairTime& far() { return far_; }

  enum class Arrival : std::uint8_t {
    fresh,      // the highest so far
    filled,     // it was missing
    late,       // it was missing and given up, or is older than all that is known
    duplicate,  // it has come before
  };
  Arrival packet(Time now, std::uint64_t sequence, bool is_repair);
  /// All up to `highest` were sent.
  void beat(Time now, std::uint64_t highest);
  /// The daemon that a packet or beat came from asks for what lies before `end` itself, `count` sequences.
  void lack_too(Time now, std::uint64_t end, unsigned count);
  /// They will not come. What is `gone`, and this daemon has not asked for, may have been overtaken by the word of it:
  /// it is lost when it counts, or when a hop has had its time to disorder packets.
  void give_up(Time now, std::uint64_t first, std::uint64_t last, GivenUp why);

  struct Ask {
    std::uint64_t first = 0;
    SequenceBits bits;
    std::uint8_t attempt = 1;
    Duration held{};  // since the first of them was seen
  };
  struct Lost {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    GivenUp why = GivenUp::too_late;
  };
  struct Due {
    std::vector<Ask> asks;
    std::vector<Lost> lost;

    bool empty() const { return asks.empty() && lost.empty(); }
  };
  /// What is to be asked for now, and what has turned out to be lost.
  Due collect(Time now);
  /// Whether `collect` may have something.
  bool is_due(Time now) const { return next_at_ <= now || !lost_.empty(); }
  Time next_at() const { return lost_.empty() ? next_at_ : Time::min(); }

  std::uint64_t highest() const { return window_.highest(); }
  /// 64 bits of a sequence: those that are nearest to the highest one.
  std::uint64_t expand(std::uint32_t sequence) const;
  /// Whether it has come, as far as that is known.
  bool has_come(std::uint64_t sequence) const {
    return sequence <= highest() && !window_.is_before(sequence) && window_.contains(sequence);
  }
  /// Whether it is missing, and is going to be asked for.
  bool is_open(std::uint64_t sequence) const { return open_.contains(sequence); }
  std::size_t open() const { return open_.size(); }
  /// How many right before `end` are open; at most 255.
  std::uint8_t open_before(std::uint64_t end) const;
  unsigned later_packets() const { return settings_.later_packets; }

 private:
  struct Gap {
    Time seen_at{};
    Time asked_at{};
    Time due_at{};
    std::uint8_t tries = 0;  // 0: it does not count yet; the first one may be the upstream's
    bool is_far = false;
    bool is_gone = false;
  };

  void see(Time now, std::uint64_t highest);
  /// Those that are seen and do not count yet, but should.
  void count_gaps(Time now);
  /// How long packets may overtake each other that come over a way of so long a round trip.
  Duration disorder(Duration round_trip) const;
  void lose(std::uint64_t first, std::uint64_t count, GivenUp why);
  void find_next();

  static constexpr std::size_t kOpenOfAllFeedsMax = 65'536;

  Settings settings_;
  bool asks_ = true;
  bool begins_with_next_ = false;
  RepairTime near_, far_;
  SequenceWindow window_;
  const Time quiet_until_;
  std::map<std::uint64_t, Gap> open_;
  std::uint64_t uncounted_;  // gaps from here on do not count yet
  Time next_at_ = kNever;
  std::vector<Lost> lost_;  // to be collected
  std::size_t& open_all_;
};

}  // namespace spindled
