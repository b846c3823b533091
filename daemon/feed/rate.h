// How fast the source of a feed may send, by what it hears of losses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "daemon/base/random.h"
#include "daemon/base/time.h"
#include "daemon/feed/loss_paths.h"
#include "daemon/feed/sent_packets.h"

namespace spindled {

struct FeedRateConfig {
  std::size_t packet_bytes = 1400;
  /// The greatest round trip to a listener, without queues: what is gone by until losses are heard of.
  Duration round_trip = 100ms;
  double rate_max = std::numeric_limits<double>::infinity();  // bytes a second, more than 0
  /// What losses without a queue leave to the source in any case (FeedRate), bytes a second; 0: nothing.
  double rate_min = 0;
  /// Whether the rate doubles up to the first loss, and stays near what is sent. Without, it is `first_rate`, as long
  /// as nothing is lost grows by a packet at a time, and the source is taken to use it.
  bool start = true;
  double first_rate = 0;  // bytes a second
  /// Whether only losses on the worst path count (LossPaths).
  bool worst_path = true;
  /// Whether the rate grows, and falls silent, as TCP does beside it (FeedRate). Without, as the paper says.
  bool like_tcp = true;
  /// The rate grows each time that a round trip and so many deviations are over; 2 in the paper.
  int increase_deviations = 0;
};

/// Somebody lacks packets, or has been sent them again by another than the source.
struct LossReport {
  FeedReporter reporter = 0;
  Duration held{};  // since it got `heard`: by the reporter, and by relays on the way
  /// Of the path to the reporter, as all that goes there has it, lost or not; zero: not known.
  Duration mean_round_trip{};
  bool is_first_try = true;
  /// This daemon has stood still for so long, and has gone on then. The report may have lain here meanwhile.
  Duration late_by{};
  Time late_at{};
  /// The packet that has shown the gap, which is the one behind the last of `sequences` where these are all of the gap:
  /// a round trip is measured on it, as how long the next one after a loss takes to be sent is a matter of the rate.
  std::uint64_t heard = 0;
  std::span<const std::uint64_t> sequences;  // rising
};

/// What keeps the rate from growing.
enum class FeedLimit : std::uint8_t {
  start,    // nothing: it doubles
  link,     // a path loses packets
  source,   // less is sent than may be
  maximum,  // rate_max
  share,    // a link of this daemon is left to ordered messages (LinkShare)
};

/// GSC (Natu, Rajagopal and Kalyanaraman, A Generic Source-based Congestion Control Algorithm for Reliable Multicast),
/// its appendix A. The first loss that is new begins a **congestion epoch**: the rate is halved, for half a round trip
/// nothing is sent, and all further losses are ignored until those of what was sent before must have been heard of.
/// Outside of epochs the rate grows by a packet in a round trip for each round trip, as TCP's window does. Round trips
/// are measured on losses only, so that they are those of the paths that are congested. No state depends on how many
/// listeners there are.
///
/// Beside TCP (`like_tcp`) the paper's rules are changed where they assume other than TCP does:
///
/// - Losses come when queues are long, while TCP grows by the round trips of all of its packets: the interval is the
///   mean round trip of the path, as far as it is known, and kQueueWeight to kQueueWeightMax of the way from the round
///   trip without queues, which counts as a quarter of the other one at least, to that which losses have.
/// - A loss halves the window of TCP, but not quite its rate, as the queue in front of it becomes shorter:
/// kLeftLikeTcp.
/// - A loss is heard of behind the next packets only, and growth in between is blind: it waits for kBlindPackets, too.
/// - A round trip is that of the packet that shows the loss. The paper's is that of the packet that is lost: it has the
///   silence in it, and the pause up to the next packet.
/// - Where less than kTimeoutPackets leave in a round trip, TCP has no three duplicate acknowledgements, and waits for
///   a timeout: the silence lasts kTimeout.
///
/// Where the daemon of the source has stood still since a packet was sent, its round trip is known to be between two
/// only, and is a sample where the mean is not between them: the shorter one or the longer one.
///
/// **A floor** (`rate_min`) is for sources that want little. Where packets are lost at random, one in ten, and the
/// round trip is short, the timeouts leave a source 50 packets a second of a path that carries ten thousand. So the
/// rate is never less than the floor, and what a loss silences is what is above it, as long as losses show no
/// congestion: the round trip that they have is longer than that without queues by less than kFloorPackets packets take
/// at that rate, and the loss is less than kFloorLoss. A link that carries less than the floor shows one of them: its
/// queue of so many packets takes longer to pass, and where there is none, what is beyond its rate is lost.
///
/// Beyond the paper, too: the start, the worst path, and that the rate is never less than a packet in an epoch. What
/// starts is clocked by nothing, as nobody acknowledges: where the first loss is heard of only behind a long queue, a
/// rate that doubled in each round trip would have become a thousand times as large. So it doubles every kStartInterval
/// at most, and what the first loss halves is the rate at which the packet was sent.
///
/// Order of calls: at any time; each is told the time, and the rate is that of the last call.
class FeedRate {
 public:
  /// The rate may be four packets in a round trip at first.
  static constexpr int kStartPackets = 4;
  static constexpr Duration kStartInterval = 500ms;
  static constexpr double kLeftLikeTcp = 0.52;
  // Of the round trip on losses in the interval of increase; the former where no mean is known.
  static constexpr double kQueueWeight = 0.45;
  static constexpr double kQueueWeightMax = 0.55;
  static constexpr double kMeanWeight = 0.9;  // of the mean round trip, where it is known
  static constexpr double kBlindPackets = 2;
  static constexpr double kTimeoutPackets = 4;
  static constexpr Duration kTimeout = 200ms;  // of Linux, at least
  static constexpr double kFloorPackets = 4;
  static constexpr double kFloorLoss =
      0.15;  // as LossPaths has it, where losses close together are one: of every fifth
  /// A source that has sent nothing for so long, or for an epoch, has its rate halved, down to that of the start.
  static constexpr Duration kIdle = 1s;

