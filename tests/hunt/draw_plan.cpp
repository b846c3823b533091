// What a seed decides: see draw_plan.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/hunt/draw_channels.h"
#include "tests/hunt/draw_content.h"
#include "tests/hunt/draw_exchanges.h"
#include "tests/hunt/draw_feeds.h"
#include "tests/hunt/draw_names.h"
#include "tests/hunt/draw_rare.h"
#include "tests/hunt/draw_returns.h"
#include "tests/hunt/draw_rules.h"
#include "tests/hunt/draw_shattering.h"
#include "tests/hunt/draw_synchrony.h"
#include "tests/hunt/draw_time.h"
#include "tests/sim/cluster.h"

namespace spindled::hunt {

namespace {

/// How many links and daemons are tried for frames that are to come late, so that not all runs have some.
constexpr int kLateFrameTries = 20;

/// Of so many runs one is of a mesh that shatters.
constexpr std::uint64_t kShattering = 4;

class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) : random_(seed) { plan_.seed = seed; }

  Plan draw() {
    draw_cluster();
    draw_config();
    draw_starts();
    draw_clients();
    draw_messages();
    draw_hasty_messages();
    draw_slow_clients();
    draw_faults();
    draw_late_frames();
    draw_rare(plan_, end_);
    if (plan_.seed % kShattering == 0) draw_shattering(plan_, end_);
    draw_names(plan_, end_);
    draw_rules(plan_, end_);
    draw_returns(plan_, end_);
    draw_synchrony(plan_);
    draw_exchanges(plan_, end_);
    draw_channels(plan_, end_);
    draw_content(plan_, end_);
    draw_feeds(plan_, end_);
    sort_steps();
    return std::move(plan_);
  }

 private:
  /// By time, and those of one time as they were drawn. Steps are large: each is moved once.
  void sort_steps() {
    std::vector<std::pair<Duration, std::size_t>> order;
    for (const Step& step : plan_.steps) order.emplace_back(step.at, order.size());
    std::sort(order.begin(), order.end());
    std::vector<Step> steps;
    steps.reserve(order.size());
    for (const auto& [at, place] : order) steps.push_back(std::move(plan_.steps[place]));
    plan_.steps = std::move(steps);
  }

  struct Client {
    HostIndex host = 0;
    Duration connects{};
    std::vector<std::string> groups;
  };

  void draw_cluster();
  void draw_config();
  void draw_starts();
  void draw_clients();
  void draw_client(std::uint32_t number);
  void draw_messages();
  void draw_hasty_messages();
  Step draw_message(Duration at, std::uint32_t client);
  void draw_flurry(Random& random, Step message);
  std::uint64_t draw_size();
  void draw_slow_clients();
  void draw_faults();
  void draw_fault(Duration at);
  void draw_daemon_fault(Duration at, StepKind kind);
  void draw_path_fault(Duration at, StepKind kind);
  void draw_slow_path(Duration at);
  void draw_partition(Duration at);
  void draw_late_frames();
  bool connects_without(const PlannedLink& link, HostIndex host) const;
  std::vector<std::vector<HostIndex>> draw_sides(std::size_t count);

