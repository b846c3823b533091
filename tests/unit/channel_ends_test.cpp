// When channels end without anybody's doing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/channel/channel_ends.h"

namespace spindled {
namespace {

using ::testing::IsEmpty;

class ChannelEndsTest : public testing::Test {
 protected:
  static constexpr Time kStart = Time(100s);
  static constexpr SessionId kReceiver = 5;

  ChannelEndsTest() {
    view_.members = {{"alpha", 1}, {"beta", 1}};
    table_.begin_view(view_.members);
    Channel added;
    added.id = id_;
    added.group = "g";
    added.terms.layout = *ContentLayout::of(100);
    added.terms.linger_s = 30;
    added.audience = {{1, kReceiver}};
    table_.add(std::move(added));
    ends_.note_active(kStart, channel());
  }
  const Channel& channel() const { return *table_.find(id_); }
  void say(Time now, BulkOutcome outcome) {
    EXPECT_TRUE(table_.note(id_, 1, {kReceiver, outcome, 0}, true));
    ends_.note_active(now, channel());
  }
  void complete(Time now) {
    table_.seal({id_, 100, {}});
    ASSERT_TRUE(table_.complete(id_));
    ends_.note_completion(now, channel());
    ends_.look(now);
  }
  void lose_source(Time now) {
    table_.lose_source(id_);
    ends_.note_active(now, channel());
  }
  /// Looks when it is time to, and no sooner, and expects that it ends then.
  void expect_end(Time at, BulkEnd why) {
    if (ends_.take_due(at - 1ns)) {
      EXPECT_THAT(ends_.due(at - 1ns), IsEmpty());
    }
    EXPECT_EQ(ends_.next_deadline(), at);
    ASSERT_TRUE(ends_.take_due(at));
    const std::vector<ChannelEnded> due = ends_.due(at);
    ASSERT_EQ(due.size(), 1u);
    EXPECT_EQ(due.front().id, id_);
    EXPECT_EQ(due.front().why, why);
    ends_.look(at + 1s);
    EXPECT_TRUE(ends_.take_due(at + 1s));
    EXPECT_THAT(ends_.due(at + 1s), IsEmpty()) << "it is ordered once";
  }

  const BulkChannelId id_{"alpha", 1, 1};
  View view_;
  ChannelTable table_;
  ChannelEnds ends_{view_, table_};
};

TEST_F(ChannelEndsTest, OneIsOverWhenItHasLingered) {
  EXPECT_EQ(ends_.next_deadline(), kNever) << "somebody waits, and the source is there";
  say(kStart + 1s, BulkOutcome::done);
  complete(kStart + 1s);
  ends_.note_active(kStart + 20s, channel());
  expect_end(kStart + 31s, BulkEnd::over);
}

TEST_F(ChannelEndsTest, WhoComesLateIsServedByTheSourceHoweverLongItTakes) {
  say(kStart, BulkOutcome::done);
  complete(kStart);
  table_.note(id_, 1, {9, BulkOutcome::accepted, 0}, true);
  ends_.look(kStart + 1h);
  EXPECT_TRUE(ends_.take_due(kStart + 1h));
  EXPECT_THAT(ends_.due(kStart + 1h), IsEmpty());
  EXPECT_EQ(ends_.next_deadline(), kNever);
}

TEST_F(ChannelEndsTest, OneIsAbandonedAfterAMinuteWithoutSourceAndHolders) {
  say(kStart, BulkOutcome::accepted);
  lose_source(kStart + 1s);
  ends_.note_active(kStart + 50s, channel());
  expect_end(kStart + 110s, BulkEnd::abandoned);
}

TEST_F(ChannelEndsTest, AHolderKeepsItUntilItGivesItToNobody) {
  table_.seal({id_, 100, {}});
  say(kStart, BulkOutcome::done);
  table_.note(id_, 1, {9, BulkOutcome::accepted, 0}, true);
  lose_source(kStart + 1s);
  EXPECT_EQ(ends_.next_deadline(), kNever);
  say(kStart + 10min, BulkOutcome::kept);
  expect_end(kStart + 11min, BulkEnd::abandoned);
}

TEST_F(ChannelEndsTest, AHolderFromASideThatHasEndedItIsOfNoUseWhereItWasNeverSealed) {
  say(kStart, BulkOutcome::accepted);
  lose_source(kStart);
  table_.note(id_, 0, {9, BulkOutcome::done, 0}, true);
  ends_.note_active(kStart + 10s, channel());
  expect_end(kStart + 70s, BulkEnd::abandoned);
}

TEST_F(ChannelEndsTest, AlsoOneThatWasCompleteIsAbandonedWhereSomebodyWaits) {
  say(kStart, BulkOutcome::refused);
  complete(kStart);
  table_.note(id_, 1, {9, BulkOutcome::accepted, 0}, true);
  lose_source(kStart + 50s);
  ends_.take_due(kStart + 50s);
  ends_.note_active(kStart + 50s, channel());
  expect_end(kStart + 110s, BulkEnd::abandoned);
}

TEST_F(ChannelEndsTest, AViewThatBeginsHasItOrderedAgain) {
  lose_source(kStart);
  expect_end(kStart + 60s, BulkEnd::abandoned);
  ends_.begin_view(id_);
  ends_.note_active(kStart + 61s, channel());
  expect_end(kStart + 121s, BulkEnd::abandoned);
}

TEST_F(ChannelEndsTest, TheDaemonOfTheSourceKeepsTheTimeOrTheFirstThatIsThere) {
  lose_source(kStart);
  view_.self = 1;
  EXPECT_EQ(ends_.timekeeper_of(id_), MemberIndex{0});
  EXPECT_THAT(ends_.due(kStart + 60s), IsEmpty());
  const BulkChannelId others{"beta", 1, 1}, former{"beta", 0, 1};
  EXPECT_EQ(ends_.timekeeper_of(others), MemberIndex{1});
  EXPECT_EQ(ends_.timekeeper_of(former), MemberIndex{0}) << "of a life that is over";
}

TEST_F(ChannelEndsTest, WordThatSomethingComesIsAwaitedWhereItMatters) {
  say(kStart, BulkOutcome::accepted);
  EXPECT_FALSE(ends_.awaits_word(kStart + 1min, channel())) << "the source is there";
  lose_source(kStart);
  EXPECT_FALSE(ends_.awaits_word(kStart + ChannelEnds::kComingSaid - 1ns, channel()));
  EXPECT_TRUE(ends_.awaits_word(kStart + ChannelEnds::kComingSaid, channel()));
  ends_.note_active(kStart + 30s, channel());
  EXPECT_FALSE(ends_.awaits_word(kStart + 31s, channel()));
}

}  // namespace
}  // namespace spindled
