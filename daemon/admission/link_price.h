// What one link costs.
#pragma once

#include <array>
#include <optional>

#include "daemon/admission/link_rate.h"
#include "daemon/base/node_config.h"

namespace spindled {

/// The control law of a link's price. Its logarithm integrates how much more arrives than the link takes, and how much
/// longer the queue takes than is aimed at, in units of the delay in which senders answer: the news have to reach them,
/// and what they send then has to arrive. So the price is still exponential in the queue, in what it adds up to, and
/// its steps are right for a link of any rate at any distance.
///
/// A price begins when a queue has stood for a moment, and ends when none has for a long time and the link is far from
/// being used: between these it is at least a price at which one sender would send several times what the link takes.
///
/// Order of calls: `start`; then `observe` at the end of every turn, at `next_deadline` at the latest.
class LinkPrice {
 public:
  explicit LinkPrice(const AdmissionConfig& config) : config_(&config) {}

  struct Queue {
    std::size_t packets = 0;     // that wait
    std::uint64_t departed = 0;  // packets that have left ever
    std::uint64_t squares = 0;   // as LinkQueue::departed_squares
  };

  /// `round_trip`: to the farthest daemon whose packets may take the link, and back; `own_round_trip`: of the link.
  /// What is known of the link's rate and its price is kept.
  void start(Time now, Duration round_trip, Duration own_round_trip, const Queue& queue);
  /// Whether the price was set anew.
  bool observe(Time now, const Queue& queue);

  bool costs() const { return costs_; }
  double dollars() const;
  /// In which who pays answers.
  Duration delay() const { return round_trip_ + 2 * interval(); }
  /// How often the price is set.
  Duration interval() const;
  /// Packets a second that the link takes; 0: unknown.
  double known_rate() const { return rate_.packets_per_s(); }
  std::size_t packets() const { return packets_; }
  /// How many packets are to wait.
  double aim_packets() const;
  Time next_deadline() const;

 private:
  /// What came since the price was set last, or in the time between two such moments.
  struct Interval {
    double seconds = 0;
    double arrived = 0;  // packets
    double rise = 0;     // of the price's logarithm at its end
  };

  double rate() const;
  /// At which one sender alone, who pays the fee besides, fills the link.
  double first_price() const;
  void note_queue(Time now, const Queue& queue);
  void begin(Time now);
  void set(Time now, std::optional<double> prompt);
  /// The excess of the last interval, `excess` by the known rate, which is what the link took when a queue stood last:
  /// what has all left the link has taken, however much it was.
  double excess_of(Time now, double excess) const;
  /// What the price's logarithm rises by, by the mean excess and the queue of the last interval.
  double steady_rise(double excess, double wait_s) const;
  /// What it has to rise by at once instead, where an excess is beyond doubt: by its logarithm, less what the price has
  /// risen in the time in which senders answer.
  std::optional<double> prompt_rise(Time now) const;
  bool is_long() const;
  bool is_over(Time now);

  const AdmissionConfig* config_;
  LinkRate rate_;
  Duration round_trip_{}, own_round_trip_{};
  bool costs_ = false;
  double log_ = 0;         // of the price
  Time begun_at_{};        // the price, the last time
  double begun_rate_ = 0;  // what was known of the link's then
  // The queue.
  std::size_t packets_ = 0;
  std::uint64_t departed_ = 0;
  Time seen_at_{};
  Time stands_since_ = kNever;  // kNever: nothing waits
  Time set_at_{};               // when the price was set last
  double waited_ = 0;           // since then: packets x seconds,
  double arrived_ = 0;          // and packets
  Time stood_at_{};             // when a queue had stood last
  Time quiet_since_{};          // the same, or when it was seen that the price goes on
  double quiet_arrived_ = 0;    // packets since then
  std::array<Interval, 8> past_{};
  std::size_t past_next_ = 0;
};

}  // namespace spindled
