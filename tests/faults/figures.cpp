#include "tests/faults/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "tests/faults/field.h"

namespace spindle::test {

namespace {

using namespace std::chrono_literals;
using spindled::Duration;
using spindled::Time;

/// Who flaps is let in later each time; after this long without a loss that is forgotten.
constexpr auto kForgotten = 11s;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// All samples of one measurement.
class Samples {
 public:
  explicit Samples(std::string name) : name_(std::move(name)) {}
  void add(Duration sample) {
    values_.push_back(seconds(sample));
    fmt::print(stderr, "  {}: {:.3f} s\n", name_, values_.back());
  }
  void print() const {
    if (values_.empty()) return;
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    fmt::print("{:<58} {:>8.3f} {:>8.3f} {:>8.3f} {:>5}\n", name_, sorted[sorted.size() / 2], sorted.front(),
               sorted.back(), sorted.size());
    std::fflush(stdout);
  }

 private:
  std::string name_;
  std::vector<double> values_;
};

FieldOptions quiet_field(std::size_t daemons, std::vector<std::pair<std::size_t, std::size_t>> links = {}) {
  FieldOptions options;
  options.daemons = daemons;
  options.links = std::move(links);
  options.clients_each = 1;
  options.traffic = {{"news"}, 10ms, 200, 0.0, false, Service::agreed};
  return options;
}

/// {a} {b, c}: from the cut to the last client's view, and from the end of the cut to the merged view.
void measure_partition(std::chrono::seconds length, int rounds) {
  Field field(quiet_field(3));
  Samples parted(fmt::format("partition {{a}} {{b,c}} of {} s: new views everywhere", length.count()));
  Samples merged(fmt::format("  and after its end: merged view everywhere"));
  for (int round = 0; round < rounds; ++round) {
    const Time cut = time_now();
    field.lan().part({"a"});
    const Time seen = std::max(field.wait_for_clients({0}, cut), field.wait_for_clients({1, 2}, cut));
    parted.add(seen - cut);
    // What the hosts repeat once a second must not always be at the same point when the cut ends.
    const auto more = std::chrono::milliseconds(std::random_device()() % 1000);
    std::this_thread::sleep_for(length + more - (time_now() - cut));
    const Time healed = time_now();
    field.lan().heal();
    merged.add(field.wait_for_clients({0, 1, 2}, healed) - healed);
    std::this_thread::sleep_for(kForgotten);
  }
  parted.print();
  merged.print();
}

void measure_kill(int rounds) {
  Field field(quiet_field(3));
  Samples without("kill -9 of a daemon: new view at the others");
  Samples with("  and after its restart: view with all daemons' clients");
  for (int round = 0; round < rounds; ++round) {
    const std::size_t victim = static_cast<std::size_t>(round) % 3;
    std::vector<std::size_t> others{0, 1, 2};
    std::erase(others, victim);
    const Time killed = time_now();
    field.kill(victim);
    without.add(field.wait_for_clients(others, killed) - killed);
    const Time started = time_now();
    field.start(victim);
    with.add(field.wait_for_clients({0, 1, 2}, started) - started);
    std::this_thread::sleep_for(kForgotten);
  }
  without.print();
  with.print();
}

/// The longest time between two messages of any other client, at any client; and when it ended.
struct Pause {
  Duration length{};
  Time end{};
};

Pause longest_pause(Field& field, Time from, Time to) {
  Pause longest;
  for (std::size_t receiver = 0; receiver < field.size(); ++receiver) {
    for (std::size_t sender = 0; sender < field.size(); ++sender) {
      const std::vector<Time> times =
          field.client(receiver).delivery_times(field.client(sender).private_name(), from, to);
      for (std::size_t i = 1; i < times.size(); ++i) {
        if (times[i] - times[i - 1] > longest.length) longest = {times[i] - times[i - 1], times[i]};
      }
    }
  }
  return longest;
}

/// One link fails, and there is another way. The first of its ends to miss the other detects the failure.
void measure_link(const std::string& shape, std::size_t daemons, int rounds) {
  std::vector<std::pair<std::size_t, std::size_t>> ring;
  for (std::size_t i = 0; i < daemons; ++i) ring.emplace_back(i, (i + 1) % daemons);
  Field field(quiet_field(daemons, ring));
  Samples detection("link of a " + shape + " fails: detection");
  Samples pause("  longest pause of any client, from the failure on");
  Samples beyond("  of it beyond detection");
  for (int round = 0; round < rounds; ++round) {
    const std::size_t one = static_cast<std::size_t>(round) % daemons, other = (one + 1) % daemons;
    const std::size_t lines[] = {field.daemon(one).process().line_count(), field.daemon(other).process().line_count()};
    const Time cut = time_now();
    field.lan().drop(field.name(one), field.name(other), true);
    field.lan().drop(field.name(other), field.name(one), true);
    const auto detected_by = [&](std::size_t daemon, std::size_t peer, std::size_t from) {
      const std::string text = "link to " + field.name(peer) + " (";
      return Time(field.daemon(daemon).process().wait_for_line(text, from).at.time_since_epoch());
    };
    const Time detected = std::min(detected_by(one, other, lines[0]), detected_by(other, one, lines[1]));
    std::this_thread::sleep_for(1500ms);
    const Pause longest = longest_pause(field, cut - 100ms, time_now());
    detection.add(detected - cut);
    pause.add(longest.length);
    beyond.add(std::max(longest.end - detected, Duration::zero()));
    field.lan().heal();
    std::this_thread::sleep_for(kForgotten);
  }
  detection.print();
  pause.print();
  beyond.print();
}

/// Links that are given up although both ends are there and can talk, by the liveness timeout: what a short one costs.
void measure_false_alarms(int liveness_ms) {
  constexpr auto kLossTime = 20s;
  constexpr auto kStopTime = 300ms;
  constexpr int kStops = 20;
  FieldOptions options = quiet_field(3);
  options.configuration = fmt::format("[link]\nliveness_timeout_ms = {}\n", liveness_ms);
  Field field(options);
  const auto alarms = [&] {
    std::size_t count = 0;
    for (std::size_t i = 0; i < field.size(); ++i) {
      const std::string log = field.daemon(i).process().transcript();
      for (std::size_t at = 0; (at = log.find("down: silent_peer", at)) != std::string::npos; ++at) ++count;
    }
    return count;
  };
  std::size_t before = alarms();
  const auto print = [&](const std::string& what) {
    const std::size_t after = alarms();
    fmt::print("liveness {} ms, {}: {} links given up\n", liveness_ms, what, after - before);
    std::fflush(stdout);
    before = after;
  };
  for (int i = 0; i < kStops; ++i) {
    field.pause(0);
    std::this_thread::sleep_for(kStopTime);
    field.resume(0);
    std::this_thread::sleep_for(kStopTime);
  }
  print(fmt::format("{} stops of {} ms", kStops, kStopTime.count()));
  for (const unsigned percent : {5u, 10u, 20u}) {
    field.lan().set_loss(percent);
    std::this_thread::sleep_for(kLossTime);
    print(fmt::format("{} s with {} % of all frames lost", kLossTime.count(), percent));
  }
}

}  // namespace

int run_figures(const FiguresOptions& options) {
  const auto wanted = [&](std::string_view name) { return name.find(options.only) != std::string_view::npos; };
  fmt::print("{:<58} {:>8} {:>8} {:>8} {:>5}\n", "seconds", "median", "least", "most", "of");
  if (wanted("kill")) measure_kill(options.rounds);
  if (wanted("ring")) measure_link("ring of three", 3, options.rounds);
  if (wanted("square")) measure_link("square", 4, options.rounds);
  for (const std::chrono::seconds length : {3s, 10s, 60s}) {
    if (wanted(fmt::format("partition {}", length.count()))) measure_partition(length, options.rounds);
  }
  if (options.only == "alarms") {
    for (const int liveness_ms : {600, 750, 1000}) measure_false_alarms(liveness_ms);
  }
  return 0;
}

}  // namespace spindle::test
