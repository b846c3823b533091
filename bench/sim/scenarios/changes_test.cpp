// The tools that measure changes, and a short look at each kind, so that it is noticed if admission no longer follows.
#include <gtest/gtest.h>

#include <set>

#include "bench/sim/scenarios/change_report.h"

namespace spindled::scenarios {
namespace {

ChangeOutcome run_cell(const ChangeCell& cell) {
  std::atomic<double> progress = 0;
  return outcome_of(cell, run(scenario_of(cell, {}), 1, progress));
}

TEST(Changes, CellsAreNamedOnceAndStepsFollowEachOther) {
  std::set<std::string> names;
  for (const ChangeCell& cell : change_cells()) {
    EXPECT_TRUE(names.insert(cell.name()).second) << cell.name();
    Duration last{};
    const Scenario scenario = scenario_of(cell, {});
    for (const Step& step : steps_of(cell)) {
      EXPECT_GE(step.at, last) << cell.name();
      const bool is_flap = step.name == "flaps" && step.until != scenario.end;
      EXPECT_GE(step.until, step.at + (is_flap ? 1s : step.must + step.window)) << cell.name();
      EXPECT_EQ(step.at % scenario.bin, 0ns) << cell.name();
      EXPECT_EQ(step.window % scenario.bin, 0ns) << cell.name();
      last = step.until;
    }
    EXPECT_EQ(scenario.end, last);
  }
  EXPECT_TRUE(names.contains("capacity-10M-10ms"));
  EXPECT_TRUE(names.contains("senders-10G-0.1ms"));
}

TEST(Changes, AllIsRightFromTheFirstWindowOnThatIsFollowedByRightOnesOnly) {
  const auto right_outside = [](Duration wrong) {
    return [wrong](Duration from, Duration to) { return from > wrong || to <= wrong; };
  };
  EXPECT_EQ(right_from(1s, 2s, 100ms, 10ms, right_outside(1500ms)), 1510ms);
  EXPECT_EQ(first_right(1s, 2s, 100ms, 10ms, right_outside(1500ms)), 1s);
  EXPECT_EQ(right_from(1s, 2s, 100ms, 10ms, right_outside(0s)), 1s);
  EXPECT_EQ(right_from(1s, 2s, 100ms, 10ms, right_outside(1950ms)), std::nullopt);
  EXPECT_EQ(first_right(1s, 2s, 1s, 10ms, right_outside(1500ms)), std::nullopt);
}

/// A bottleneck of 8 Mb/s that loses half after 10 s: half of that is used for a second, with a queue of 100 packets.
TEST(Changes, MeasuresWhenALinkIsUsedAndItsQueueShort) {
  const ChangeCell cell{ChangeKind::capacity, 8e6, 10ms};
  Result result;
  result.scenario = scenario_of(cell, {});
  LinkSeries series{result.scenario.classes.front().bottleneck, {}, result.scenario.bin};
  const Step halved = steps_of(cell).front();
  const double bin_s = to_seconds(series.bin);
  for (Duration at{}; at < result.scenario.end; at += series.bin) {
    Bin bin;
    bin.classes.resize(1);
    const bool is_late = at >= halved.at && at < halved.at + 1s;
    bin.bytes[0] = static_cast<std::uint64_t>((is_late ? 0.25e6 : at < halved.at ? 1e6 : 0.5e6) * bin_s);
    bin.queue_max = is_late ? 200 : 20;
    bin.queue_sum = is_late ? 100 : 10;
    bin.queue_bytes_max = bin.queue_max * 1040;
    bin.queue_bytes_sum = bin.queue_sum * 1040;
    bin.samples = 1;
    series.bins.push_back(bin);
  }
  result.links.push_back(series);
  const StepOutcome outcome = outcome_of(cell, result).steps.front();
  ASSERT_TRUE(outcome.right_after);
  // The queue is short in the mean when the window has half of the time before and half of that after; the use is right
  // when a tenth is left.
  EXPECT_NEAR(to_seconds(*outcome.right_after), 1 - 0.1 * to_seconds(halved.window), 2 * bin_s);
  EXPECT_EQ(outcome.most.packets, 200);
  EXPECT_NEAR(outcome.most.seconds, 200 * 1040 / 0.5e6, 1e-9);
  // What 4 Mb/s bring in 20 ms, and the ten packets that were there.
  EXPECT_NEAR(outcome.allowed.seconds, 0.060 + (10'000 + 10'400) / 0.5e6, 1e-9);
  EXPECT_NEAR(outcome.allowed.packets, 150 + (10'000 + 10'400) / 1040.0, 1e-9);
  EXPECT_FALSE(outcome.is_in_time());
  EXPECT_FALSE(outcome.is_bounded());
}

TEST(Changes, ALinkIsUsedAgainWhateverBecomesOfItsCapacity) {
  for (const ChangeCell& cell : {ChangeCell{ChangeKind::capacity, 10e6, 10ms}, {ChangeKind::capacity, 100e6, 100us}}) {
    const ChangeOutcome outcome = run_cell(cell);
    EXPECT_TRUE(outcome.is_ok()) << table_of({outcome});
    EXPECT_EQ(outcome.steps.size(), 8u);
  }
}

TEST(Changes, ANewSenderHasItsShareSoon) {
  const ChangeOutcome outcome = run_cell({ChangeKind::senders, 10e6, 10ms});
  EXPECT_TRUE(outcome.is_ok()) << table_of({outcome});
  EXPECT_EQ(outcome.steps.size(), 2u);
}

TEST(Changes, FlapsAreALineOfTheTable) {
  ChangeOutcome outcome;
  outcome.cell = {ChangeKind::capacity, 10e6, 10ms};
  for (const Step& step : steps_of(outcome.cell)) {
    StepOutcome each;
    each.step = step;
    each.reached_after = each.right_after = step.name == "flaps" ? 700ms : 100ms;
    each.allowed = {0.06, 150};
    outcome.steps.push_back(each);
  }
  outcome.steps[5].most = {0.08, 160};
  outcome.steps[6].right_after = std::nullopt;
  const std::string table = table_of({outcome});
  EXPECT_NE(table.find("4 of 5 changes"), std::string::npos) << table;
  EXPECT_NE(table.find("never"), std::string::npos) << table;
  EXPECT_NE(table.find("late, queue"), std::string::npos) << table;
  EXPECT_FALSE(outcome.is_ok());
}

}  // namespace
}  // namespace spindled::scenarios
