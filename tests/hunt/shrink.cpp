#include "tests/hunt/shrink.h"

#include <algorithm>
#include <optional>
#include <set>

namespace spindled::hunt {

namespace {

class Shrinker {
 public:
  Shrinker(const Plan& plan, const std::function<bool(const Plan&)>& still_fails, std::size_t tries)
      : plan_(plan), still_fails_(still_fails), tries_left_(tries) {}

  Plan work() {
    for (bool progress = true; progress && tries_left_ > 0;) {
      progress = remove_steps();
      progress = remove_daemons() || progress;
      progress = remove_clients() || progress;
      progress = remove_rules() || progress;
      progress = reduce_sizes() || progress;
      progress = reduce_pauses() || progress;
    }
    return plan_;
  }
  std::size_t tries_left() const { return tries_left_; }

 private:
  bool accept(Plan candidate) {
    if (tries_left_ == 0 || candidate == plan_) return false;
    --tries_left_;
    if (!still_fails_(candidate)) return false;
    plan_ = std::move(candidate);
    return true;
  }

  bool remove_steps() {
    bool progress = false;
    std::size_t chunk = std::max<std::size_t>(1, plan_.steps.size() / 2);
    for (;;) {
      for (std::size_t at = 0; at < plan_.steps.size() && tries_left_ > 0;) {
        Plan candidate = plan_;
        const auto begin = candidate.steps.begin() + static_cast<std::ptrdiff_t>(at);
        candidate.steps.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(chunk, plan_.steps.size() - at)));
        if (accept(std::move(candidate))) {
          progress = true;
        } else {
          at += chunk;
        }
      }
      if (chunk == 1 || tries_left_ == 0) return progress;
      chunk = (chunk + 1) / 2;
    }
  }

  bool remove_daemons() {
    bool progress = false;
    for (HostIndex host = plan_.daemons; host-- > 0 && plan_.daemons > 1;) {
      progress = accept(without_daemon(plan_, host)) || progress;
    }
    return progress;
  }

  bool remove_clients() {
    std::set<std::uint32_t> clients;
    for (const Step& step : plan_.steps) {
      if (is_of_client(step.kind)) clients.insert(step.client);
    }
    bool progress = false;
    for (const std::uint32_t client : clients) {
      Plan candidate = plan_;
      std::erase_if(candidate.steps,
                    [&](const Step& step) { return is_of_client(step.kind) && step.client == client; });
      progress = accept(std::move(candidate)) || progress;
    }
    return progress;
  }

