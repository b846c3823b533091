#include "tests/hunt/draw_returns.h"

#include <algorithm>

#include "daemon/base/random.h"
#include "tests/hunt/draw_time.h"

namespace spindled::hunt {

namespace {

constexpr double kShare = 0.3;  // of all plans

class ReturnsDrawer {
 public:
  ReturnsDrawer(Plan& plan, Duration end)
      : plan_(plan), end_(end), random_(plan.seed ^ 0x7e7042), stops_(plan.seed ^ 0x601b6) {}

  void draw() {
    if (!plan_.rules.empty() || !random_.chance(kShare)) return;
    constexpr Duration kPatience[] = {5s, 1s, 200ms, 0s};
    plan_.resume_timeout = kPatience[random_.below(std::size(kPatience))];
    plan_.resume_bytes = random_.chance(0.3) ? random_.between(256, 512) << 10 : 1u << 20;
    const double share = random_.chance(0.5) ? 1.0 : 0.4;
    std::vector<Step> returning;
    for (Step& step : plan_.steps) {
      if (step.kind != StepKind::connect || !random_.chance(share)) continue;
      step.returns = true;
      for (std::size_t i = random_.below(4); i > 0; --i) draw_other(step);
      returning.push_back(step);
    }
    for (const Step& client : returning) draw_breaks(client);
    if (!returning.empty()) draw_stops(returning);
  }

 private:
  void draw_other(Step& connect) {
    const auto host = static_cast<HostIndex>(random_.below(plan_.daemons));
    const bool is_known =
        host == connect.host || std::find(connect.others.begin(), connect.others.end(), host) != connect.others.end();
    if (!is_known) connect.others.push_back(host);
  }

  void draw_breaks(const Step& client) {
    if (random_.chance(0.2)) return;
    const bool is_often = random_.chance(0.2);
    Duration at = client.at;
    for (std::size_t i = is_often ? random_.between(10, 60) : random_.between(1, 5); i > 0; --i) {
      // Some again before it is back.
      const bool at_once = random_.chance(0.3);
      at = at_once ? at + us(random_.below(3'000))
                   : client.at +
                         us(random_.below(static_cast<std::uint64_t>(std::max<Duration>(end_ - client.at, 1ms) / 1us)));
      Step& step = plan_.steps.emplace_back();
      step.at = at;
      step.kind = StepKind::sever;
      step.client = client.client;
      step.silently = random_.chance(0.3);
      if (random_.chance(0.4)) step.delay = us(random_.below(random_.chance(0.5) ? 30'000 : 3'000'000));
      if (random_.chance(0.5)) draw_burst(client, at);
    }
  }

  /// Daemons that stop while their clients send, and are started again. Drawn by themselves, so that what else is in a
  /// plan does not change with them.
  void draw_stops(const std::vector<Step>& returning) {
    if (!stops_.chance(0.4)) return;
    constexpr Duration kGraces[] = {2s, 200ms, 20ms, 0s};
    plan_.going_time = stops_.chance(0.6) ? 2s : kGraces[stops_.below(std::size(kGraces))];
    for (std::size_t i = stops_.between(1, 3); i > 0; --i) {
      const Step& client = returning[stops_.below(returning.size())];
      const Duration life = std::max<Duration>(end_ - client.at, 1ms);
      Step stop;
      stop.at = client.at + us(stops_.below(static_cast<std::uint64_t>(life / 1us)));
      stop.kind = StepKind::stop;
      stop.host = client.host;
      Step start = stop;
      start.at += us(stops_.below(stops_.chance(0.5) ? 3'000'000 : 100'000));
      start.kind = StepKind::start;
      draw_burst(client, stop.at);
      plan_.steps.push_back(stop);
      plan_.steps.push_back(start);
    }
  }

  /// Messages around the time at which the connection breaks: some are on their way then, and some wait.
  void draw_burst(const Step& client, Duration at) {
    std::vector<std::string> groups;
    for (const Step& step : plan_.steps) {
      if (step.kind == StepKind::join && step.client == client.client) groups.push_back(step.groups.front());
    }
    if (groups.empty()) return;
    const Duration from = std::max<Duration>(client.at, at - 2ms);
    for (std::size_t i = random_.between(2, 12); i > 0; --i) {
      Step& step = plan_.steps.emplace_back();
      step.at = from + us(random_.below(6'000));
      step.kind = StepKind::send;
      step.client = client.client;
      step.service = static_cast<Service>(random_.between(2, 5));
      step.size = random_.below(random_.chance(0.1) ? 60'000 : 1'500);
      step.groups = {groups[random_.below(groups.size())]};
    }
  }

  Plan& plan_;
  Duration end_;
  Random random_, stops_;
};

}  // namespace

void draw_returns(Plan& plan, Duration end) { ReturnsDrawer(plan, end).draw(); }

}  // namespace spindled::hunt
