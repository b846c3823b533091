#include "tests/hunt/draw_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "daemon/base/random.h"
#include "tests/hunt/draw_time.h"

namespace spindled::hunt {

namespace {

constexpr double kShare = 1.0 / 3;  // of all plans
/// All that is sent enters within such a time, whatever the rate.
constexpr std::uint64_t kSlowestSeconds = 10;

class RulesDrawer {
 public:
  RulesDrawer(Plan& plan, Duration end) : plan_(plan), end_(end), random_(plan.seed ^ 0xacce55) {
    std::set<std::string> groups;
    for (const Step& step : plan.steps) {
      if (step.kind == StepKind::connect) clients_.push_back(step.named.value_or(step.client));
      if (step.kind == StepKind::join) groups.insert(step.groups.front());
      if (step.kind == StepKind::send) bytes_ += step.size;
      if (is_fault(step.kind)) faults_.push_back(step.at);
    }
    groups_.assign(groups.begin(), groups.end());
  }

  void draw() {
    if (clients_.empty() || groups_.empty() || !random_.chance(kShare)) return;
    draw_identities();
    with_quotas_ = random_.chance(0.35);
    with_names_ = random_.chance(0.4);
    plan_.rules.push_back(random_.chance(0.2) ? AccessConfig() : draw_set());
    for (std::size_t i = random_.chance(0.9) ? random_.between(1, 5) : 0; i > 0; --i) {
      plan_.rules.push_back(random_.chance(0.7) ? changed(plan_.rules.back()) : draw_set());
      draw_reloads(plan_.rules.size() - 1);
    }
  }

 private:
  Duration any_time() { return us(random_.below(static_cast<std::uint64_t>(end_ / 1us) + 1)); }
  std::uint32_t any_client() { return clients_[random_.below(clients_.size())]; }
  const std::string& any_group() { return groups_[random_.below(groups_.size())]; }

  void draw_identities() {
    constexpr std::string_view kAll[] = {"cert:feed", "cert:desk", "uid:1000", "uid:1001", "local"};
    const std::size_t first = random_.below(std::size(kAll));
    for (std::size_t i = random_.between(1, 4); i > 0; --i) {
      identities_.emplace_back(kAll[(first + i) % std::size(kAll)]);
    }
    for (Step& step : plan_.steps) {
      if (step.kind != StepKind::connect || random_.chance(0.15)) continue;
      step.identities = {any_identity()};
      if (step.identities.front().starts_with("uid:") && random_.chance(0.5)) step.identities.emplace_back("gid:27");
    }
  }
  const std::string& any_identity() { return identities_[random_.below(identities_.size())]; }

  std::vector<std::string> draw_who() {
    constexpr std::string_view kWide[] = {"anyone", "cert:*", "uid:*", "gid:27"};
    std::vector<std::string> who;
    for (std::size_t i = random_.between(1, 2); i > 0; --i) {
      who.push_back(random_.chance(0.5) ? any_identity() : std::string(kWide[random_.below(std::size(kWide))]));
    }
    return who;
  }

  std::string draw_pattern() {
    switch (random_.below(6)) {
      case 0:
        return "*";
      case 1:
        return any_group().substr(0, 1) + "*";
      case 2:
        return "*" + any_group().substr(1);
      case 3:
        return random_.chance(0.5) ? "#*" : fmt::format("#m{}#*", any_client());
      default:
        return any_group();
    }
  }

  AccessRule draw_rule() {
    AccessRule rule;
    rule.who = draw_who();
    for (std::size_t i = random_.between(1, 2); i > 0; --i) rule.groups.push_back(draw_pattern());
    if (random_.chance(0.4)) {
      rule.allow = RightSet::all();
    } else {
      for (std::size_t i = 0; i < kRights; ++i) {
        if (random_.chance(0.6)) rule.allow.insert(static_cast<Right>(i));
      }
    }
    return rule;
  }

  ReservedNames draw_names() {
    ReservedNames names;
    const std::uint32_t client = any_client();
    names.pattern = random_.chance(0.6) ? fmt::format("m{}", client) : fmt::format("m{}*", client % 10);
    if (random_.chance(0.8)) names.who = draw_who();
    return names;
  }

  QuotaRule draw_quota() {
    QuotaRule quota;
    quota.who = draw_who();
    if (random_.chance(0.5)) quota.limits.connections = random_.between(1, 4);
    if (random_.chance(0.5)) quota.limits.memberships = random_.between(1, 6);
    if (random_.chance(0.5)) quota.limits.bytes_per_s = std::max<std::uint64_t>(20'000, bytes_ / kSlowestSeconds);
    return quota;
  }

  /// Most of what clients do is allowed, so that it still shows what it shows without rules.
  AccessConfig draw_set() {
    AccessConfig set;
    for (std::size_t i = random_.between(1, 5); i > 0; --i) set.rules.push_back(draw_rule());
    if (random_.chance(0.85)) set.rules.push_back({{"anyone"}, {"*"}, RightSet::all()});
    for (std::size_t i = with_names_ ? random_.between(1, 2) : 0; i > 0; --i) set.names.push_back(draw_names());
    for (std::size_t i = with_quotas_ ? random_.between(1, 2) : 0; i > 0; --i) set.quotas.push_back(draw_quota());
    return set;
  }

  /// With another section, without one, or with two in another order.
  AccessConfig changed(AccessConfig set) {
    const std::size_t place = random_.below(set.rules.size() + 1);
    const auto at = set.rules.begin() + static_cast<std::ptrdiff_t>(place);
    if (random_.chance(0.4) || set.rules.size() < 2) {
      set.rules.insert(at, draw_rule());
    } else if (random_.chance(0.5)) {
      set.rules.erase(at == set.rules.end() ? at - 1 : at);
    } else {
      std::swap(set.rules.front(), set.rules[std::min(place, set.rules.size() - 1)]);
    }
    if (with_names_ && random_.chance(0.3)) set.names = {draw_names()};
    if (with_quotas_ && random_.chance(0.3)) set.quotas = {draw_quota()};
    return set;
  }

  /// Often in the middle of a view change. Some daemons are late, and some are left out.
  void draw_reloads(std::size_t rules) {
    const bool at_fault = !faults_.empty() && random_.chance(0.5);
    const Duration at = at_fault ? faults_[random_.below(faults_.size())] : any_time();
    const std::uint64_t spread = random_.chance(0.5) ? 2'000 : random_.chance(0.6) ? 100'000 : 2'000'000;
    const bool by_all = random_.chance(0.7);
    for (HostIndex host = 0; host < plan_.daemons; ++host) {
      if (!by_all && random_.chance(0.5)) continue;
      Step& step = plan_.steps.emplace_back();
      step.at = at + us(random_.below(spread));
      step.kind = StepKind::reload;
      step.host = host;
      step.rules = rules;
    }
  }

  Plan& plan_;
  Duration end_;
  Random random_;
  std::vector<std::uint32_t> clients_;  // by whose names they are called
  std::vector<std::string> groups_;
  std::vector<Duration> faults_;
  std::uint64_t bytes_ = 0;  // that are sent in all
  std::vector<std::string> identities_;
  bool with_quotas_ = false;
  bool with_names_ = false;
};

}  // namespace

void draw_rules(Plan& plan, Duration end) { RulesDrawer(plan, end).draw(); }

}  // namespace spindled::hunt
