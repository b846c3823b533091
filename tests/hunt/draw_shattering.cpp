#include "tests/hunt/draw_shattering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/hunt/draw_time.h"

namespace spindled::hunt {

namespace {

constexpr std::uint32_t kDaemonsMax = 12;

class ShatteringDrawer {
 public:
  ShatteringDrawer(Plan& plan, Duration end) : plan_(plan), end_(end), random_(plan.seed ^ 0x5ca77e4) {}

  void draw() {
    plan_.daemons = std::clamp(plan_.daemons, std::uint32_t{3}, kDaemonsMax);
    std::erase_if(plan_.steps, [](const Step&) { return true; });
    draw_mesh();
    for (HostIndex host = 0; host < plan_.daemons; ++host) add(us(random_.below(100'000)), StepKind::start).host = host;
    draw_clients();
    for (std::size_t i = random_.between(2, 6); i > 0; --i) {
      if (random_.chance(0.2)) {
        one_after_another(800ms + us(random_.below(static_cast<std::uint64_t>((end_ - 800ms) / 1us))));
        continue;
      }
      const Duration at = 800ms + us(random_.below(static_cast<std::uint64_t>((end_ - 800ms) / 1us)));
      draw_volley(at);
      if (random_.chance(0.7)) hold_up(at);
      shatter(at + us(random_.below(longest_us_ + 3'000)));
      // The view that follows ends before anybody has said who its members are, or just after.
      if (random_.chance(0.3)) shatter(at + us(random_.below(8 * longest_us_ + 5'000)));
      if (random_.chance(0.5)) come_and_go(at);
      if (random_.chance(0.3)) part_when_installed(at + us(random_.below(1'000'000)));
    }
  }

 private:
  Step& add(Duration at, StepKind kind) {
    Step& step = plan_.steps.emplace_back();
    step.at = at;
    step.kind = kind;
    return step;
  }
  HostIndex any_host() { return static_cast<HostIndex>(random_.below(plan_.daemons)); }

  /// As many ways of tens of microseconds as of tens of milliseconds; or all long, and few.
  void draw_mesh() {
    plan_.links.clear();
    constexpr std::uint64_t kLongUs = 15'000;
    const bool even = random_.chance(0.3);
    const double dense = even ? 0.25 : random_.chance(0.5) ? 1.0 : 0.5;
    for (HostIndex a = 0; a < plan_.daemons; ++a) {
      for (HostIndex b = a + 1; b < plan_.daemons; ++b) {
        if (b != a + 1 && !random_.chance(dense)) continue;
        const auto drawn = static_cast<std::uint64_t>(20 * std::exp(random_.real() * std::log(1'000.0)));
        const std::uint64_t delay = even ? kLongUs : drawn;
        longest_us_ = std::max(longest_us_, delay);
        plan_.links.push_back({.a = a, .b = b, .delay = us(delay), .jitter = us(delay / 4)});
      }
    }
  }

  void draw_clients() {
    for (HostIndex host = 0; host < plan_.daemons; ++host) {
      const auto number = static_cast<std::uint32_t>(clients_++);
      const Duration at = us(100'000 + random_.below(300'000));
      Step& connect = add(at, StepKind::connect);
      connect.client = number;
      connect.host = host;
      if (random_.chance(0.7)) connect.answers = static_cast<std::uint32_t>(random_.between(5, 40));
      for (const std::string_view group : kGroups) {
        if (!random_.chance(group == kGroups.front() ? 0.8 : 0.5)) continue;
        Step& join = add(at, StepKind::join);
        join.client = number;
        join.groups = {std::string(group)};
      }
    }
  }

  void draw_volley(Duration at) {
    constexpr Service kUsual[] = {Service::causal, Service::agreed, Service::agreed, Service::safe};
    for (std::size_t i = random_.between(3, 40); i > 0; --i) {
      Step& message = add(at + us(random_.below(5'000)), StepKind::send);
      message.client = static_cast<std::uint32_t>(random_.below(clients_));
      message.service =
          random_.chance(0.85) ? kUsual[random_.below(std::size(kUsual))] : static_cast<Service>(random_.below(4));
      message.size = random_.below(1500);
      const std::string first(kGroups[random_.below(kGroups.size())]);
      message.groups = {first};
      if (random_.chance(0.2) && first != kGroups.front()) message.groups.emplace_back(kGroups.front());
    }
  }

  void come_and_go(Duration at) {
    for (std::size_t i = random_.between(1, 12); i > 0; --i) {
      const StepKind kind = random_.chance(0.4)   ? StepKind::leave
                            : random_.chance(0.7) ? StepKind::join
                                                  : StepKind::kill;
      Step& step = add(at + us(random_.below(10 * longest_us_ + 10'000)), kind);
      step.client = static_cast<std::uint32_t>(random_.below(clients_));
      if (kind != StepKind::kill) step.groups = {std::string(kGroups[random_.below(kGroups.size())])};
    }
  }

  /// What some ways carry comes late, or not at all: its place in the order is known before it is there.
  void hold_up(Duration at) {
    for (std::size_t i = random_.between(1, 4); i > 0; --i) {
      const PlannedLink& link = plan_.links[random_.below(plan_.links.size())];
      const bool turned = random_.chance(0.5);
      // Heartbeats wait too, and mostly the link is not to be given up for that.
      const Duration ends = at + us(longest_us_ + 1'000) +
                            static_cast<std::uint64_t>(plan_.liveness_timeout / 1ms) * random_.between(1, 5) / 6 * 1ms;
      for (const StepKind kind : {StepKind::stall, StepKind::unstall}) {
        Step& step = add(kind == StepKind::stall ? at - us(random_.below(1'000)) : ends, kind);
        step.host = turned ? link.b : link.a;
        step.peer = turned ? link.a : link.b;
      }
    }
  }

  /// Most of it within the time that messages take to get everywhere.
  void shatter(Duration at) {
    const Duration back =
        at + us(random_.chance(0.5) ? random_.between(5'000, 100'000) : random_.between(100'000, 2'000'000));
    for (std::size_t i = random_.below(plan_.daemons / 2 + 1); i > 0; --i) {
      const HostIndex host = any_host();
      add(at + us(random_.below(4'000)), StepKind::crash).host = host;
      if (random_.chance(0.9)) add(back + us(random_.below(300'000)), StepKind::start).host = host;
    }
    for (std::size_t i = random_.chance(0.6) ? random_.between(1, 2) : 0; i > 0; --i) {
      draw_sides(add(at + us(random_.below(4'000)), StepKind::partition));
    }
    add(back + us(random_.below(50'000)), random_.chance(0.5) ? StepKind::heal : StepKind::heal_with_resets);
  }

  /// A daemon ends, and another one while some have begun the view without it and others have not.
  void one_after_another(Duration at) {
    for (std::size_t i = random_.between(2, 3); i > 0; --i) {
      const HostIndex host = any_host();
      add(at, StepKind::crash).host = host;
      add(at + us(random_.between(500'000, 1'500'000)), StepKind::start).host = host;
      for (std::size_t changes = random_.between(1, 6); changes > 0; --changes) come_and_go(at);
      at += us(longest_us_ + random_.below(3 * longest_us_ + 2'000));
    }
  }

  /// What clients have asked for meanwhile is under way when the view ends that has just begun.
  void part_when_installed(Duration at) {
    Step& parts = add(at, StepKind::part_when);
    parts.host = any_host();
    parts.says = "installed";
    parts.delay = us(random_.below(random_.chance(0.5) ? 2 * longest_us_ + 1'000 : 200'000));
    draw_sides(parts);
    // Some have all that the view brings, and others wait for a word.
    for (std::size_t i = random_.between(1, 6); i > 0; --i) hold_up(at + us(random_.below(600'000)));
    for (std::size_t i = random_.between(10, 60); i > 0; --i) {
      Step& change = add(at + us(random_.below(1'000'000)), random_.chance(0.5) ? StepKind::leave : StepKind::join);
      change.client = static_cast<std::uint32_t>(random_.below(clients_));
      change.groups = {std::string(kGroups[random_.below(kGroups.size())])};
    }
    add(at + us(random_.between(500'000, 3'000'000)), StepKind::heal);
  }

  void draw_sides(Step& step) {
    step.sides.resize(random_.between(2, 3));
    for (HostIndex host = 0; host < plan_.daemons; ++host) {
      step.sides[random_.below(step.sides.size())].push_back(host);
    }
    std::erase_if(step.sides, [](const auto& side) { return side.empty(); });
  }

  static constexpr std::array<std::string_view, 3> kGroups = {"all", "some", "few"};

  Plan& plan_;
  Duration end_;
  Random random_;
  std::uint64_t longest_us_ = 0;  // of the ways
  std::uint64_t clients_ = 0;
};

}  // namespace

void draw_shattering(Plan& plan, Duration end) { ShatteringDrawer(plan, end).draw(); }

}  // namespace spindled::hunt
