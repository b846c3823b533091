// How much a daemon does in one turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace spindled {

/// Counts the work of a turn that grows with what clients, peers or a change of the view bring: in units of a group or
/// a name looked at, a member told, or a receiver of a message, each of about a microsecond. Work that can be long is
/// done in steps. Whoever does it asks before each step whether the turn is over, and leaves the rest to the next one,
/// so that between two of them what has come on links is read, and what waits there is written.
///
/// A step is the least that is done at once: at most what is due to one group, or one part of an announcement. So a
/// turn does no more than the maximum and one step.
class TurnWork {
 public:
  /// `max` is in units, at least 1.
  explicit TurnWork(std::size_t max) : max_(max) { begin_input(); }

  /// Whether this turn has done enough.
  bool is_over() const;
  /// What is counted from here on is another step.
  void begin_step() {
    largest_step_ = std::max(largest_step_, done_ - step_began_);
    step_began_ = done_;
  }
  void count(std::size_t units) { done_ += units; }
  /// A step of its own, done at once; what was counted before it and what comes behind belong together.
  void count_step(std::size_t units) {
    largest_step_ = std::max(largest_step_, units);
    step_began_ += units;
    done_ += units;
  }
  /// Looking through rules of access, and telling a client of the feeds of a group, have a part of the turn of their
  /// own: what clients name and ask, and how many rules there are, keeps no messages waiting.
  bool may_check() const { return kChecksPart * checked_ < max_; }
  /// What nobody waits for has half of that.
  bool may_review() const { return 2 * kChecksPart * checked_ < max_; }
  void count_check(std::size_t units) {
    checked_ += units;
    done_ += units;
  }
  /// Does work, a step of its own, whose units are all of that part.
  template <typename Work>
  void check(Work&& work) {
    begin_step();
    const std::size_t done = done_, checked = checked_;
    work();
    checked_ = checked + done_ - done;
  }
  /// So much of that part is used up.
  std::size_t checked() const { return checked_; }

  // What clients send is taken out of a part of the turn of its own, half of it, which is no part of what is counted
  // above: what waits to be written to some stops the input of nobody. It is counted in names: of destinations that are
  // gone through, of which so many are a unit; a frame counts as one, and a message as several.
  static constexpr std::size_t kNamesOfUnit = 4;

  /// The turn of another client, which gets a share of that part. Those who have waited, from `begin_waiting_input` on,
  /// have a quarter of the part in any case.
  void begin_client() {
    input_until_ = std::min(input_max_, input_ + std::max<std::size_t>(input_part() / kShares, 1));
  }
  void begin_waiting_input() {
    input_max_ = std::max(input_part(), input_ + std::max<std::size_t>(input_part() / 4, 1));
  }
  /// Whether the client goes on.
  bool may_take_input() const { return input_ < input_until_; }
  /// Whether there is anything left for another one.
  bool has_input_left() const { return input_ < input_max_; }
  void count_input(std::size_t names) { input_ += names; }
  /// So much was counted in this turn.
  std::size_t input() const { return input_; }
  /// Which turn it is.
  std::uint64_t number() const { return number_; }

  /// So many bytes that earlier turns have brought are yet to be written: they count in the next one, so that no more
  /// is brought than is written. Small writes take longer than their bytes do, as long as `small` more: these take no
  /// more than half of the turn, as answers to small questions come without end, and leave the rest to what others
  /// send.
  void set_unwritten(std::size_t bytes, std::size_t small = 0) {
    owed_ = bytes / kBytesOfUnit + std::min(small / kBytesOfUnit, max_ / 2);
  }
  void end_turn() {
    begin_step();
    last_turn_ = done_;
    so_far_ += done_;
    largest_turn_ = std::max(largest_turn_, done_);
    last_input_ = (input_ + kNamesOfUnit - 1) / kNamesOfUnit;
    largest_input_ = std::max(largest_input_, input_ / kNamesOfUnit);
    done_ = step_began_ = checked_ = 0;
    begin_input();
  }

  std::size_t max() const { return max_; }
  std::size_t last_turn() const { return last_turn_; }
  /// Of all turns.
  std::uint64_t so_far() const { return so_far_; }
  /// The most that a turn and a step have done so far.
  std::size_t largest_turn() const { return largest_turn_; }
  std::size_t largest_step() const { return largest_step_; }
  /// What was taken of clients in the last turn, in units, rounded up: none only where nothing was.
  std::size_t last_input() const { return last_input_; }
  /// The most that was taken of clients in a turn, in units.
  std::size_t largest_input() const { return largest_input_; }

 private:
  /// In names.
  std::size_t input_part() const { return max_ * kNamesOfUnit / kInputPart; }
  void begin_input() {
    ++number_;
    input_ = 0;
    // What has just come leaves something to those who wait.
    input_max_ = std::max<std::size_t>(input_part() - input_part() / 4, 1);
    begin_client();
  }

  static constexpr std::size_t kChecksPart = 10;  // one in so many units
  static constexpr std::size_t kBytesOfUnit = 1'024;
  static constexpr std::size_t kInputPart = 2;  // as kChecksPart
  static constexpr std::size_t kShares = 16;    // of clients, in that

  std::size_t max_;
  std::size_t done_ = 0;
  std::size_t checked_ = 0;  // of these
  std::size_t owed_ = 0;     // from before this turn
  std::size_t step_began_ = 0;
  std::size_t last_turn_ = 0;
  std::uint64_t so_far_ = 0;
  std::size_t largest_turn_ = 0;
  std::size_t largest_step_ = 0;
  std::size_t last_input_ = 0;
  std::size_t largest_input_ = 0;
  // In names.
  std::size_t input_ = 0;
  std::size_t input_until_ = 0;  // of the client whose turn it is
  std::size_t input_max_ = 0;    // of all
  std::uint64_t number_ = 0;
};

}  // namespace spindled
