// Feeds beside TCP, and in its place.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "bench/sim/scenarios/feeds/experiments.h"
#include "bench/sim/scenarios/feeds/paths.h"
#include "tests/sim/tcp_flow.h"

namespace spindled::scenarios::feeds {

namespace {

constexpr double kMega = 1e6;
constexpr std::size_t kPacket = 1400;
constexpr double kAccess = 100 * kMega;
constexpr Duration kBottleneckDelay = 10ms;
/// Keeps flows from losing by the phase of their packets.
constexpr Duration kJitter = 2ms;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(1, values.size()));
}

/// Standard deviation over mean.
double variation_of(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return middle > 0 ? std::sqrt(squares / static_cast<double>(values.size())) / middle : 0;
}

/// Figure 5: so many feeds, and as many TCP flows, over one bottleneck.
class Dumbbell {
 public:
  struct Properties {
    std::size_t pairs = 1;
    double capacity = 10 * kMega;
    bool has_red = false;
    std::size_t queue = kPaperQueue;
    Duration round_trip = 100ms;
    FeedFlowProperties feed{};
    bool counts_packets = true;  // of TCP
  };

  Dumbbell(const Properties& properties, std::uint64_t seed) : paths(seed) {
    sim::PacketPathProperties bottleneck{.bytes_per_second = bytes_of(properties.capacity), .delay = kBottleneckDelay};
    bottleneck.queue.packets_max = properties.queue;
    if (properties.has_red) bottleneck.queue.red = sim::RedProperties{};
    bottleneck_ = &paths.add(bottleneck);
    const Duration beyond = (properties.round_trip / 2 - kBottleneckDelay) / 2;
    for (std::size_t i = 0; i < properties.pairs; ++i) {
      feeds_.push_back(std::make_unique<FeedFlow>(paths.events, properties.feed, paths.random().next()));
      feeds_.back()->add_receiver(feeds_.back()->add_node(0, there(beyond), back(properties.round_trip / 2)));
      routes_.push_back(std::make_unique<sim::PacketRoute>(there(beyond)));
      routes_.push_back(std::make_unique<sim::PacketRoute>(back(properties.round_trip / 2)));
      tcps_.push_back(
          std::make_unique<sim::TcpFlow>(paths.events, *routes_[2 * i], *routes_[2 * i + 1],
                                         sim::TcpProperties{.packet_bytes = properties.feed.rate.packet_bytes,
                                                            .counts_packets = properties.counts_packets,
                                                            .timeout_min = 200ms}));
      paths.events.after(begin(), [this, i] { feeds_[i]->start(); });
      paths.events.after(begin(), [this, i] { tcps_[i]->start(); });
    }
  }
  /// Packets that all have got.
  double feed_packets() const {
    double sum = 0;
    for (std::size_t i = 0; i < feeds_.size(); ++i) sum += feed_packets(i);
    return sum;
  }
  double tcp_packets() const {
    double sum = 0;
    for (const auto& flow : tcps_) sum += static_cast<double>(flow->delivered());
    return sum;
  }
  double feed_packets(std::size_t i) const { return static_cast<double>(feeds_[i]->delivered(1)); }
  double tcp_packets(std::size_t i) const { return static_cast<double>(tcps_[i]->delivered()); }
  Paths paths;

 private:
  sim::PacketRoute there(Duration beyond) {
    const sim::PacketPathProperties access{.bytes_per_second = bytes_of(kAccess), .delay = beyond, .jitter = kJitter};
    return {&paths.add(access), bottleneck_, &paths.add(0, beyond)};
  }
  sim::PacketRoute back(Duration delay) { return {&paths.add(0, delay)}; }
  Duration begin() { return from_seconds(2 * paths.random().real()); }

  sim::PacketPath* bottleneck_;
  std::vector<std::unique_ptr<FeedFlow>> feeds_;
  std::vector<std::unique_ptr<sim::PacketRoute>> routes_;
  std::vector<std::unique_ptr<sim::TcpFlow>> tcps_;
};

/// What a flow of each kind gets, over its part of the capacity.
struct Shares {
  double feed = 0;
  double tcp = 0;
};
Shares shares_of(const Dumbbell::Properties& properties, std::uint64_t seed, Duration measured) {
  Dumbbell dumbbell(properties, seed);
  dumbbell.paths.run_for(50s);
  const double feed = dumbbell.feed_packets(), tcp = dumbbell.tcp_packets();
  dumbbell.paths.run_for(measured);
  const double half =
      properties.capacity / 8 * to_seconds(measured) / static_cast<double>(properties.feed.rate.packet_bytes) / 2;
  return {(dumbbell.feed_packets() - feed) / half, (dumbbell.tcp_packets() - tcp) / half};
}

