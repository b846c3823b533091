// What a peer sender of a mesh may have on its way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "daemon/base/time.h"

namespace spindled {

/// What the trials of all peer senders of a channel may cost: so many symbols at once, and that part of what comes.
/// Where nothing comes that was lacking, as where the tree stands still, there is a trial in each `kStill`.
class PeerTrials {
 public:
  static constexpr double kSymbols = 16;
  static constexpr double kPart = 0.05;
  static constexpr double kTrial = 2;
  static constexpr Duration kStill = 1s;

  /// There are peers from now on.
  void begin(Time now) { still_since_ = now; }
  void handle_time(Time now) {
    if (now - still_since_ < kStill) return;
    left_ = std::min(left_ + kTrial, kSymbols);
    still_since_ = now;
  }
  /// A symbol has come that was lacking, of whomever,
  void note_useful(Time now) {
    left_ = std::min(left_ + kPart, kSymbols);
    still_since_ = now;
  }
  /// or one of a peer that was not.
  void note_useless() { left_ = std::max(left_ - 1, 0.0); }
  /// How many may be under way.
  std::uint64_t symbols() const { return static_cast<std::uint64_t>(left_); }

 private:
  double left_ = kSymbols;
  Time still_since_{};  // or since there was more for that
};

/// The window of one peer sender: the symbols that it may owe. It grows by two with each that was of use, until the
/// peer counts as proved, and falls by four with each that was not: who gives a third in vain is worth nothing in the
/// end. It is no larger than what has come lately, in `kReach` or four round trips, and a little: what all peers have
/// on their way when a block is complete is lost. Who is worth nothing is tried now and then, with few symbols.
class PeerWindow {
 public:
  static constexpr int kProved = 64;
  /// Less than nothing: that the tree brings a symbol, too, is seen behind the next ones only. A peer of so little
  /// worth is in vain.
  static constexpr int kWorthLeast = -16;
  static constexpr int kInVain = -8;
  static constexpr std::uint64_t kLeast = 2;
  static constexpr Duration kReach = 50ms;
  /// So long, or the reach where that is longer, what was granted for a trial is waited for, and there is no other one.
  static constexpr Duration kTrial = 100ms;

  void set_round_trip(Duration round_trip) { reach_ = std::max(kReach, 4 * round_trip); }

  /// A symbol has come; whether it was granted.
  bool take(Time now);
  void note_useful() { worth_ = std::min(worth_ + 2, kProved); }
  void note_useless() { worth_ = std::max(worth_ - 4, kWorthLeast); }

  /// What may be granted now, where no window is larger than `most`. Nothing where it is not worth a frame yet.
  std::uint64_t room(Time now, std::uint64_t most) const;
  void grant(std::uint64_t symbols) { owed_ += symbols; }
  bool may_be_tried(Time now) const;
  void grant_trial(Time now);

  /// Granted, and has not come.
  std::uint64_t owed() const { return owed_; }
  /// The same of a trial that is not over.
  std::uint64_t on_trial(Time now) const;
  bool is_in_vain() const { return worth_ <= kInVain; }

 private:
  Duration trial() const { return std::max(kTrial, reach_); }
  /// Symbols that have come within the reach.
  double lately(Time now) const;

  int worth_ = 0;
  std::uint64_t owed_ = 0;
  Duration reach_ = kReach;
  std::optional<Time> tried_at_, came_at_;
  double lately_ = 0;  // symbols that came within the reach, when the last one did
};

}  // namespace spindled
