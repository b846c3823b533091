#include "tests/hunt/draw_rare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/hunt/draw_time.h"

namespace spindled::hunt {

namespace {

class RareDrawer {
 public:
  RareDrawer(Plan& plan, Duration end) : plan_(plan), end_(end), random_(plan.seed ^ 0x7a9e5) {
    std::set<std::string> groups;
    for (const Step& step : plan.steps) {
      if (step.kind == StepKind::connect) clients_.push_back(step.client);
      if (step.kind == StepKind::join) groups.insert(step.groups.front());
    }
    groups_.assign(groups.begin(), groups.end());
  }

  void draw() {
    if (random_.chance(0.1)) plan_.admission = 0;
    if (random_.chance(0.15)) plan_.varied = 1;
    draw_options();
    if (random_.chance(0.15)) mix_private_names();
    if (random_.chance(0.1)) draw_early_messages();
    if (random_.chance(0.15)) draw_requests();
    if (random_.chance(0.2)) draw_crashes_at_steps();
    if (random_.chance(0.08)) draw_imposed_partitions();
    if (random_.chance(0.04)) draw_storm();
    if (random_.chance(0.01) && plan_.daemons <= 9) draw_crowd();
    if (random_.chance(0.01) && plan_.daemons <= 6) draw_huge_messages();
    if (random_.chance(0.01)) draw_long_pause();
  }

 private:
  Duration any_time() { return us(random_.below(static_cast<std::uint64_t>(end_ / 1us) + 1)); }
  HostIndex any_host() { return static_cast<HostIndex>(random_.below(plan_.daemons)); }
  std::uint32_t any_client() { return clients_[random_.below(clients_.size())]; }
  const std::string& any_group() { return groups_[random_.below(groups_.size())]; }
  Step& add(Duration at, StepKind kind) {
    Step& step = plan_.steps.emplace_back();
    step.at = at;
    step.kind = kind;
    return step;
  }
  Step& add_of_client(Duration at, StepKind kind, std::uint32_t client, std::string group) {
    Step& step = add(at, kind);
    step.client = client;
    step.groups = {std::move(group)};
    return step;
  }

  void draw_options() {
    const bool flows = random_.chance(0.15);
    const bool has_slow_clients = std::any_of(plan_.steps.begin(), plan_.steps.end(),
                                              [](const Step& step) { return step.kind == StepKind::read_rate; });
    const bool policies = random_.chance(has_slow_clients ? 0.5 : 0.1);
    for (Step& step : plan_.steps) {
      if (step.kind != StepKind::connect) continue;
      if (flows) step.independent_flows = random_.chance(0.5);
      if (policies) step.policy = static_cast<SlowPolicy>(random_.below(4));
    }
  }

  void mix_private_names() {
    for (Step& step : plan_.steps) {
      if (step.kind != StepKind::send || !random_.chance(0.15)) continue;
      std::string name = fmt::format("#m{}", any_client());
      if (std::find(step.groups.begin(), step.groups.end(), name) == step.groups.end()) {
        step.groups.push_back(std::move(name));
      }
    }
  }