  Duration time_between(Duration from, Duration to) {
    return from + us(random_.below(static_cast<std::uint64_t>((to - from) / 1us) + 1));
  }
  /// From shorter than a view change to longer than the detection of a failure.
  Duration draw_span() {
    switch (random_.below(3)) {
      case 0:
        return us(random_.between(1'000, 50'000));
      case 1:
        return us(random_.between(50'000, 500'000));
      default:
        return us(random_.between(500'000, 2'500'000));
    }
  }
  HostIndex any_host() { return static_cast<HostIndex>(random_.below(plan_.daemons)); }
  const PlannedLink& any_link() { return plan_.links[random_.below(plan_.links.size())]; }
  const std::string& any_of(const std::vector<std::string>& names) { return names[random_.below(names.size())]; }
  Step& add(Duration at, StepKind kind) {
    Step& step = plan_.steps.emplace_back();
    step.at = at;
    step.kind = kind;
    return step;
  }
  Step& add(Duration at, StepKind kind, HostIndex host, HostIndex peer = 0) {
    Step& step = add(at, kind);
    step.host = host;
    step.peer = peer;
    return step;
  }

  Random random_;
  Plan plan_;
  Duration end_{};
  std::vector<std::string> groups_;
  std::vector<Client> clients_;
  std::vector<Service> services_;
  bool bulk_ = false;
  bool slow_clients_ = false;
  std::vector<StepKind> faults_;  // the kinds that exist in this run; one of them may occur more than once
};

void Drawer::draw_cluster() {
  const double how_large = random_.real();
  plan_.daemons = static_cast<std::uint32_t>(how_large < 0.85   ? random_.between(2, 9)
                                             : how_large < 0.97 ? random_.between(10, 24)
                                                                : random_.between(25, 64));
  const sim::Shape shape = sim::kShapes[random_.below(std::size(sim::kShapes))];
  const auto draw_delay = [&] { return us(random_.between(20, random_.chance(0.5) ? 2'000 : 20'000)); };
  const auto draw_rate = [&] {
    return random_.between(plan_.daemons > 24 ? 4'000'000 : 500'000, 20'000'000) / 1000 * 1000;
  };
  Duration delay = draw_delay();
  std::uint64_t rate = random_.chance(0.5) ? draw_rate() : 0;
  const bool mixed = random_.chance(0.3);
  for (const auto& [a, b] : sim::edges_of(shape, plan_.daemons, random_)) {
    if (mixed) {
      delay = draw_delay();
      rate = random_.chance(0.5) ? draw_rate() : 0;
    }
    plan_.links.push_back({static_cast<HostIndex>(a), static_cast<HostIndex>(b),
                           static_cast<PlannedLink::Dialler>(random_.below(3)), rate, delay,
                           us(static_cast<std::uint64_t>(delay / 1us) / 4)});
  }
}

void Drawer::draw_config() {
  // Numbers of views grow by jumps, those of messages and positions one by one: each cross the boundary in some runs.
  const std::uint64_t below = plan_.seed % 2 == 0 ? 300'000 : 100;
  if (random_.chance(0.5)) plan_.first_number = (std::uint64_t{1} << 32) - random_.below(below);
  const bool small = random_.chance(0.3);
  plan_.retention_bytes = small ? random_.between(256, 1024) << 10 : 64u << 20;
  plan_.window_bytes = small ? random_.between(64, 256) << 10 : 8u << 20;
  slow_clients_ = random_.chance(0.25);
  const bool small_queues = slow_clients_ || random_.chance(0.2);
  plan_.queue_soft_bytes = small_queues ? random_.between(32, 256) << 10 : 4u << 20;
  plan_.queue_hard_bytes = small_queues ? plan_.queue_soft_bytes + (random_.between(256, 1024) << 10) : 64u << 20;
  plan_.stall_timeout = small_queues ? us(random_.between(500'000, 3'000'000)) : Duration(10s);
  constexpr std::uint64_t kFullViewMembers[] = {100, 3, 0};
  plan_.full_view_members = kFullViewMembers[plan_.seed % std::size(kFullViewMembers)];
  // Equal ones tell no lives apart in a history, and a daemon draws none.
  constexpr sim::Incarnations kIncarnations[] = {sim::Incarnations::rising, sim::Incarnations::falling,
                                                 sim::Incarnations::drawn};
  plan_.incarnations = static_cast<std::uint64_t>(kIncarnations[plan_.seed / 9 % std::size(kIncarnations)]);
  // So little that most of what a view brings takes many turns.
  constexpr std::uint64_t kTurnWork[] = {10'000, 30, 3};
  plan_.turn_work = kTurnWork[plan_.seed / 27 % std::size(kTurnWork)];
  // As news of much, after the next message of a quiet sender, or never in a run of this length.
  constexpr Duration kStableDelays[] = {50ms, 1s, 30s};
  plan_.announce_stable_within = kStableDelays[plan_.seed / 3 % std::size(kStableDelays)];
  const bool impatient = random_.chance(0.5);
  plan_.liveness_timeout = impatient ? 300ms : 1s;
  plan_.heartbeat_interval = plan_.liveness_timeout / 4;
  plan_.hold_down = random_.chance(0.5) ? 200ms : 50ms;
}

void Drawer::draw_starts() {
  end_ = us(random_.between(2'000'000, 6'000'000));
  const std::uint64_t spread = random_.chance(0.8) ? 100'000 : 2'000'000;
  for (HostIndex i = 0; i < plan_.daemons; ++i) add(us(random_.below(spread)), StepKind::start, i);
}

void Drawer::draw_clients() {
  const std::size_t groups = random_.between(1, 8);
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-_./";
  for (std::size_t i = 0; i < groups; ++i) {
    std::string name = fmt::format("g{}", i);
    const std::size_t more = random_.chance(0.1) ? random_.below(200) : random_.below(3);
    for (std::size_t j = 0; j < more; ++j) name += kLetters[random_.below(kLetters.size())];
    groups_.push_back(std::move(name));
  }
  const std::uint64_t most = std::min<std::uint64_t>(24, 3 * plan_.daemons);
  const auto count = static_cast<std::uint32_t>(random_.between(1, most));
  for (std::uint32_t i = 0; i < count; ++i) draw_client(i);
}

void Drawer::draw_client(std::uint32_t number) {
  Client client;
  client.host = any_host();
  client.connects = random_.chance(0.6) ? time_between(0s, 500ms) : time_between(0s, end_);
  Step& connect = add(client.connects, StepKind::connect, client.host);
  connect.client = number;
  const auto change = [&](Duration at, StepKind kind, const std::string& group) {
    Step& step = add(at, kind);
    step.client = number;
    if (!group.empty()) step.groups = {group};
  };
  Duration at = client.connects;
  const std::size_t joins = random_.between(1, std::min<std::size_t>(3, groups_.size()));
  for (std::size_t i = 0; i < joins; ++i) {
    const std::string& group = any_of(groups_);
    change(at, StepKind::join, group);
    client.groups.push_back(group);
    at += us(random_.below(30'000));
  }
  // Some come and go.
  for (std::size_t i = random_.chance(0.3) ? random_.below(6) : 0; i > 0; --i) {
    const std::string& group = any_of(client.groups);
    const Duration when = time_between(client.connects, end_);
    change(when, StepKind::leave, group);
    if (random_.chance(0.7)) change(when + us(random_.below(200'000)), StepKind::join, group);
  }
  if (random_.chance(0.2)) {
    change(time_between(client.connects, end_), random_.chance(0.5) ? StepKind::kill : StepKind::bye, "");
  }
  clients_.push_back(std::move(client));
}

std::uint64_t Drawer::draw_size() {
  if (bulk_ && random_.chance(slow_clients_ ? 0.25 : 0.05))
    return random_.below(random_.chance(0.3) ? 200'000 : 60'000);
  return random_.chance(0.02) ? 0 : random_.below(1500);
}

Step Drawer::draw_message(Duration at, std::uint32_t number) {
  const Client& client = clients_[number];
  Step step;
  step.at = at;
  step.kind = StepKind::send;
  step.client = number;
  step.service = services_[random_.below(services_.size())];
  step.size = draw_size();
  step.self_discard = random_.chance(0.1);
  if (random_.chance(0.06)) {
    step.groups = {fmt::format("#m{}", random_.below(clients_.size()))};
    return step;
  }
  step.groups = {random_.chance(0.7) ? any_of(client.groups) : any_of(groups_)};
  while (random_.chance(0.2)) {
    const std::string& more = any_of(groups_);
    if (std::find(step.groups.begin(), step.groups.end(), more) != step.groups.end()) break;
    step.groups.push_back(more);
  }
  return step;
}

/// Small messages right behind a message, which its daemon may bundle.
void Drawer::draw_flurry(Random& random, Step message) {
  for (std::size_t i = random.chance(0.3) ? random.between(1, 15) : 0; i > 0; --i) {
    message.size = random.below(400);
    if (random.chance(0.05)) message.self_discard = !message.self_discard;
    if (random.chance(0.1)) message.service = services_[random.below(services_.size())];
    plan_.steps.push_back(message);
  }
}

void Drawer::draw_messages() {
  bulk_ = slow_clients_ || random_.chance(0.4);
  // A few services or all; whichever is drawn twice is the more frequent.
  const std::size_t kinds = random_.between(1, 8);
  for (std::size_t i = 0; i < kinds; ++i) services_.push_back(static_cast<Service>(random_.below(6)));
  const double share = std::min(1.0, 8.0 / plan_.daemons);
  auto left = static_cast<std::size_t>(share * static_cast<double>(random_.between(20, 600)));
  const bool bursts = random_.chance(0.4);
  const bool flurries = plan_.seed % 3 == 0;
  Random flurry_random(plan_.seed);  // of its own, so that the rest is the same with and without
  while (left > 0) {
    const std::size_t burst = std::min<std::size_t>(left, bursts ? random_.between(1, 40) : 1);
    left -= burst;
    const Duration at = time_between(100ms, end_);
    const bool one_sender = random_.chance(0.5);
    auto sender = static_cast<std::uint32_t>(random_.below(clients_.size()));
    for (std::size_t i = 0; i < burst; ++i) {
      if (!one_sender) sender = static_cast<std::uint32_t>(random_.below(clients_.size()));
      plan_.steps.push_back(draw_message(at + us(random_.below(bursts ? 5'000 : 100)), sender));
      if (flurries) draw_flurry(flurry_random, plan_.steps.back());
    }
  }
}

/// Messages right behind requests to join and to leave, which their daemon has to keep in that order.
void Drawer::draw_hasty_messages() {
  if (plan_.seed % 5 >= 2) return;
  Random random(~plan_.seed);  // of its own, so that the rest is the same with and without
  std::vector<Step> steps;
  for (Step& step : plan_.steps) {
    const bool is_change = step.kind == StepKind::join || step.kind == StepKind::leave;
    const Step change = step;
    steps.push_back(std::move(step));
    for (std::size_t i = is_change && random.chance(0.7) ? random.between(1, 3) : 0; i > 0; --i) {
      Step message = change;
      message.kind = StepKind::send;
      message.service = services_[random.below(services_.size())];
      message.size = random.below(1500);
      if (random.chance(0.3)) message.groups = {groups_[random.below(groups_.size())]};
      steps.push_back(std::move(message));
      if (random.chance(0.2)) {
        Step again = change;
        again.kind = again.kind == StepKind::join ? StepKind::leave : StepKind::join;
        steps.push_back(again);
        again.kind = change.kind;
        steps.push_back(std::move(again));
      }
    }
  }
  plan_.steps = std::move(steps);
}

void Drawer::draw_slow_clients() {
  if (!slow_clients_) return;
  for (std::size_t i = random_.between(1, 3); i > 0; --i) {
    const auto number = static_cast<std::uint32_t>(random_.below(clients_.size()));
    Duration at = time_between(clients_[number].connects, end_);
    Step& slow = add(at, StepKind::read_rate);
    slow.client = number;
    slow.bytes_per_second = random_.chance(0.5) ? 0 : random_.between(5'000, 500'000);
    if (!random_.chance(0.5)) continue;
    Step& fast = add(at + draw_span(), StepKind::read_rate);
    fast.client = number;
    fast.bytes_per_second = kReadAll;
  }
}

void Drawer::draw_faults() {
  for (std::size_t kind = 0; kind < kStepKinds; ++kind) {
    const auto fault = static_cast<StepKind>(kind);
    if (!is_fault(fault) || is_rare(fault) || !random_.chance(0.4)) continue;
    faults_.insert(faults_.end(), random_.between(1, 3), fault);
  }
  if (faults_.empty() || random_.chance(0.1)) return;
  const bool cascades = random_.chance(0.5);
  // Close enough that one comes in the middle of the view change that the one before has caused.
  const auto step = static_cast<std::uint64_t>(plan_.links.front().delay / 1us) * 4 + random_.between(200, 4'000);
  const Duration from = time_between(200ms, 1500ms);
  for (std::size_t left = random_.between(1, 30); left > 0;) {
    Duration at = time_between(from, std::max(from, end_));
    const std::size_t length = cascades && random_.chance(0.5) ? random_.between(2, 8) : 1;
    for (std::size_t i = 0; i < length && left > 0; ++i, --left) {
      draw_fault(at);
      at += us(random_.below(step));
    }
  }
}

void Drawer::draw_fault(Duration at) {
  const StepKind kind = faults_[random_.below(faults_.size())];
  switch (kind) {
    case StepKind::stop:
    case StepKind::crash:
    case StepKind::power_loss:
    case StepKind::pause:
      return draw_daemon_fault(at, kind);
    case StepKind::path:
      return draw_slow_path(at);
    case StepKind::partition:
      return draw_partition(at);
    case StepKind::heal_with_resets:
      add(at, random_.chance(0.5) ? StepKind::heal_with_resets : StepKind::heal);
      return;
    default:
      return draw_path_fault(at, kind);
  }
}

void Drawer::draw_daemon_fault(Duration at, StepKind kind) {
  const HostIndex host = any_host();
  add(at, kind, host);
  if (!random_.chance(0.85)) return;
  add(at + draw_span(), kind == StepKind::pause ? StepKind::resume : StepKind::start, host);
}

void Drawer::draw_path_fault(Duration at, StepKind kind) {
  const PlannedLink& link = any_link();
  const bool turned = random_.chance(0.5);
  const HostIndex from = turned ? link.b : link.a, to = turned ? link.a : link.b;
  add(at, kind, from, to);
  if (kind == StepKind::reset || !random_.chance(0.85)) return;
  const Duration later = at + draw_span();
  // What has waited for long may find its connection given up.
  if (random_.chance(0.3)) add(later, StepKind::reset, from, to);
  add(later, kind == StepKind::cut ? StepKind::repair : StepKind::unstall, from, to);
}

void Drawer::draw_slow_path(Duration at) {
  const PlannedLink& link = any_link();
  Step& slow = add(at, StepKind::path, link.a, link.b);
  slow.bytes_per_second = random_.chance(0.6) ? random_.between(20'000, 500'000) : 0;
  slow.delay = us(random_.between(20, 60'000));
  slow.jitter = slow.delay / 4 / 1us * 1us;
  if (!random_.chance(0.85)) return;
  Step& normal = add(at + draw_span(), StepKind::path, link.a, link.b);
  normal.bytes_per_second = link.bytes_per_second;
  normal.delay = link.delay;
  normal.jitter = link.jitter;
}

std::vector<std::vector<HostIndex>> Drawer::draw_sides(std::size_t count) {
  std::vector<std::vector<HostIndex>> sides(count);
  for (HostIndex i = 0; i < plan_.daemons; ++i) sides[random_.below(count)].push_back(i);
  std::erase_if(sides, [](const auto& side) { return side.empty(); });
  return sides;
}

void Drawer::draw_partition(Duration at) {
  Step& parts = add(at, StepKind::partition);
  parts.sides = draw_sides(random_.between(2, 3));
  std::vector<std::vector<HostIndex>> sides = parts.sides;
  while (sides.size() > 2 && random_.chance(0.5)) {  // heals in parts
    at += draw_span();
    sides.front().insert(sides.front().end(), sides.back().begin(), sides.back().end());
    sides.pop_back();
    add(at, StepKind::partition).sides = sides;
  }
  if (!random_.chance(0.85)) return;
  add(at + draw_span(), random_.chance(0.3) ? StepKind::heal_with_resets : StepKind::heal);
}

/// Frames that are under way on one link while the view changes over others: they arrive in the view after theirs. They
/// come from the coordinator: what it says itself has other ways, and nobody waits for an answer over that link.
void Drawer::draw_late_frames() {
  constexpr HostIndex kFrom = 0;
  const PlannedLink* link = nullptr;
  HostIndex crashes = 0;
  for (int tries = 0; link == nullptr && tries < kLateFrameTries; ++tries) {
    link = &any_link();
    crashes = any_host();
    if ((link->a != kFrom && link->b != kFrom) || !connects_without(*link, crashes)) link = nullptr;
  }
  if (link == nullptr) return;
  const HostIndex to = link->a == kFrom ? link->b : link->a;
  const Duration at = time_between(1s, end_);
  // Hellos wait too, and the link must not be given up.
  add(at, StepKind::stall, kFrom, to);
  add(at + time_between(plan_.liveness_timeout / 4, plan_.liveness_timeout * 2 / 3), StepKind::unstall, kFrom, to);
  for (std::size_t i = random_.between(5, 30); i > 0; --i) {
    const auto sender = static_cast<std::uint32_t>(random_.below(clients_.size()));
    plan_.steps.push_back(draw_message(at + us(random_.below(5'000)), sender));
  }
  const Duration later = at + us(random_.between(5'000, 20'000));
  add(later, StepKind::crash, crashes);
  if (random_.chance(0.85)) add(later + draw_span(), StepKind::start, crashes);
}

/// Whether the other daemons can do without `link` and `host`, which is neither of its ends.
bool Drawer::connects_without(const PlannedLink& link, HostIndex host) const {
  if (host == link.a || host == link.b) return false;
  Plan rest;
  rest.daemons = plan_.daemons;
  for (const PlannedLink& each : plan_.links) {
    if (each == link || each.a == host || each.b == host) continue;
    rest.links.push_back(each);
  }
  rest.links.push_back({.a = link.a, .b = host});  // it is not to be reached, and not missed
  return is_connected(rest);
}

}  // namespace

Plan draw_plan(std::uint64_t seed) { return Drawer(seed).draw(); }

}  // namespace spindled::hunt
