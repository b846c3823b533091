#include "tests/hunt/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/checkers/digest.h"
#include "tests/sim/simulator.h"

namespace spindled::hunt {

std::string_view to_string(StepKind kind) {
  constexpr std::string_view kNames[] = {
#define SPINDLE_HUNT_STEP(kind, name) name,
      SPINDLE_HUNT_STEPS(SPINDLE_HUNT_STEP)
#undef SPINDLE_HUNT_STEP
  };
  static_assert(std::size(kNames) == kStepKinds);
  return kNames[static_cast<std::size_t>(kind)];
}

bool is_fault(StepKind kind) {
  switch (kind) {
    case StepKind::stop:
    case StepKind::crash:
    case StepKind::crash_when:
    case StepKind::power_loss:
    case StepKind::pause:
    case StepKind::cut:
    case StepKind::reset:
    case StepKind::reset_half:
    case StepKind::stall:
    case StepKind::path:
    case StepKind::partition:
    case StepKind::heal_with_resets:
    case StepKind::impose:
    case StepKind::part_when:
    case StepKind::block:
      return true;
    default:
      return false;
  }
}

std::string name_of(HostIndex host) { return fmt::format("d{:03}", host); }

NodeConfig config_of(const Plan& plan, HostIndex host) {
  NodeConfig config;
  config.name = name_of(host);
  config.first_number = plan.first_number;
  config.order.retention_bytes_max = plan.retention_bytes;
  config.session.send_window_bytes = plan.window_bytes;
  config.session.queue_soft_bytes = plan.queue_soft_bytes;
  config.session.queue_hard_bytes = plan.queue_hard_bytes;
  config.session.full_view_members = plan.full_view_members;
  config.session.stall_timeout = plan.stall_timeout;
  config.session.resume_timeout = plan.resume_timeout;
  config.session.going_time = plan.going_time;
  config.session.resume_bytes = plan.resume_bytes;
  config.session.flush_timeout = plan.flush_timeout;
  config.order.announce_stable_within = plan.announce_stable_within;
  config.link.hello_interval = plan.heartbeat_interval;
  config.link.liveness_timeout = plan.liveness_timeout;
  config.view.gain_hold_down = plan.hold_down;
  config.admission.enabled = plan.admission != 0;
  config.turn_work_max = plan.turn_work;
  if (plan.memory_bytes != 0) config.memory_bytes_max = plan.memory_bytes;
  config.feed.cache_bytes = plan.feed_cache_bytes;
  config.feed.cache = plan.feed_members_keep != 0 ? FeedCache::members : FeedCache::all;
  config.feed.rate_min = plan.feed_rate_min;
  config.bulk.mesh = (plan.mesh & 1) != 0;
  if ((plan.mesh & 2) != 0) config.bulk.address = sim::Simulator::address_of(config.name);
  if (plan.varied != 0) {
    constexpr std::size_t kFullViewMembers[] = {2, 100, 0, 5};
    config.session.full_view_members = kFullViewMembers[host % std::size(kFullViewMembers)];
    config.session.slow_policy = static_cast<SlowPolicy>(1 + host % 3);
    config.admission.enabled = host % 4 != 1;
    config.view.gain_hold_down += host % 3 * 50ms;
    config.view.response_timeout += host % 2 * 200ms;
    config.order.announce_stable_within = host % 2 == 0 ? config.order.announce_stable_within : Duration(100ms);
    config.link.liveness_timeout += host % 5 * 50ms;
    if (host % 3 == 1) config.turn_work_max = 2;
  }
  config.access = access_of(plan, 0);
  for (const PlannedLink& link : plan.links) {
    const bool dials = (link.a == host && link.dialler != PlannedLink::Dialler::second) ||
                       (link.b == host && link.dialler != PlannedLink::Dialler::first);
    const HostIndex other = link.a == host ? link.b : link.a;
    if (dials) config.link.neighbours.push_back({.address = sim::Simulator::address_of(name_of(other))});
  }
  return config;
}

AccessConfig access_of(const Plan& plan, std::size_t rules) {
  if (rules >= plan.rules.size()) return {};
  AccessConfig access = plan.rules[rules];
  if (!access.rules.empty()) access.rules.insert(access.rules.begin(), {{kFreshIdentity}, {"fresh"}, RightSet::all()});
  for (ReservedNames& each : access.names) each.who.emplace_back(kFreshIdentity);
  if (!access.quotas.empty()) access.quotas.insert(access.quotas.begin(), {{kFreshIdentity}, {}});
  if (access.rules.empty() && access.names.empty()) return access;
  // Other numbers for other rules.
  checkers::Digest digest;
  digest.add(rules);
  access.digest = digest.value();
  return access;
}

bool is_connected(const Plan& plan) {
  std::vector<HostIndex> component(plan.daemons);
  for (HostIndex i = 0; i < plan.daemons; ++i) component[i] = i;
  for (const PlannedLink& link : plan.links) {
    const HostIndex from = component[link.b], to = component[link.a];
    std::replace(component.begin(), component.end(), from, to);
  }
  return std::all_of(component.begin(), component.end(), [&](HostIndex each) { return each == component.front(); });
}

}  // namespace spindled::hunt
