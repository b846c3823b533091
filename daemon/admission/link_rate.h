// How fast a link takes packets, as its queue shows it.
#pragma once

#include <cstdint>

#include "daemon/base/time.h"

namespace spindled {

/// Departures over time while something waits, each summed with age. A queue that is gone at once says nothing: its
/// packets went into the room of what is below. A link is at least as fast as what it has carried over a while, though
/// nothing waited.
class LinkRate {
 public:
  /// How long a queue stands before it says something; the first one stands for a round trip of the link as well.
  static constexpr Duration kStands = 12500us;

  /// `round_trip`: of the link, as far as it is known. Its window opens and closes within that.
  void start(Time now, Duration round_trip, std::uint64_t departed, std::uint64_t squares);
  /// `waiting` packets wait at `now`, and `departed` have left ever; `squares`: as LinkQueue::departed_squares.
  void observe(Time now, std::size_t waiting, std::uint64_t departed, std::uint64_t squares);

  /// Packets per second; 0: unknown. Before it was timed, while something waits, the best that can be said.
  double packets_per_s() const;
  /// Whether it is from times when packets waited.
  bool is_timed() const { return busy_left_ > 0; }
  /// Packets in the frame that a packet is in, in the mean over packets.
  double packets_per_frame() const { return packets_per_frame_; }

 private:
  /// How much of what was seen counts.
  double memory_s() const;
  void count_standing(Time now, double left);
  void count_carried(Time now, double left);
  /// By how much what leaves has fallen short of what is expected, or exceeded it, since it last did not.
  struct Deviation {
    double packets = 0;
    double span_s = 0;
    double left = 0;
  };
  /// Where the link takes another rate beyond doubt, what was counted before says nothing any more.
  void look_for_change(double span_s, double left);
  void note_deviation(Deviation& deviation, double packets, double span_s, double left);

  double rate_ = 0;
  Duration round_trip_{};
  double packets_per_frame_ = 1;
  Time seen_at_{};
  std::size_t waiting_ = 0;
  std::uint64_t departed_ = 0;
  std::uint64_t squares_ = 0;
  // While the present queue stands, and of that, since it was counted.
  Duration stood_{}, uncounted_{};
  double stood_left_ = 0, uncounted_left_ = 0;
  // What was counted, each summed with age.
  double busy_s_ = 0;
  double busy_left_ = 0;
  Deviation slower_, faster_;  // while a queue stands
  // In any case.
  Time carried_since_{};
  double carried_ = 0;
  double recent_packets_ = 0, recent_squares_ = 0;
};

}  // namespace spindled