constexpr std::size_t kPairs[] = {1, 2, 5, 10, 20, 40, 80};
constexpr Duration kPairsMeasured = 100s;

Shares mean_shares(const Dumbbell::Properties& properties, std::uint64_t seed, int runs) {
  Shares sum;
  for (int run = 0; run < runs; ++run) {
    const Shares shares = shares_of(properties, seed + 100 * static_cast<std::uint64_t>(run), kPairsMeasured);
    sum.feed += shares.feed / runs;
    sum.tcp += shares.tcp / runs;
  }
  return sum;
}

int runs_of(int runs, double share) { return std::max(1, static_cast<int>(std::lround(runs * share))); }

}  // namespace

ExperimentOutcome pairs(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  outcome.table.columns = {"round_trip_ms", "queue", "capacity", "pairs", "feed", "tcp"};
  for (const Duration round_trip : {100ms, 40ms}) {
    const int runs = runs_of(round_trip == 100ms ? 10 : 3, options.share);
    for (const bool has_red : {false, true}) {
      for (const bool is_fixed : {true, false}) {
        std::vector<std::string> beside_ratios;
        for (const std::size_t count : kPairs) {
          Dumbbell::Properties properties{.pairs = count,
                                          .capacity = is_fixed ? 10 * kMega : 0.5 * kMega * static_cast<double>(count),
                                          .has_red = has_red,
                                          .round_trip = round_trip,
                                          .feed = our_rules(kPaperPacket, round_trip)};
          const Shares sum = mean_shares(properties, options.seed, runs);
          const double ratio = sum.feed > 0 ? sum.tcp / sum.feed : 99;
          const std::string queue = has_red ? "RED" : "drop-tail", capacity = is_fixed ? "10 Mb/s" : "0.5 Mb/s a pair";
          if (round_trip == 100ms) {
            outcome.figures.push_back(
                between(fmt::format("TCP / feed, {}, {}, N = {}", queue, capacity, count), "near 1", 0.9, 1.1, ratio));
          } else {
            beside_ratios.push_back(fmt::format("{:.2f}", ratio));
          }
          outcome.table.rows.push_back({fmt::format("{}", round_trip / 1ms), queue, capacity, fmt::format("{}", count),
                                        fmt::format("{:.3f}", sum.feed), fmt::format("{:.3f}", sum.tcp)});
        }
        if (beside_ratios.empty()) continue;
        outcome.figures.push_back(
            beside(fmt::format("the same with 40 ms, {}, {}, all N", has_red ? "RED" : "drop-tail",
                               is_fixed ? "10 Mb/s" : "0.5 Mb/s a pair"),
                   "", fmt::format("{}", fmt::join(beside_ratios, " "))));
      }
    }
  }
  return outcome;
}

ExperimentOutcome field(const ExperimentOptions& options) {
  constexpr Duration kRoundTrip = 20ms, kQueue = 50ms;
  constexpr double kPairRate = 4 * kMega;
  ExperimentOutcome outcome;
  outcome.table.columns = {"mbps", "pairs", "feed", "tcp"};
  const auto measure = [&](std::size_t count, double capacity) {
    Dumbbell::Properties properties{
        .pairs = count, .capacity = capacity, .round_trip = kRoundTrip, .feed = our_rules(kPacket, kRoundTrip)};
    properties.queue = static_cast<std::size_t>(capacity / 8 * to_seconds(kQueue)) / kPacket;
    const Shares shares = mean_shares(properties, options.seed, runs_of(10, options.share));
    outcome.figures.push_back(between(fmt::format("TCP / feed, {:g} Mb/s, N = {}", capacity / kMega, count), "", 0.9,
                                      1.1, shares.tcp / shares.feed));
    outcome.table.rows.push_back({fmt::format("{:g}", capacity / kMega), fmt::format("{}", count),
                                  fmt::format("{:.3f}", shares.feed), fmt::format("{:.3f}", shares.tcp)});
  };
  measure(1, 10 * kMega);
  for (const std::size_t count : {2u, 5u, 10u, 20u}) measure(count, kPairRate * static_cast<double>(count));
  return outcome;
}

