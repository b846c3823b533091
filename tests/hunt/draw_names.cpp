#include "tests/hunt/draw_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/random.h"
#include "tests/hunt/draw_time.h"

namespace spindled::hunt {

namespace {

constexpr double kShare = 0.06;         // of all plans
constexpr std::uint32_t kFirst = 2000;  // of the clients that are added

class NamesDrawer {
 public:
  NamesDrawer(Plan& plan, Duration end) : plan_(plan), end_(end), random_(plan.seed ^ 0x4a3e5) {
    for (const Step& step : plan.steps) {
      if (step.kind == StepKind::connect) owners_.push_back(step);
    }
  }

  void draw() {
    if (owners_.empty() || !random_.chance(kShare)) return;
    for (std::size_t i = random_.between(1, 5); i > 0; --i) {
      const Step owner = owners_[random_.below(owners_.size())];
      switch (random_.below(5)) {
        case 0:
          draw_namesake(owner);
          break;
        case 1:
          draw_other_place(owner);
          break;
        case 2:
          draw_next_life(owner);
          break;
        default:
          draw_successors(owner);
      }
    }
    mix_names();
  }

 private:
  Duration time_from(Duration from) {
    return from + us(random_.below(static_cast<std::uint64_t>(std::max<Duration>(end_ - from, 1ms) / 1us)));
  }
  HostIndex any_host() { return static_cast<HostIndex>(random_.below(plan_.daemons)); }
  std::uint32_t name_of(const Step& connect) const { return connect.named.value_or(connect.client); }

  /// The groups that a client joins, as they are drawn so far.
  std::vector<std::string> groups_of(std::uint32_t client) const {
    std::vector<std::string> groups;
    for (const Step& step : plan_.steps) {
      if (step.kind != StepKind::join || step.client != client) continue;
      const std::string& group = step.groups.front();
      if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
    }
    return groups;
  }

  /// One that has the name of `owner`, joins the same groups, and sends to them and to whoever has that name.
  Step draw_client(Duration at, HostIndex host, const Step& owner) {
    const std::uint32_t number = kFirst + static_cast<std::uint32_t>(added_++);
    Step& connect = plan_.add(at, StepKind::connect, number);
    connect.host = host;
    connect.named = name_of(owner);
    const Step made = connect;
    const std::vector<std::string> groups = groups_of(owner.client);
    for (const std::string& group : groups) plan_.add(at, StepKind::join, number).groups = {group};
    for (std::size_t i = random_.below(8); i > 0 && !groups.empty(); --i) {
      Step& message = plan_.add(at + us(random_.below(random_.chance(0.5) ? 5'000 : 500'000)), StepKind::send, number);
      message.groups = {groups[random_.below(groups.size())]};
      if (random_.chance(0.3)) message.groups.push_back(fmt::format("#m{}", owner.client));
      message.service = static_cast<Service>(random_.below(6));
      message.size = random_.below(1500);
    }
    names_.push_back(number);
    names_.push_back(owner.client);
    return made;
  }

  /// At the same daemon, while the owner is there: it is turned away, and is noticed by nobody.
  void draw_namesake(const Step& owner) {
    const Duration at = random_.chance(0.3) ? owner.at + us(random_.below(2'000)) : time_from(owner.at);
    draw_client(at, owner.host, owner);
  }

  /// At another daemon it is another name.
  void draw_other_place(const Step& owner) {
    const Duration at = random_.chance(0.3) ? owner.at + us(random_.below(2'000)) : time_from(owner.at);
    draw_client(at, any_host(), owner);
  }

  /// In the next life of the daemon, or behind what parts it from others.
  void draw_next_life(const Step& owner) {
    std::vector<Duration> starts;
    for (const Step& step : plan_.steps) {
      if (step.kind == StepKind::start && step.host == owner.host && step.at > owner.at) starts.push_back(step.at);
    }
    if (starts.empty()) return draw_successors(owner);
    draw_client(starts[random_.below(starts.size())] + us(random_.below(300'000)), owner.host, owner);
  }

  /// One after the other: each comes as soon as the one before is gone, or nearly.
  void draw_successors(Step owner) {
    Duration at = time_from(owner.at);
    for (std::size_t i = random_.between(1, 4); i > 0; --i) {
      plan_.add(at, random_.chance(0.7) ? StepKind::kill : StepKind::bye, owner.client);
      constexpr std::uint64_t kLater[] = {1, 1'000, 30'000, 1'000'000};
      at += us(random_.below(kLater[random_.below(std::size(kLater))]));
      const HostIndex host = random_.chance(0.75) ? owner.host : any_host();
      owner = draw_client(at, host, owner);
      at += us(random_.below(random_.chance(0.5) ? 20'000 : 500'000));
    }
  }

  /// Others send to these names as well as to groups.
  void mix_names() {
    for (Step& step : plan_.steps) {
      if (step.kind != StepKind::send || !random_.chance(0.1)) continue;
      std::string name = fmt::format("#m{}", names_[random_.below(names_.size())]);
      if (std::find(step.groups.begin(), step.groups.end(), name) == step.groups.end()) {
        step.groups.push_back(std::move(name));
      }
    }
  }

  Plan& plan_;
  Duration end_;
  Random random_;
  std::vector<Step> owners_;  // how clients connect that are not added
  std::size_t added_ = 0;
  std::vector<std::uint32_t> names_;  // clients that share one with another
};

}  // namespace

void draw_names(Plan& plan, Duration end) { NamesDrawer(plan, end).draw(); }

}  // namespace spindled::hunt
