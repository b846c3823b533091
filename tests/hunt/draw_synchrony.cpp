#include "tests/hunt/draw_synchrony.h"

#include <map>

#include "daemon/base/random.h"
#include "tests/hunt/draw_time.h"

namespace spindled::hunt {

namespace {

constexpr double kShare = 0.4;          // of all plans
constexpr double kShareOfGroups = 0.6;  // of these
constexpr double kOtherMode = 0.02;     // of the joins: the client takes the group for the other kind

std::optional<Duration> draw_habit(Random& random) {
  const double habit = random.real();
  if (habit < 0.65) return Duration{};
  if (habit < 0.92) return us(random.below(random.chance(0.5) ? 5'000 : 400'000));
  return std::nullopt;
}

}  // namespace

void draw_synchrony(Plan& plan) {
  Random random(plan.seed ^ 0xf105);  // of its own, so that the rest is the same with and without
  if (!random.chance(kShare)) return;
  plan.flush_timeout = us(random.between(100'000, 500'000));
  std::map<std::string, bool> groups;
  for (Step& step : plan.steps) {
    if (step.kind == StepKind::connect) step.flushes_after = draw_habit(random);
    if (step.kind != StepKind::join) continue;
    const auto [group, is_new] = groups.try_emplace(step.groups.front());
    if (is_new) group->second = random.chance(kShareOfGroups);
    step.synchronous = group->second != random.chance(kOtherMode);
  }
}

}  // namespace spindled::hunt
