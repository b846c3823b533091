#include "bench/sim/scenarios/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <unordered_map>

#include "daemon/base/check.h"

namespace spindled::scenarios {

namespace {

using sim::PathProperties;
using sim::SimClient;
using sim::SimHost;
using sim::Simulator;

constexpr Duration kPatience = 120s;
/// What the system takes of a link's queue: what waits is to wait in the daemon, which can put a price on it. On a fast
/// link it is what it carries in this time, up to the most that a daemon lets a kernel hold.
constexpr std::size_t kSendBufferBytes = 3000;
constexpr double kSendBufferS = 0.0005;
constexpr std::size_t kSendBufferMax = 128u << 10;
/// A receive window begins with this and grows, as Linux' tcp_rmem has it.
constexpr std::size_t kWindowFirst = 64u << 10;
constexpr std::size_t kWindowMax = 6u << 20;
/// What a sender's system and its daemon's hold: enough for it never to run dry, so many of its messages.
constexpr std::size_t kLineMessages = 8;
constexpr std::size_t kAheadMessages = 4;
/// Nothing is measured while the view changes. All networks are trees, so that no round-trip time, which grows with the
/// load, makes another route better; and link state is not what is counted.
constexpr Duration kNoViewChange = std::chrono::hours(10);

/// One simulation of a scenario, from the first daemon to the last second.
class Run {
 public:
  Run(const Scenario& scenario, std::uint64_t seed, std::atomic<double>& progress)
      : scenario_(scenario), progress_(progress), simulator_({.seed = seed, .keep_histories = false}) {}

  Result run();

 private:
  void add_hosts();
  void add_receivers();
  void add_senders();
  void schedule();
  void sample();
  void limit(std::size_t path, double bits_per_second);
  void count(std::size_t receiver, const spindle::Message& message);
  bool all_have_joined();
  /// Looked at ten times in a second of virtual time, as `predicate` may be costly.
  template <typename Predicate>
  bool await(Predicate&& predicate);
  void run_for(Duration duration, double until);

  SimHost& host(const std::string& name) { return *hosts_.at(name); }
  Time start() const { return start_; }

