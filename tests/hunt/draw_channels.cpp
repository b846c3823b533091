#include "tests/hunt/draw_channels.h"

#include <algorithm>

#include "daemon/base/random.h"
#include "tests/hunt/draw_time.h"

namespace spindled::hunt {

namespace {

constexpr double kShare = 0.35;        // of all plans
constexpr double kShareDeaf = 0.1;     // of the clients of these: they do not hear of channels
constexpr double kShareOthers = 0.15;  // of the offers: to a group that the source does not join

class ChannelsDrawer {
 public:
  ChannelsDrawer(Plan& plan, Duration end) : plan_(plan), end_(end), random_(plan.seed ^ 0xb01c) {}

  void draw() {
    if (!random_.chance(kShare)) return;
    std::vector<Step> sources;
    for (Step& step : plan_.steps) {
      if (step.kind == StepKind::join) groups_.push_back(step.groups.front());
      if (step.kind != StepKind::connect || random_.chance(kShareDeaf)) continue;
      step.channels = draw_habit();
      sources.push_back(step);
    }
    if (sources.empty() || groups_.empty()) return;
    for (std::size_t i = random_.between(1, random_.chance(0.1) ? 80 : 15); i > 0; --i) {
      draw_offer(sources[random_.below(sources.size())]);
    }
  }

 private:
  sim::ChannelHabit draw_habit() {
    sim::ChannelHabit habit;
    const double drawn = random_.real();
    habit.outcome = drawn < 0.75   ? sim::BulkOutcome::done
                    : drawn < 0.85 ? sim::BulkOutcome::failed
                    : drawn < 0.95 ? sim::BulkOutcome::refused
                    : drawn < 0.98 ? sim::BulkOutcome::accepted
                                   : sim::BulkOutcome::none;
    habit.after = us(random_.below(random_.chance(0.5) ? 20'000 : 800'000));
    return habit;
  }

  void draw_offer(const Step& source) {
    Step& step = plan_.steps.emplace_back();
    step.kind = StepKind::offer;
    step.client = source.client;
    step.at = draw_time(source.at);
    step.groups = {random_.chance(kShareOthers) ? groups_[random_.below(groups_.size())] : draw_own_group(source)};
    step.size = random_.below(random_.chance(0.5) ? 1'000 : 16'000'000);
    step.linger_s = static_cast<std::uint32_t>(random_.chance(0.5) ? random_.below(4) : 60);
    if (!random_.chance(0.1)) step.seals_after = us(random_.below(random_.chance(0.5) ? 5'000 : 500'000));
    if (!random_.chance(0.15)) return;
    const Duration later = step.at + us(random_.below(1'000'000));
    Step& cancel = plan_.steps.emplace_back();
    cancel.kind = StepKind::cancel_offers;
    cancel.client = source.client;
    cancel.at = later;
  }

  std::string draw_own_group(const Step& source) {
    std::vector<std::string> own;
    for (const Step& step : plan_.steps) {
      if (step.kind == StepKind::join && step.client == source.client) own.push_back(step.groups.front());
    }
    return own.empty() ? groups_[random_.below(groups_.size())] : own[random_.below(own.size())];
  }

  /// At any time of the client's life; half of them near a fault, where there is any.
  Duration draw_time(Duration from) { return draw_time_near_faults(plan_, random_, from, end_); }

  Plan& plan_;
  Duration end_;
  Random random_;
  std::vector<std::string> groups_;
};

}  // namespace

void draw_channels(Plan& plan, Duration end) { ChannelsDrawer(plan, end).draw(); }

}  // namespace spindled::hunt
