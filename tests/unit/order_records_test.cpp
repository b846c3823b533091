#include <gtest/gtest.h>

#include "daemon/base/random.h"
#include "daemon/order/order_log.h"
#include "daemon/order/records.h"
#include "daemon/order/sequencer.h"

namespace spindled {
namespace {

MemberSet some_members(Random& random, std::size_t members) {
  MemberSet set;
  for (std::size_t i = 0; i < members; ++i) {
    if (random.chance(0.5)) set.insert(static_cast<MemberIndex>(i));
  }
  return set;
}

std::vector<Run> some_runs(Random& random, std::size_t members, std::optional<MemberIndex> origin) {
  std::vector<Run> runs(random.below(20));
  for (Run& run : runs) {
    run.origin = origin ? *origin : static_cast<MemberIndex>(random.below(members));
    run.safe = random.chance(0.3);
    run.first = 1 + random.below(1u << 30);
    run.count = 1 + random.below(1000);
    run.destinations = some_members(random, members);
  }
  return runs;
}

TEST(Records, SurviveEncodingAndRefuseEveryTruncation) {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const std::size_t members = 1 + random.below(130);
    OrderRecord record{random.below(1u << 20), random.below(1000), random.below(1000),
                       some_runs(random, members, std::nullopt)};
    const std::vector<std::uint8_t> bytes = write_order_record(record);
    EXPECT_EQ(order_operation(bytes), OrderOperation::order_record);
    const auto read = read_order_record(bytes, members);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->first, record.first);
    EXPECT_EQ(read->horizon, record.horizon);
    EXPECT_EQ(read->safe_line, record.safe_line);
    EXPECT_EQ(read->runs, record.runs);
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      EXPECT_FALSE(read_order_record(ByteView(bytes).first(size), members)) << size;
    }

    const auto origin = static_cast<MemberIndex>(random.below(members));
    const RunReport report{random.below(1000), some_runs(random, members, origin)};
    const auto report_read = read_run_report(write_run_report(report), origin, members);
    ASSERT_TRUE(report_read);
    EXPECT_EQ(report_read->processed, report.processed);
    EXPECT_EQ(report_read->runs, report.runs);
  }
}

TEST(Records, RefuseIndicesOutsideTheView) {
  OrderRecord record;
  record.first = 1;
  record.runs.push_back({2, false, 1, 1, MemberSet::of(1)});
  EXPECT_TRUE(read_order_record(write_order_record(record), 3));
  EXPECT_FALSE(read_order_record(write_order_record(record), 2)) << "origin 2 of 2 members";
  record.runs[0] = {0, false, 1, 1, MemberSet::of(70)};
  EXPECT_FALSE(read_order_record(write_order_record(record), 70)) << "destination 70 of 70 members";
}

TEST(Records, NeighbouringRunsToTheSameDestinationsBecomeOne) {
  std::vector<spindled::Run> runs;
  append_run(runs, {0, false, 1, 1, MemberSet::of(1)});
  append_run(runs, {0, false, 2, 3, MemberSet::of(1)});
  append_run(runs, {0, false, 6, 1, MemberSet::of(1)});  // 5 is missing
  append_run(runs, {0, true, 7, 1, MemberSet::of(1)});   // safe
  append_run(runs, {0, true, 8, 1, MemberSet::of(2)});   // elsewhere
  append_run(runs, {1, true, 9, 1, MemberSet::of(2)});   // somebody else's
  ASSERT_EQ(runs.size(), 5u);
  EXPECT_EQ(runs[0].count, 4u);
}

TEST(Records, MessagesThatFollowEachOtherAreOneRun) {
  const MemberSet both = MemberSet::first(2);
  std::vector<spindled::Run> runs;
  append_message(runs, 0, false, 1, both);
  append_message(runs, 0, false, 2, both);
  append_message(runs, 0, false, 4, both);             // 3 is missing
  append_message(runs, 0, true, 5, both);              // safe
  append_message(runs, 0, true, 6, MemberSet::of(1));  // elsewhere
  append_message(runs, 1, true, 7, MemberSet::of(1));  // somebody else's
  const std::vector<spindled::Run> expected = {{0, false, 1, 2, both},
                                               {0, false, 4, 1, both},
                                               {0, true, 5, 1, both},
                                               {0, true, 6, 1, MemberSet::of(1)},
                                               {1, true, 7, 1, MemberSet::of(1)}};
  EXPECT_EQ(runs, expected);
}

TEST(Sequencer, GivesPositionsInOrderOfArrivalAndKeepsRecordsBounded) {
  Sequencer sequencer(2);
  RunReport report;
  for (std::uint64_t i = 0; i < 10'000; ++i) report.runs.push_back({0, false, 2 * i + 1, 1, MemberSet::of(1)});
  sequencer.take(0, report);
  OrderLog log;
  std::size_t records = 0;
  while (const auto record = sequencer.next_record()) {
    ASSERT_TRUE(log.append(*record));
    ++records;
  }
  EXPECT_GT(records, 1u);
  EXPECT_EQ(log.end(), 10'000u);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    ASSERT_EQ(log.front().first, 2 * i + 1);
    log.advance(1);
  }
  EXPECT_TRUE(log.empty());
}

TEST(Sequencer, DoesNotBelieveProgressBeyondWhatWasOrdered) {
  Sequencer sequencer(2);
  sequencer.take(0, {1000, {}});
  sequencer.take(1, {1000, {}});
  EXPECT_EQ(sequencer.horizon(), 0u);
  EXPECT_FALSE(sequencer.next_record());
}

TEST(OrderLog, RefusesARecordThatDoesNotContinueTheLast) {
  OrderLog log;
  OrderRecord record;
  record.first = 2;
  EXPECT_FALSE(log.append(record));
  record.first = 1;
  record.runs.push_back({0, true, 1, 5, MemberSet::of(0)});
  EXPECT_TRUE(log.append(record));
  EXPECT_FALSE(log.append(record));
  EXPECT_EQ(log.last_safe(), 5u);
}

}  // namespace
}  // namespace spindled
