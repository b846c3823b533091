#include "tests/hunt/draw_exchanges.h"

#include <algorithm>

#include "daemon/base/random.h"
#include "tests/hunt/draw_time.h"

namespace spindled::hunt {

namespace {

constexpr double kShare = 0.06;         // of all plans
constexpr std::uint32_t kFirst = 3000;  // of the clients that are added
constexpr char kGroup[] = "exchange";
/// Of one client at one time: what its connection holds, which it fills, and no more than it still sends then.
constexpr std::uint64_t kLeastAtOnce = 400'000, kMostAtOnce = 800'000;
/// Where a link is slower, all are at one daemon.
constexpr std::uint64_t kLeastRate = 2'000'000;  // bytes/s

class ExchangesDrawer {
 public:
  ExchangesDrawer(Plan& plan, Duration end) : plan_(plan), end_(end), random_(plan.seed ^ 0xe8c4a) {}

  void draw() {
    if (!plan_.rules.empty() || !random_.chance(kShare)) return;
    plan_.resume_bytes = random_.between(64, 256) << 10;
    // Where clients are quick to give a silent daemon up, that is what they do before it gives them up.
    if (random_.chance(0.7)) plan_.keepalive = 10s;
    const bool at_one_daemon = random_.chance(0.5) || has_slow_path();
    const auto host = static_cast<HostIndex>(random_.below(plan_.daemons));
    const auto clients = static_cast<std::uint32_t>(random_.between(2, 4));
    for (std::uint32_t i = 0; i < clients; ++i) {
      const Duration at = us(random_.between(100'000, 500'000));
      Step& connect = plan_.add(at, StepKind::connect, kFirst + i);
      connect.host = at_one_daemon ? host : static_cast<HostIndex>(random_.below(plan_.daemons));
      connect.returns = i == 0 || random_.chance(0.7);
      plan_.add(at, StepKind::join, kFirst + i).groups = {kGroup};
    }
    for (std::size_t i = random_.between(1, 3); i > 0; --i) {
      const Duration at =
          us(random_.between(600'000, std::max(static_cast<std::uint64_t>(end_ / 1us), std::uint64_t{600'001})));
      for (std::uint32_t client = 0; client < clients; ++client) draw_burst(kFirst + client, at);
    }
  }

 private:
  bool has_slow_path() const {
    const auto is_slow = [](std::uint64_t rate) { return rate != 0 && rate < kLeastRate; };
    return std::any_of(plan_.links.begin(), plan_.links.end(),
                       [&](const PlannedLink& link) { return is_slow(link.bytes_per_second); });
  }

  void draw_burst(std::uint32_t client, Duration at) {
    const std::uint64_t size = random_.between(500, random_.chance(0.5) ? 5'000 : 40'000);
    std::uint64_t left = random_.between(kLeastAtOnce, kMostAtOnce);
    const auto service = static_cast<Service>(random_.between(2, 5));
    for (; left > size; left -= size) {
      Step& step = plan_.add(at + us(random_.below(2'000)), StepKind::send, client);
      step.service = service;
      step.size = size;
      step.groups = {kGroup};
    }
  }

  Plan& plan_;
  Duration end_;
  Random random_;
};

}  // namespace

void draw_exchanges(Plan& plan, Duration end) { ExchangesDrawer(plan, end).draw(); }

}  // namespace spindled::hunt