  /// All rules, sets that no step is for, sections, and identities.
  bool remove_rules() {
    if (plan_.rules.empty()) return false;
    if (accept(without_rules(plan_))) return true;
    bool progress = false;
    for (std::size_t i = plan_.rules.size(); i-- > 1;) {
      const bool any = std::any_of(plan_.steps.begin(), plan_.steps.end(),
                                   [&](const Step& step) { return step.kind == StepKind::reload && step.rules == i; });
      if (any) continue;
      Plan candidate = plan_;
      candidate.rules.erase(candidate.rules.begin() + static_cast<std::ptrdiff_t>(i));
      for (Step& step : candidate.steps) step.rules -= step.rules > i ? 1 : 0;
      progress = accept(std::move(candidate)) || progress;
    }
    for (std::size_t i = 0; i < plan_.rules.size(); ++i) {
      progress = remove_sections(i, &AccessConfig::rules) || progress;
      progress = remove_sections(i, &AccessConfig::names) || progress;
      progress = remove_sections(i, &AccessConfig::quotas) || progress;
    }
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      Plan candidate = plan_;
      candidate.steps[i].identities.clear();
      progress = accept(std::move(candidate)) || progress;
    }
    return progress;
  }

  template <typename Section>
  bool remove_sections(std::size_t rules, std::vector<Section> AccessConfig::*sections) {
    bool progress = false;
    for (std::size_t i = (plan_.rules[rules].*sections).size(); i-- > 0;) {
      Plan candidate = plan_;
      std::vector<Section>& left = candidate.rules[rules].*sections;
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      progress = accept(std::move(candidate)) || progress;
    }
    return progress;
  }

  static Plan without_rules(Plan plan) {
    plan.rules.clear();
    std::erase_if(plan.steps, [](const Step& step) { return step.kind == StepKind::reload; });
    for (Step& step : plan.steps) step.identities.clear();
    return plan;
  }

  bool reduce_sizes() {
    const auto reduce = [&](std::uint64_t to) {
      Plan candidate = plan_;
      for (Step& step : candidate.steps) step.size = std::min(step.size, to);
      return accept(std::move(candidate));
    };
    for (const std::uint64_t size : {0u, 10u, 1'000u, 40'000u}) {
      if (reduce(size)) return true;
    }
    return false;
  }

  /// Behind the last step by which all have received something: that had its time to come.
  std::size_t first_that_moves() const {
    const auto last = std::find_if(plan_.steps.rbegin(), plan_.steps.rend(),
                                   [](const Step& step) { return step.kind == StepKind::received; });
    return static_cast<std::size_t>(plan_.steps.rend() - last);
  }

  Duration pause_before(std::size_t i) const {
    return plan_.steps[i].at - (i == 0 ? Duration() : plan_.steps[i - 1].at);
  }

  /// Longest pauses first: everything behind one moves closer.
  bool reduce_pauses() {
    bool progress = false;
    for (const Duration longest : {Duration(1ms), Duration(20ms), Duration(300ms)}) {
      Plan candidate = plan_;
      Duration moved{};
      for (std::size_t i = first_that_moves(); i < plan_.steps.size(); ++i) {
        moved += std::max(pause_before(i) - longest, Duration());
        candidate.steps[i].at -= moved;
      }
      if (accept(std::move(candidate))) return true;
    }
    // One by one, halved.
    for (std::size_t i = first_that_moves(); i < plan_.steps.size() && tries_left_ > 0; ++i) {
      const Duration less = pause_before(i) / 2us * 1us;
      if (less < 10ms) continue;
      Plan candidate = plan_;
      for (std::size_t j = i; j < candidate.steps.size(); ++j) candidate.steps[j].at -= less;
      progress = accept(std::move(candidate)) || progress;
    }
    return progress;
  }

  Plan plan_;
  const std::function<bool(const Plan&)>& still_fails_;
  std::size_t tries_left_;
};

bool names_daemon(const Step& step, HostIndex host) {
  const bool of_daemon = step.kind == StepKind::connect || step.kind == StepKind::impose ||
                         step.kind == StepKind::part_when ||
                         (!is_of_client(step.kind) && step.kind < StepKind::partition);
  const bool of_path = step.kind >= StepKind::cut && step.kind <= StepKind::path;
  return (of_daemon && step.host == host) || (of_path && step.peer == host);
}

}  // namespace

Plan without_daemon(const Plan& plan, HostIndex host) {
  Plan less = plan;
  --less.daemons;
  std::optional<HostIndex> heir;
  for (const PlannedLink& link : plan.links) {
    if (!heir && (link.a == host || link.b == host)) heir = link.a == host ? link.b : link.a;
  }
  std::set<std::pair<HostIndex, HostIndex>> known;
  std::erase_if(less.links, [&](PlannedLink& link) {
    for (HostIndex* end : {&link.a, &link.b}) {
      if (*end == host && heir) *end = *heir;
    }
    const auto pair = std::minmax(link.a, link.b);
    return link.a == link.b || !known.emplace(pair.first, pair.second).second;
  });
  // What all are to have got by then they may have got over that daemon.
  std::erase_if(less.steps,
                [&](const Step& step) { return names_daemon(step, host) || step.kind == StepKind::received; });
  const auto move_up = [&](HostIndex& each) { each -= each > host ? 1 : 0; };
  for (PlannedLink& link : less.links) {
    move_up(link.a);
    move_up(link.b);
  }
  for (Step& step : less.steps) {
    move_up(step.host);
    move_up(step.peer);
    std::erase(step.others, host);
    for (HostIndex& each : step.others) move_up(each);
    for (auto& side : step.sides) {
      std::erase(side, host);
      for (HostIndex& each : side) move_up(each);
    }
    std::erase_if(step.sides, [](const auto& side) { return side.empty(); });
    if (has_sides(step.kind) && step.sides.empty()) step.sides.emplace_back();
  }
  return less;
}

Shrunk shrink(const Plan& plan, const std::function<bool(const Plan&)>& still_fails, std::size_t tries) {
  Shrinker shrinker(plan, still_fails, tries);
  Shrunk shrunk;
  shrunk.plan = shrinker.work();
  shrunk.tries = tries - shrinker.tries_left();
  return shrunk;
}

}  // namespace spindled::hunt