  /// Unordered, to a group that some daemons do not know yet, beside one that they do.
  void draw_early_messages() {
    std::vector<Step> messages;
    for (const Step& step : plan_.steps) {
      if (step.kind != StepKind::join || groups_.size() < 2) continue;
      for (std::size_t i = random_.below(4); i > 0; --i) {
        Step& message = messages.emplace_back();
        message.at = step.at + us(random_.below(60'000));
        message.kind = StepKind::send;
        message.client = any_client();
        message.service = random_.chance(0.5) ? Service::unreliable : Service::reliable;
        message.size = random_.below(300);
        message.groups = step.groups;
        if (const std::string& other = any_group(); other != step.groups.front()) message.groups.push_back(other);
      }
    }
    plan_.steps.insert(plan_.steps.end(), messages.begin(), messages.end());
  }

  void draw_requests() {
    for (std::size_t i = random_.between(1, 20); i > 0; --i) {
      add_of_client(any_time(), random_.chance(0.6) ? StepKind::ask_view : StepKind::ask_flow, any_client(),
                    any_group());
    }
  }

  /// A daemon ends at the next such step after a fault, and is back later.
  void draw_crashes_at_steps() {
    std::vector<Duration> faults;
    for (const Step& step : plan_.steps) {
      if (is_fault(step.kind)) faults.push_back(step.at);
    }
    for (std::size_t i = random_.between(1, 4); i > 0; --i) {
      const Duration at = faults.empty() || random_.chance(0.3) ? any_time() : faults[random_.below(faults.size())];
      Step& crash = add(at, StepKind::crash_when);
      // The coordinator is mostly the first, and has most steps to be stopped at.
      crash.host = random_.chance(0.4) ? 0 : any_host();
      crash.says = kViewSteps[random_.below(std::size(kViewSteps))].word;
      if (random_.chance(0.85)) add(at + us(random_.between(10'000, 3'000'000)), StepKind::start).host = crash.host;
    }
  }

  void draw_imposed_partitions() {
    for (std::size_t i = random_.between(1, 3); i > 0; --i) {
      Step& step = add(any_time(), StepKind::impose);
      step.host = any_host();
      step.delay = us(random_.between(100'000, 4'000'000) / 1000 * 1000);
      step.sides.resize(random_.between(1, 3));
      for (HostIndex host = 0; host < plan_.daemons; ++host) {
        step.sides[random_.below(step.sides.size())].push_back(host);
      }
      if (random_.chance(0.3) && !step.sides.front().empty()) step.sides.front().pop_back();
      std::erase_if(step.sides, [](const auto& side) { return side.empty(); });
      if (step.sides.empty()) step.sides.push_back({0});
    }
  }

  /// One client that joins and leaves without waiting for anything.
  void draw_storm() {
    const std::uint32_t client = any_client();
    const Duration at = any_time();
    const std::uint64_t groups = random_.chance(0.5) ? 1 : random_.between(2, 40);
    for (std::size_t i = random_.between(20, 300); i > 0; --i) {
      const std::uint64_t which = random_.below(groups);
      add_of_client(at, random_.chance(0.5) ? StepKind::join : StepKind::leave, client,
                    which == 0 ? any_group() : fmt::format("storm{}", which));
    }
  }

  void draw_crowd() {
    constexpr std::uint32_t kFirst = 1000;
    const std::uint64_t groups = random_.between(20, 200);
    for (auto i = static_cast<std::uint32_t>(random_.between(50, 250)); i > 0; --i) {
      const Duration at = us(random_.below(500'000));
      Step& connect = add(at, StepKind::connect);
      connect.client = kFirst + i;
      connect.host = any_host();
      for (std::size_t joins = random_.between(1, 4); joins > 0; --joins) {
        add_of_client(at, StepKind::join, kFirst + i, fmt::format("crowd{}", random_.below(groups)));
      }
      if (random_.chance(0.2)) {
        Step& message =
            add_of_client(any_time(), StepKind::send, kFirst + i, fmt::format("crowd{}", random_.below(groups)));
        message.service = static_cast<Service>(1 + random_.below(5));
        message.size = random_.below(500);
      }
      if (random_.chance(0.1)) add(any_time(), StepKind::kill).client = kFirst + i;
    }
  }

  /// Up to the largest there are; slow links would take them for longer than a run lasts.
  void draw_huge_messages() {
    constexpr std::uint64_t kMessageBytesMax = 16u << 20;
    for (PlannedLink& link : plan_.links) link.bytes_per_second = 0;
    std::erase_if(plan_.steps, [](const Step& step) { return step.kind == StepKind::path; });
    for (std::size_t i = random_.between(1, 2); i > 0; --i) {
      Step& message = add_of_client(any_time(), StepKind::send, any_client(), any_group());
      message.service = static_cast<Service>(1 + random_.below(5));
      message.size = random_.chance(0.5) ? kMessageBytesMax : random_.between(1u << 20, kMessageBytesMax);
    }
  }

  void draw_long_pause() {
    const HostIndex host = any_host();
    const Duration at = any_time();
    add(at, StepKind::pause).host = host;
    add(at + 60s + us(random_.below(2'000'000)), StepKind::resume).host = host;
  }

  Plan& plan_;
  Duration end_;
  Random random_;
  std::vector<std::uint32_t> clients_;
  std::vector<std::string> groups_;
};

}  // namespace

void draw_rare(Plan& plan, Duration end) { RareDrawer(plan, end).draw(); }

}  // namespace spindled::hunt