ExperimentOutcome increase(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  outcome.table.columns = {"window", "deviations", "pairs", "feed", "tcp"};
  const int runs = runs_of(3, options.share);
  for (const bool counts_packets : {false, true}) {
    for (const int deviations : {0, 1, 2, 3}) {
      std::vector<std::string> ratios;
      for (const std::size_t count : kPairs) {
        Dumbbell::Properties properties{.pairs = count, .counts_packets = counts_packets};
        // "Larger than the maximum … RTTs (including maximum queueing delays)": 100 and 56 ms.
        properties.feed = paper_rules(properties.capacity / static_cast<double>(2 * count), 200ms);
        properties.feed.rate.increase_deviations = deviations;
        const Shares shares = mean_shares(properties, options.seed, runs);
        ratios.push_back(fmt::format("{:.2f}", shares.tcp / shares.feed));
        outcome.table.rows.push_back({counts_packets ? "of today" : "of 2000", fmt::format("{}", deviations),
                                      fmt::format("{}", count), fmt::format("{:.3f}", shares.feed),
                                      fmt::format("{:.3f}", shares.tcp)});
      }
      const std::string_view paper = deviations < 2 ? "below 1" : deviations == 2 ? "near 1" : "above 1";
      outcome.figures.push_back(beside(fmt::format("TCP of {} / feed by the paper's rules, i = {}, N = 1 to 80",
                                                   counts_packets ? "today" : "2000", deviations),
                                       counts_packets ? "" : std::string(paper),
                                       fmt::format("{}", fmt::join(ratios, " "))));
    }
  }
  return outcome;
}

namespace {

/// Packets a second to listeners, each behind a path of its own.
double rate_to(const std::vector<sim::PacketPathProperties>& listeners, const FeedFlowProperties& properties,
               std::uint64_t seed, Duration measured) {
  Paths paths(seed);
  FeedFlow flow(paths.events, properties, seed);
  for (const sim::PacketPathProperties& listener : listeners) {
    flow.add_receiver(flow.add_node(0, {&paths.add(listener)}, {&paths.add(0, listener.delay)}));
  }
  flow.start();
  paths.run_for(60s);
  const std::uint64_t before = flow.sent();
  paths.run_for(measured);
  return static_cast<double>(flow.sent() - before) / to_seconds(measured);
}
double tcp_rate_to(const sim::PacketPathProperties& listener, std::uint64_t seed, Duration measured) {
  Paths paths(seed);
  const sim::PacketRoute there{&paths.add(listener)}, back{&paths.add(0, listener.delay)};
  sim::TcpFlow flow(paths.events, there, back, {.packet_bytes = kPacket, .timeout_min = 200ms});
  flow.start();
  paths.run_for(60s);
  const std::uint64_t before = flow.delivered();
  paths.run_for(measured);
  return static_cast<double>(flow.delivered() - before) / to_seconds(measured);
}

}  // namespace

ExperimentOutcome listeners(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  outcome.table.columns = {"listeners", "loss", "rules", "ratio"};
  const Duration measured = from_seconds(600 * options.share);
  const auto ratio = [&](const std::string& loss, std::size_t count, const sim::PacketPathProperties& path,
                         const sim::PacketPathProperties& worst, bool is_worst_path) {
    FeedFlowProperties properties = our_rules(kPacket, 2 * path.delay);
    properties.rate.worst_path = is_worst_path;
    std::vector<sim::PacketPathProperties> all(count, path);
    all.back() = worst;
    const double value =
        rate_to(all, properties, options.seed, measured) / tcp_rate_to(worst, options.seed + 1, measured);
    outcome.table.rows.push_back(
        {fmt::format("{}", count), loss, is_worst_path ? "worst path" : "all paths", fmt::format("{:.3f}", value)});
    return value;
  };
  const auto lossy = [](double loss) { return sim::PacketPathProperties{.delay = 50ms, .loss = loss}; };
  for (const std::size_t count : {1u, 5u, 20u, 80u}) {
    const double ours = ratio("1 %", count, lossy(0.01), lossy(0.01), true);
    const std::string what = fmt::format("{} listeners with 1 %: feed / TCP on the worst path", count);
    outcome.figures.push_back(count == 80 ? at_least(what, "", 0.8, ours)
                                          : beside(what, "", fmt::format("{:.3f}", ours)));
  }
  for (const std::size_t count : {1u, 5u, 20u, 80u}) {
    const double all = ratio("1 %", count, lossy(0.01), lossy(0.01), false);
    outcome.figures.push_back(
        beside(fmt::format("the same where all paths count, {} listeners", count), "", fmt::format("{:.3f}", all)));
  }
  outcome.figures.push_back(beside("80 listeners with 0.1 %", "",
                                   fmt::format("{:.3f}", ratio("0.1 %", 80, lossy(0.001), lossy(0.001), true))));
  outcome.figures.push_back(beside("79 with 0.5 %, one with 2 %", "",
                                   fmt::format("{:.3f}", ratio("0.5, 2 %", 80, lossy(0.005), lossy(0.02), true))));
  const sim::PacketPathProperties bursts{.delay = 50ms, .bursts = sim::BurstLoss{.to_bad = 0.0025, .to_good = 0.25}};
  outcome.figures.push_back(
      beside("80 with 1 % in bursts of 4", "", fmt::format("{:.3f}", ratio("bursts", 80, bursts, bursts, true))));
  return outcome;
}