  /// `tree` outlives this; nullptr: losses are all on links of their own.
  FeedRate(Time now, const FeedRateConfig& config, Random random, const FeedTree* tree = nullptr);

  /// A new packet has left. Of repairs nothing is told.
  void sent(Time now, std::uint64_t sequence, std::size_t bytes);
  /// Says whether the rate has become less.
  bool lost(Time now, const LossReport& report);
  void advance(Time now);
  /// The greatest round trip to a listener is another one from now on. As long as none was measured it stands for that.
  void set_round_trip(Duration round_trip);
  /// When the rate changes next, if nothing happens.
  Time next_at() const { return is_held() ? std::min(next_increase_, held_until_) : next_increase_; }
  /// From when on `advance` lets go of what is remembered of packets, if none is sent.
  Time forgotten_at() const { return sent_.forgotten_at(); }
  /// Of memory, beside this itself.
  std::size_t heap_bytes() const { return sent_.bytes() + paths_.heap_bytes(); }

  /// Bytes a second.
  double rate() const { return rate_; }
  /// The rate now, which a loss holds down for a while where there is a floor.
  double pace() const { return is_held() ? std::min(rate_, config_.rate_min) : rate_; }
  /// Nothing is to be sent before, not even repairs.
  Time silent_until() const { return silent_until_; }
  bool is_congested(Time now) const { return now < congested_until_; }
  FeedLimit limited_by() const;

  Duration round_trip() const { return round_trip_; }
  Duration deviation() const { return deviation_; }
  /// Epochs ever: each has reduced the rate.
  std::uint64_t epochs() const { return epochs_; }
  const LossPaths& paths() const { return paths_; }
  /// For each packet, on the worst path.
  double loss() const { return paths_.loss(highest_); }

 private:
  /// Whether it tells of a loss on the worst path that nobody there has told of before.
  bool is_signal(const LossReport& report);
  /// Takes the round trip of the report for a sample, as far as it is known.
  void measure(Time now, const LossReport& report);
  void sample(FeedReporter reporter, Duration round_trip);
  void increase(Time at);
  /// A loss leaves the source the floor and no more.
  bool is_held() const { return now_ < held_until_; }
  /// Losses show no congestion.
  bool has_floor() const;
  /// What may be sent until then, and what of it was.
  void account(Time at);
  void decay(Time now);
  /// Of an epoch that begins now.
  Duration silence_now() const;
  Duration increase_interval() const;
  Duration interval() const {
    return is_starting_ ? std::max(config_.round_trip, kStartInterval) : increase_interval();
  }
  double packets_in(Duration duration) const {
    return static_cast<double>(config_.packet_bytes) / to_seconds(duration);
  }
  double start_rate() const { return kStartPackets * packets_in(config_.round_trip); }
  void set_rate(double rate);
  double rate_at(Time sent_at) const;

  FeedRateConfig config_;
  Random random_;
  SentPackets sent_;
  LossPaths paths_;
  double rate_ = 0;
  bool is_starting_;
  std::vector<std::pair<Time, double>> starts_;  // while it starts: rates of late, and until when they were
  std::uint64_t epochs_ = 0;
  std::uint64_t highest_ = 0;  // sequence
  Duration round_trip_;
  Duration deviation_;
  bool is_measured_ = false;    // these
  Duration mean_round_trip_{};  // of the worst path; zero: not known
  Time now_{};                  // of the last call
  Time held_until_{};           // is_held
  Time congested_until_{};
  Time silent_until_{};
  Time next_increase_;
  // What the source makes of its rate.
  double used_ = 0;     // bytes
  double allowed_ = 0;  // bytes, up to allowed_until_
  Time allowed_until_;
  double use_ = 1;   // used over allowed, when that was last known
  Time idle_since_;  // or halved since
};

}  // namespace spindled
