// Runs, their limits, and what becomes of those that fail.
#include "tests/hunt/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <set>

#include "daemon/base/check.h"
#include "tests/hunt/memory_limits.h"
#include "tests/hunt/plan_text.h"
#include "tests/hunt/work_limits.h"
#include "tests/hunt/worker.h"

namespace spindled::hunt {
namespace {

using testing::HasSubstr;

TEST(HuntRun, IsTheSameForTheSamePlan) {
  for (const std::uint64_t seed : {3u, 11u}) {
    const Plan plan = draw_plan(seed);
    const Outcome once = run(plan), again = run(plan);
    EXPECT_EQ(once.digest, again.digest) << "seed " << seed;
    EXPECT_EQ(once.tally, again.tally) << "seed " << seed;
    // Neither does it depend on who looks, nor in which process it runs.
    EXPECT_EQ(run(plan, {.log_level = LogLevel::debug}).digest, once.digest) << "seed " << seed;
    EXPECT_EQ(run_apart(plan).digest, once.digest) << "seed " << seed;
  }
}

TEST(HuntRun, OfAnyPartOfAPlanIsARun) {
  const Plan whole = draw_plan(5);
  for (const std::size_t keep : {2u, 3u, 7u}) {
    Plan part = whole;
    part.steps.clear();
    for (std::size_t i = 0; i < whole.steps.size(); ++i) {
      if (i % keep == 0) part.steps.push_back(whole.steps[i]);
    }
    const Outcome outcome = run(part);
    for (const Finding& each : outcome.findings) ADD_FAILURE() << each.sentence;
  }
}

TEST(HuntRun, CountsWhatHappened) {
  const auto plan = parse_plan(
      "hunt-plan 1\ndaemons 2\nseed 4\nretention_bytes 1000000\nwindow_bytes 1000000\nqueue_soft_bytes 100000\n"
      "queue_hard_bytes 1000000\nfull_view_members 0\nstall_timeout_us 1000000\nheartbeat_interval_us "
      "250000\nliveness_timeout_us 1000000\n"
      "hold_down_us 200000\nlink d0 d1 both 0 100 20\n"
      "0 start d0\n0 start d1\n1000000 connect m0 d0\n1000000 connect m1 d1\n1000000 join m0 g\n1000000 join m1 g\n"
      "1500000 send m0 safe 100 to g\n1500000 send m1 fifo 100 to #m0\n2000000 crash d1\n2000000 crash d1\n");
  ASSERT_TRUE(plan) << plan.error();
  const Outcome outcome = run(*plan);
  for (const Finding& each : outcome.findings) ADD_FAILURE() << each.sentence;
  EXPECT_EQ(outcome.tally.count("sent.safe"), 1u + 1u);  // the plan's and that of the fresh member at d1
  EXPECT_EQ(outcome.tally.count("sent.fifo"), 1u);
  EXPECT_EQ(outcome.tally.count("delivered"), 2u + 1u + 4u);
  EXPECT_EQ(outcome.tally.count("faults.crash"), 2u);
  EXPECT_EQ(outcome.tally.count("restarts"), 1u);
  EXPECT_EQ(outcome.tally.count("clients"), 4u);
}

/// What takes a stranger, a namesake, sockets or a log never moves in the hunt, and is seen to elsewhere:
constexpr Counter kMovedElsewhere[] = {
    Counter::client_frames_bad,       // Hostile.GarbageAtTheClientPort
    Counter::admin_frames_bad,        // tests/unit/admin_connections_test.cpp
    Counter::frames_misrouted,        // tests/unit/overlay_test.cpp
    Counter::tokens_refused,          // tests/unit/session_token_test.cpp
    Counter::log_lines_lost,          // tests/integration/lifecycle_test.cpp
    Counter::log_lines_left_out,      // tests/integration/lifecycle_test.cpp
    Counter::tls_handshakes,          // tests/integration/tls_links_test.cpp
    Counter::tls_handshakes_refused,  // tests/integration/tls_links_test.cpp
    Counter::datagrams_forged,        // tests/unit/datagrams_test.cpp
    Counter::feed_naks_refused,       // tests/sim/feeds_repair_test.cpp
};
/// In one run of 400, or fewer:
constexpr Counter kSeldomMoved[] = {
    Counter::link_frames_bad,    // Hostile.ALinkThatTurnsToGarbageIsReplaced
    Counter::name_conflicts,     // tests/sim/lives_test.cpp
    Counter::bulk_hops_idle,     // tests/sim/bulk_yield_test.cpp
    Counter::bulk_yields,        // tests/sim/bulk_yield_test.cpp
    Counter::datagrams_dropped,  // tests/unit/datagrams_test.cpp
    Counter::feed_frames_early,  // tests/sim/feeds_repair_test.cpp
    Counter::feed_frames_stray,  // tests/sim/feeds_repair_test.cpp
};

TEST(HuntRun, MovesEveryOtherCounterLarge) {
  std::set<Counter> unmoved;
  for (std::size_t i = 0; i < kCounterCount; ++i) unmoved.insert(static_cast<Counter>(i));
  for (const Counter each : kMovedElsewhere) unmoved.erase(each);
  for (const Counter each : kSeldomMoved) unmoved.erase(each);
  constexpr std::uint64_t kSeeds = 600;  // two thirds of them are enough
  for (std::uint64_t seed = 1; seed <= kSeeds && !unmoved.empty(); ++seed) {
    const Outcome outcome = run(draw_plan(seed));
    const auto moves = [&](Counter each) { return outcome.tally.count(counted(each)) > 0; };
    std::erase_if(unmoved, moves);
    for (const Counter each : kMovedElsewhere) EXPECT_FALSE(moves(each)) << to_string(each) << " moves at " << seed;
  }
  for (const Counter each : unmoved) ADD_FAILURE() << to_string(each) << " does not move";
}

/// Two daemons; the client of the first one sends 100 messages of 10,000 bytes, and is in one group.
Plan small_plan() {
  std::string text =
      "hunt-plan 1\ndaemons 2\nretention_bytes 200000\nwindow_bytes 100000\nqueue_soft_bytes 100000\n"
      "queue_hard_bytes 300000\nlink d0 d1 both 0 100 20\n0 start d0\n0 start d1\n10 connect m0 d0\n10 join m0 g\n";
  for (int i = 0; i < 100; ++i) text += "10 send m0 agreed 10000 to g\n";
  return *parse_plan(text);
}

TEST(HuntMemoryLimits, ReportEachDaemonThatKeepsTooMuch) {
  MemoryLimits limits(small_plan());
  limits.check(0, {.own_stream = 170'000, .foreign_stream = 20'000, .session_queue = 300'000});
  EXPECT_TRUE(limits.findings().empty());
  limits.check(0, {.own_stream = 200'000});
  limits.check(0, {.own_stream = 190'000});
  ASSERT_EQ(limits.findings().size(), 1u);
  EXPECT_THAT(limits.findings()[0].sentence, HasSubstr("d000 kept 200000 bytes of its own messages"));
  limits.check(1, {.foreign_stream = 300'000, .view_ends = true});
  EXPECT_EQ(limits.findings().size(), 1u);
  limits.check(1, {.foreign_stream = 300'000});
  EXPECT_EQ(limits.findings().size(), 2u) << "in a view that goes on the word of what is stable comes first";
  limits.check(1, {.limited_queue = 300'001});
  EXPECT_EQ(limits.findings().size(), 3u);
  Tally tally;
  limits.count(tally);
  EXPECT_EQ(tally.largest.at("bytes of its own messages"), 200'000u);
  EXPECT_EQ(tally.largest.at("bytes that wait for a client, % of the limit"), 100u);
}

TEST(HuntMemoryLimits, HoldStreamsToWhatThePlanPutsIntoThem) {
  MemoryLimits limits(small_plan());
  limits.check(1, {.own_stream = 20'000});
  EXPECT_TRUE(limits.findings().empty());
  limits.check(1, {.own_stream = 30'000});
  EXPECT_EQ(limits.findings().size(), 1u) << "nobody there has anything to send";
}

/// More than is due, of one thing each.
constexpr NodeMemory kTooMuch[] = {
    {.retained = 520'000},
    {.unordered = 1'100'000},
    {.own_unordered = 520'000},
    {.pushed = 520'000},
    {.held_up = 1'100'000},
    {.partial = 1'100'000},
    {.link_control = 20'000},
    {.link_data = 800'000},
    {.sessions_definitions = 4'000},
    {.groups = 3},
    {.memberships = 4},
    {.sessions = 3},
};

TEST(HuntMemoryLimits, ArePartOfEverythingThatADaemonHolds) {
  for (const NodeMemory& each : kTooMuch) {
    MemoryLimits limits(small_plan());
    limits.check(0, each);
    EXPECT_EQ(limits.findings().size(), 1u) << "the one at " << &each - kTooMuch;
  }
  MemoryLimits limits(small_plan());
  limits.check(0, {.retained = 400'000,
                   .unordered = 1'000'000,
                   .own_unordered = 20'000,
                   .pushed = 400'000,
                   .held_up = 900'000,
                   .partial = 900'000,
                   .link_control = 1'000,
                   .link_data = 600'000,
                   .sessions_definitions = 400,
                   .groups = 2,
                   .memberships = 3,
                   .sessions = 2});
  for (const Finding& each : limits.findings()) ADD_FAILURE() << each.sentence;
}

/// m1 wants the name of m0 while it is there, and m2 when it is gone; at another daemon it is free.
TEST(HuntRun, TellsClientsOfOneNameApart) {
  const auto plan = parse_plan(
      "hunt-plan 1\ndaemons 2\nseed 4\nretention_bytes 1000000\nwindow_bytes 1000000\nqueue_soft_bytes 100000\n"
      "queue_hard_bytes 1000000\nstall_timeout_us 1000000\nheartbeat_interval_us 250000\nliveness_timeout_us 1000000\n"
      "hold_down_us 200000\nlink d0 d1 both 0 100 20\n0 start d0\n0 start d1\n1000000 connect m0 d0\n"
      "1000000 join m0 g\n1100000 connect m1 d0 as m0\n1100000 join m1 g\n1100000 connect m3 d1 as m0\n"
      "1100000 join m3 g\n1200000 kill m0\n1210000 connect m2 d0 as m0\n1210000 join m2 g\n"
      "1300000 send m3 agreed 100 to g #m0\n1400000 bye m3\n");
  ASSERT_TRUE(plan) << plan.error();
  const Outcome outcome = run(*plan);
  for (const Finding& each : outcome.findings) ADD_FAILURE() << each.sentence;
  EXPECT_EQ(outcome.tally.count("names refused"), 1u);
  EXPECT_EQ(outcome.tally.count("names taken over"), 1u);
  EXPECT_EQ(outcome.tally.count("delivered"), 2u + 4u);
}

/// Only the feed sends; then nobody may send, or stay; a daemon that comes back has the newest rules.
TEST(HuntRun, GoesByRulesThatChange) {
  const auto plan = parse_plan(
      "hunt-plan 1\ndaemons 2\nseed 4\nretention_bytes 1000000\nwindow_bytes 1000000\nqueue_soft_bytes 100000\n"
      "queue_hard_bytes 1000000\nstall_timeout_us 1000000\nheartbeat_interval_us 250000\nliveness_timeout_us 1000000\n"
      "hold_down_us 200000\nlink d0 d1 both 0 100 20\n"
      "rules\naccess cert:feed * send,join,create\naccess anyone g join\nreserve feed* cert:feed\n"
      "quota uid:* 1 0 0\nrules\naccess anyone other send,join,create\n"
      "0 start d0\n0 start d1\n1000000 connect m0 d0 is cert:feed\n1000000 join m0 g\n"
      "1100000 connect m1 d1 is uid:7\n1100000 join m1 g\n1100000 connect m2 d1 is uid:7\n1100000 join m1 h\n"
      "1200000 send m0 agreed 100 to g\n1200000 send m1 agreed 100 to g\n1200000 send m1 agreed 100 to g\n"
      "1300000 reload d1 1\n1300000 crash d0\n1310000 reload d0 1\n1400000 start d0\n"
      "1500000 connect m3 d0 is cert:feed\n1500000 join m3 g\n");
  ASSERT_TRUE(plan) << plan.error();
  const Outcome outcome = run(*plan);
  for (const Finding& each : outcome.findings) ADD_FAILURE() << each.sentence;
  EXPECT_EQ(outcome.tally.count("delivered"), 2u + 4u);
  EXPECT_EQ(outcome.tally.count("denied.messages"), 2u);
  EXPECT_EQ(outcome.tally.count("denied.joins"), 2u);
  EXPECT_EQ(outcome.tally.count("denied.connections"), 1u);
  EXPECT_EQ(outcome.tally.count("denied.memberships"), 1u);
}

TEST(HuntWorkLimits, ReportEachDaemonThatDoesTooMuchInATurnOrAStep) {
  WorkLimits limits(100, 1000, 100'000);
  limits.check("d000", 1000, {.last_turn = 9, .largest_turn = 1500, .largest_step = 1000});
  EXPECT_TRUE(limits.findings().empty());
  limits.check("d001", 1000, {.largest_turn = 2100, .largest_step = 900});
  limits.check("d002", 50, {.largest_turn = 300, .largest_step = 1004});
  ASSERT_EQ(limits.findings().size(), 1u);
  EXPECT_THAT(limits.findings()[0].sentence, HasSubstr("d001 did 2100 units in one turn, at most 2003 are due"));
  EXPECT_EQ(limits.most().largest_turn, 2100u);
  WorkLimits small(100, 50, 100'000);
  small.check("d002", 50, {.largest_turn = 300, .largest_step = 405});
  ASSERT_EQ(small.findings().size(), 1u);
  EXPECT_THAT(small.findings()[0].sentence, HasSubstr("d002 did 405 units in one step, at most 404 are due"));
  WorkLimits of_input(100, 1000, 100'000);
  of_input.check("d001", 1000, {.largest_input = 1'100});
  EXPECT_TRUE(of_input.findings().empty());
  of_input.check("d001", 1000, {.largest_input = 1'101});
  ASSERT_EQ(of_input.findings().size(), 1u);
  EXPECT_THAT(of_input.findings()[0].sentence,
              HasSubstr("d001 did 1101 units in one turn's input, at most 1100 are due"));
}

TEST(HuntOutcome, SurvivesTheWayAsText) {
  Outcome outcome = run(draw_plan(2));
  outcome.findings.push_back({"total order", "total order: one\nand another\tthing"});
  outcome.explanation = "line\n\nline\n";
  const Outcome again = outcome_from_text(to_text(outcome));
  EXPECT_EQ(again.digest, outcome.digest);
  EXPECT_EQ(again.tally, outcome.tally);
  EXPECT_EQ(again.explanation, outcome.explanation);
  ASSERT_EQ(again.findings.size(), 1u);
  EXPECT_EQ(again.findings[0].sentence, "total order: one and another thing");
  EXPECT_EQ(outcome_from_text("digest\t5\n").findings.size(), 1u);
}

TEST(HuntWorkers, GoOnWhenASeedEndsItsProcess) {
  std::map<std::uint64_t, Outcome> outcomes;
  const auto work = [](std::uint64_t seed) {
    SPINDLE_CHECK(seed != 12);
    if (seed == 15) std::raise(SIGKILL);
    Outcome outcome;
    outcome.digest = seed * 100;
    return outcome;
  };
  run_seeds({10, 8}, {3}, work, [&](std::uint64_t seed, const Outcome& outcome) { outcomes[seed] = outcome; });
  ASSERT_EQ(outcomes.size(), 8u);
  for (const auto& [seed, outcome] : outcomes) {
    EXPECT_EQ(outcome.failed(), seed == 12 || seed == 15) << seed;
    if (!outcome.failed()) {
      EXPECT_EQ(outcome.digest, seed * 100);
    }
  }
  EXPECT_THAT(outcomes[12].findings[0].property, HasSubstr("check failed: seed != 12"));
  EXPECT_THAT(outcomes[15].findings[0].sentence, HasSubstr("signal 9"));
}

TEST(HuntWorkers, GiveUpSeedsThatHang) {
  std::map<std::uint64_t, Outcome> outcomes;
  const auto work = [](std::uint64_t seed) {
    for (volatile bool hangs = seed == 2; hangs;) {
    }
    return Outcome();
  };
  const auto done = [&](std::uint64_t seed, const Outcome& outcome) { outcomes[seed] = outcome; };
  run_seeds({1, 3}, {.count = 1, .hang_seconds = 1}, work, done);
  ASSERT_EQ(outcomes.size(), 3u);
  for (const auto& [seed, outcome] : outcomes) EXPECT_EQ(outcome.failed(), seed == 2) << seed;
  EXPECT_EQ(outcomes[2].findings[0].property, "hang");
  EXPECT_THAT(outcomes[2].findings[0].sentence, HasSubstr("within 1 s"));
}

#ifdef __SANITIZE_ADDRESS__
TEST(HuntWorkers, FindSeedsThatLoseMemory) {
  std::map<std::uint64_t, Outcome> outcomes;
  const auto work = [](std::uint64_t seed) {
    // One alone could be found once more, in a register.
    for (int i = 0; seed == 2 && i < 100; ++i) static_cast<void>(std::make_unique<int>(i).release());
    return Outcome();
  };
  run_seeds({1, 3}, {1}, work, [&](std::uint64_t seed, const Outcome& outcome) { outcomes[seed] = outcome; });
  ASSERT_EQ(outcomes.size(), 3u);
  for (const auto& [seed, outcome] : outcomes) EXPECT_EQ(outcome.failed(), seed == 2) << seed;
  EXPECT_EQ(outcomes[2].findings[0].property, "crash: ERROR: LeakSanitizer");
  EXPECT_THAT(outcomes[2].explanation, HasSubstr("Direct leak of"));
}
#endif

}  // namespace
}  // namespace spindled::hunt