ExperimentOutcome variation(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  outcome.table.columns = {"round_trip_ms", "queue", "pairs", "feed", "tcp"};
  const auto seconds = static_cast<std::size_t>(std::max(20.0, 200 * options.share));
  for (const bool has_red : {false, true}) {
    for (const std::size_t count : {1u, 5u, 10u, 20u}) {
      Dumbbell dumbbell({.pairs = count, .has_red = has_red, .feed = our_rules(kPaperPacket, 100ms)}, options.seed);
      dumbbell.paths.run_for(50s);
      std::vector<std::vector<double>> feed(count), tcp(count);
      std::vector<double> feed_before(count), tcp_before(count);
      for (std::size_t second = 0; second <= seconds; ++second) {
        for (std::size_t i = 0; i < count; ++i) {
          const double feed_now = dumbbell.feed_packets(i), tcp_now = dumbbell.tcp_packets(i);
          if (second > 0) {
            feed[i].push_back(feed_now - feed_before[i]);
            tcp[i].push_back(tcp_now - tcp_before[i]);
          }
          feed_before[i] = feed_now;
          tcp_before[i] = tcp_now;
        }
        dumbbell.paths.run_for(1s);
      }
      double feeds = 0, tcps = 0;
      for (std::size_t i = 0; i < count; ++i) {
        feeds += variation_of(feed[i]) / static_cast<double>(count);
        tcps += variation_of(tcp[i]) / static_cast<double>(count);
      }
      const std::string queue = has_red ? "RED" : "drop-tail";
      outcome.figures.push_back(
          at_most(fmt::format("variation of 1 s rates over TCP's, {}, {} pairs", queue, count), "", 1, feeds / tcps));
      outcome.table.rows.push_back(
          {"100", queue, fmt::format("{}", count), fmt::format("{:.3f}", feeds), fmt::format("{:.3f}", tcps)});
    }
  }
  return outcome;
}

namespace {

/// One flow alone on a path whose capacity halves and returns: what its receiver gets each 100 ms.
constexpr Duration kStep = 100ms;
constexpr Duration kHalves = 60s, kReturns = 120s, kEnd = 200s;
constexpr double kCapacity = 10 * kMega;
constexpr Duration kCapacityRoundTrip = 100ms;
/// It holds less than the path, so that a window for half of the capacity does not suffice for all of it.
constexpr std::size_t kCapacityQueue = 20;

struct CapacityCourse {
  std::vector<double> rates;
  Duration returned{};  // the time from the return on until a second has 90 % of the capacity
  Duration begun{};     // the same from the beginning on
  int epochs = 0;       // until the rate is below the half, where it is a feed
};

Duration until_share(const std::vector<double>& rates, Duration from, double share) {
  const auto second = static_cast<std::size_t>(1s / kStep);
  for (auto i = static_cast<std::size_t>(from / kStep); i + second <= rates.size(); ++i) {
    const auto begin = rates.begin() + static_cast<std::ptrdiff_t>(i);
    const double sum = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(second), 0.0);
    if (sum / static_cast<double>(second) >= share * kCapacity) return kStep * static_cast<Duration::rep>(i) - from;
  }
  return kEnd;
}