  const Scenario& scenario_;
  std::atomic<double>& progress_;
  Simulator simulator_;
  std::map<std::string, SimHost*> hosts_;
  std::vector<SimClient*> receivers_;
  std::vector<SimClient*> senders_;
  std::map<std::string, std::size_t> members_of_;                // how many a group has
  std::map<std::string, std::size_t, std::less<>> counted_at_;   // at which receiver a group's messages count
  std::unordered_map<std::string, std::size_t> sender_by_name_;  // private name
  std::deque<LinkProbe> probes_;
  std::optional<Classifier> classifier_;
  Time start_ = kNever;  // of the senders
  Result result_;
};

void Run::add_hosts() {
  std::vector<std::string> names;
  std::map<std::string, NodeConfig> configs;
  for (const Path& path : scenario_.paths) {
    for (const std::string& name : {path.a, path.b}) {
      const auto [config, is_new] = configs.try_emplace(name, scenario_.node);
      if (!is_new) continue;
      config->second.name = name;
      config->second.view.reroute_delay = kNoViewChange;
      config->second.view.refresh_interval = kNoViewChange;
      names.push_back(name);
    }
    configs[path.a].link.neighbours.push_back({.address = Simulator::address_of(path.b)});
  }
  for (const std::string& name : names) hosts_[name] = &simulator_.add_host(configs[name]);
  for (std::size_t i = 0; i < scenario_.paths.size(); ++i) limit(i, 0);
  for (const Direction& watched : scenario_.watched) {
    probes_.emplace_back(simulator_, host(watched.from), host(watched.to), watched, scenario_.classes.size(),
                         scenario_.bin);
  }
  // At once, and those with many neighbours dial them: then even a large network forms in few steps.
  for (const std::string& name : names) host(name).start();
}

/// 0: no limit.
void Run::limit(std::size_t path, double bits_per_second) {
  const Path& ends = scenario_.paths[path];
  PathProperties properties{
      .bytes_per_second = static_cast<std::uint64_t>(bits_per_second / 8), .delay = ends.delay, .jitter = 0ns};
  if (bits_per_second > 0) {
    const auto held = static_cast<std::size_t>(bits_per_second / 8 * kSendBufferS);
    properties.send_buffer = std::clamp(held, kSendBufferBytes, kSendBufferMax);
    properties.congestion_control = ends.congestion_control;
    properties.loss = ends.loss;
  }
  properties.receive_window = kWindowFirst;
  properties.receive_window_max = scenario_.window_max > 0 ? scenario_.window_max : kWindowMax;
  simulator_.network().set_path(host(ends.a).index(), host(ends.b).index(), properties);
}

void Run::add_receivers() {
  for (std::size_t i = 0; i < scenario_.receivers.size(); ++i) {
    const Receiver& receiver = scenario_.receivers[i];
    SimClient& client = simulator_.add_client(host(receiver.daemon), fmt::format("r{}", i));
    client.hand_messages_to([this, i](const spindle::Message& message) { count(i, message); });
    for (const std::string& group : receiver.groups) {
      client.join(group);
      ++members_of_[group];
      counted_at_.try_emplace(group, i);
    }
    receivers_.push_back(&client);
  }
}

void Run::add_senders() {
  const std::size_t line = kLineMessages * std::max<std::size_t>(scenario_.message_bytes, 1024);
  simulator_.network().set_local_path({0, 10us, 5us, line, line});
  for (std::size_t i = 0; i < scenario_.senders.size(); ++i) {
    const Sender& sender = scenario_.senders[i];
    SimClient& client = simulator_.add_client(host(sender.daemon), fmt::format("s{}", i));
    client.hand_messages_to([](const spindle::Message&) {});
    senders_.push_back(&client);
    result_.clients.push_back({sender.traffic_class, sender.daemon, {}, scenario_.bin});
  }
}

bool Run::all_have_joined() {
  for (std::size_t i = 0; i < receivers_.size(); ++i) {
    for (const std::string& group : scenario_.receivers[i].groups) {
      const auto* view = receivers_[i]->view(group);
      if (view == nullptr || view->members.size() != members_of_[group]) return false;
    }
  }
  return std::all_of(senders_.begin(), senders_.end(), [](const SimClient* client) { return client->is_welcome(); });
}

template <typename Predicate>
bool Run::await(Predicate&& predicate) {
  const Time limit = simulator_.now() + kPatience;
  while (!predicate()) {
    if (simulator_.now() >= limit) return false;
    simulator_.run_for(100ms);
  }
  return true;
}

void Run::count(std::size_t receiver, const spindle::Message& message) {
  const auto counted = counted_at_.find(message.groups().front());
  if (counted == counted_at_.end() || counted->second != receiver || simulator_.now() < start_) return;
  const auto sender = sender_by_name_.find(std::string(message.sender()));
  SPINDLE_CHECK(sender != sender_by_name_.end());
  std::vector<std::uint32_t>& messages = result_.clients[sender->second].messages;
  const auto bin = static_cast<std::size_t>((simulator_.now() - start_) / scenario_.bin);
  if (messages.size() <= bin) messages.resize(bin + 1);
  ++messages[bin];
}

void Run::sample() {
  for (LinkProbe& probe : probes_) probe.sample();
  simulator_.after(std::min(kQueueSampleInterval, scenario_.bin / 2), [this] { sample(); });
}

/// What happens from now on.
void Run::schedule() {
  for (std::size_t i = 0; i < senders_.size(); ++i) {
    const TrafficClass& traffic_class = scenario_.classes[scenario_.senders[i].traffic_class];
    const auto spread = static_cast<std::uint64_t>(traffic_class.spread.count());
    const Duration drawn(static_cast<Duration::rep>(simulator_.random().below(spread + 1)));
    simulator_.after(traffic_class.start + drawn, [this, i] {
      senders_[i]->keep_sending({scenario_.senders[i].group},
                                {.service = Service::reliable, .size = scenario_.message_bytes},
                                kAheadMessages * scenario_.message_bytes);
    });
  }
  for (const CapacityChange& change : scenario_.changes) {
    simulator_.after(change.at, [this, &change] { limit(change.path, change.bits_per_second); });
  }
}

void Run::run_for(Duration duration, double until) {
  const double from = progress_;
  const auto steps = std::max<Duration::rep>(1, duration / 1s);
  for (Duration::rep i = 1; i <= steps; ++i) {
    simulator_.run_for(duration / steps);
    progress_ = from + (until - from) * static_cast<double>(i) / static_cast<double>(steps);
  }
}

Result Run::run() {
  result_.scenario = scenario_;
  add_hosts();
  const auto fail = [&](std::string why) {
    result_.error = std::move(why);
    return std::move(result_);
  };
  if (!await([&] { return have_one_view(simulator_.hosts()); })) return fail("the daemons have formed no view");
  add_receivers();
  add_senders();
  if (!await([&] { return all_have_joined(); })) return fail("not all have joined their groups");
  for (std::size_t i = 0; i < senders_.size(); ++i) sender_by_name_[senders_[i]->private_name()] = i;
  for (std::size_t i = 0; i < scenario_.paths.size(); ++i) limit(i, scenario_.paths[i].bits_per_second);
  simulator_.run_for(2s);  // until what was said about the joins is settled

  progress_ = 0.1;
  const View view = hosts_.begin()->second->node().view();
  classifier_.emplace(scenario_, view);
  for (LinkProbe& probe : probes_) probe.begin(*classifier_);
  sample();
  run_for(kIdle, 0.15);
  for (LinkProbe& probe : probes_) {
    result_.idle.push_back(probe.series());
    probe.begin(*classifier_);
  }
  start_ = simulator_.now();
  schedule();
  run_for(scenario_.end, 1);
  for (const LinkProbe& probe : probes_) result_.links.push_back(probe.series());
  if (hosts_.begin()->second->node().view().id != view.id) {
    // Nothing fails in a scenario, so that a link which counts as lost was starved.
    result_.log = simulator_.log().tail(20);
    return fail("the view has changed on the way");
  }
  for (const SimClient* sender : senders_) {
    if (sender->is_closed()) return fail("a sender was cut off");
  }
  return std::move(result_);
}

double thread_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

double ClientSeries::rate(Duration from, Duration to) const {
  const auto first = static_cast<std::size_t>(from / bin), last = static_cast<std::size_t>(to / bin);
  std::uint64_t total = 0;
  for (std::size_t i = first; i < std::min(last, messages.size()); ++i) total += messages[i];
  return static_cast<double>(total) / (static_cast<double>(last - first) * to_seconds(bin));
}

const LinkSeries& Result::link(const Direction& direction) const {
  const auto found =
      std::find_if(links.begin(), links.end(), [&](const LinkSeries& series) { return series.direction == direction; });
  SPINDLE_CHECK(found != links.end());
  return *found;
}

Result run(const Scenario& scenario, std::uint64_t seed, std::atomic<double>& progress) {
  const double start = thread_cpu_seconds();
  Result result = Run(scenario, seed, progress).run();
  result.cpu_seconds = thread_cpu_seconds() - start;
  progress = 1;
  return result;
}

}  // namespace spindled::scenarios