/// `later`: so much later than usual does the capacity change, so that the flow is elsewhere in its cycle.
template <typename Delivered>
CapacityCourse course_of(Paths& paths, sim::PacketPath& path, Duration later, const Delivered& delivered) {
  CapacityCourse course;
  double before = 0;
  while (paths.now() < kEnd) {
    if (paths.now() == kHalves + later) path.set_rate(bytes_of(kCapacity / 2));
    if (paths.now() == kReturns + later) path.set_rate(bytes_of(kCapacity));
    paths.run_for(kStep);
    const double now = static_cast<double>(delivered());
    course.rates.push_back((now - before) * kPacket * 8 / to_seconds(kStep));
    before = now;
  }
  course.returned = until_share(course.rates, kReturns + later, 0.9);
  course.begun = until_share(course.rates, {}, 0.9);
  return course;
}

const sim::PacketPathProperties kCapacityPath{
    .bytes_per_second = bytes_of(kCapacity), .delay = kCapacityRoundTrip / 2, .queue = {.packets_max = kCapacityQueue}};

CapacityCourse feed_course(std::uint64_t seed, Duration later) {
  Paths paths(seed);
  sim::PacketPath& path = paths.add(kCapacityPath);
  FeedFlow flow(paths.events, our_rules(kPacket, kCapacityRoundTrip), seed);
  flow.add_receiver(flow.add_node(0, {&path}, {&paths.add(0, kCapacityRoundTrip / 2)}));
  flow.start();
  const Time halved = paths.events.now() + kHalves + later;
  int epochs = 0;
  bool is_below = false;
  CapacityCourse course = course_of(paths, path, later, [&] {
    if (!is_below && paths.events.now() > halved) {
      epochs = static_cast<int>(
          std::count_if(flow.reductions().begin(), flow.reductions().end(), [&](Time at) { return at >= halved; }));
      is_below = flow.rate().rate() * 8 <= kCapacity / 2;
    }
    return flow.delivered(1);
  });
  course.epochs = epochs;
  return course;
}

CapacityCourse reno_course(std::uint64_t seed, Duration later) {
  Paths paths(seed);
  sim::PacketPath& path = paths.add(kCapacityPath);
  const sim::PacketRoute there{&path}, back{&paths.add(0, kCapacityRoundTrip / 2)};
  sim::TcpFlow flow(paths.events, there, back,
                    {.kind = sim::TcpKind::reno, .packet_bytes = kPacket, .timeout_min = 200ms});
  flow.start();
  return course_of(paths, path, later, [&] { return flow.delivered(); });
}

}  // namespace

ExperimentOutcome capacity(const ExperimentOptions& options) {
  ExperimentOutcome outcome;
  outcome.table.columns = {"series", "second", "mbps"};
  const auto add_rows = [&](const std::string& series, const std::vector<double>& rates) {
    for (std::size_t i = 0; i + 9 < rates.size(); i += 10) {
      const auto begin = rates.begin() + static_cast<std::ptrdiff_t>(i);
      outcome.table.rows.push_back(
          {series, fmt::format("{}", i / 10 + 1), fmt::format("{:.3f}", mean({begin, begin + 10}) / kMega)});
    }
  };
  const int runs = runs_of(10, options.share);
  double feed_s = 0, reno_s = 0, feed_begun_s = 0, reno_begun_s = 0;
  int epochs_most = 0;
  for (int run = 0; run < runs; ++run) {
    const Duration later = 700ms * run;
    const CapacityCourse feed = feed_course(options.seed + static_cast<std::uint64_t>(run), later);
    const CapacityCourse reno = reno_course(options.seed + static_cast<std::uint64_t>(run), later);
    feed_s += to_seconds(feed.returned) / runs;
    reno_s += to_seconds(reno.returned) / runs;
    feed_begun_s += to_seconds(feed.begun) / runs;
    reno_begun_s += to_seconds(reno.begun) / runs;
    epochs_most = std::max(epochs_most, feed.epochs);
    if (run > 0) continue;
    add_rows("feed", feed.rates);
    add_rows("Reno", reno.rates);
  }
  outcome.figures.push_back(
      at_most("capacity halves: epochs until the rate is below it, most", "", 2, epochs_most, "epochs"));
  outcome.figures.push_back(beside("capacity returns: 90 % of it after, Reno", "", fmt::format("{:.1f} s", reno_s)));
  outcome.figures.push_back(at_most("the same, feed, over Reno", "", 1.5, feed_s / reno_s));
  outcome.figures.push_back(beside("at the beginning: 90 % after, feed; Reno", "",
                                   fmt::format("{:.1f} s; {:.1f} s", feed_begun_s, reno_begun_s)));
  return outcome;
}

}  // namespace spindled::scenarios::feeds
