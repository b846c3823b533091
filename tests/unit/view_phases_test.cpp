// The tables of moves between phases, and that the phases are held to them.
#include <gtest/gtest.h>

#include "daemon/view/coordinator.h"
#include "daemon/view/participant.h"
#include "daemon/view/phases.h"

namespace spindled {
namespace {

constexpr MemberPhase kMemberPhases[] = {MemberPhase::steady, MemberPhase::answered, MemberPhase::recovering};
constexpr CoordinatorPhase kCoordinatorPhases[] = {CoordinatorPhase::idle, CoordinatorPhase::gathering,
                                                   CoordinatorPhase::collecting, CoordinatorPhase::closing};

struct NullSink final : LogSink {
  bool wants(LogLevel) const override { return false; }
  void write(LogLevel, std::string_view, std::string_view) override {}
};

MemberIndex first(const Topology&) { return 0; }

TEST(ViewPhases, MemberMoves) {
  const bool expected[3][3] = {
      {false, true, false},  // steady: only a proposal ends it
      {false, true, true},   // answered: never back to the old view
      {true, true, false},   // recovering
  };
  for (std::size_t from = 0; from < 3; ++from) {
    for (std::size_t to = 0; to < 3; ++to) {
      EXPECT_EQ(may_follow(kMemberPhases[from], kMemberPhases[to]), expected[from][to])
          << to_string(kMemberPhases[from]) << " to " << to_string(kMemberPhases[to]);
    }
  }
}

TEST(ViewPhases, CoordinatorMoves) {
  const bool expected[4][4] = {
      {false, true, false, false},  // idle
      {true, true, true, false},    // gathering
      {true, true, false, true},    // collecting
      {true, true, false, false},   // closing
  };
  for (std::size_t from = 0; from < 4; ++from) {
    for (std::size_t to = 0; to < 4; ++to) {
      EXPECT_EQ(may_follow(kCoordinatorPhases[from], kCoordinatorPhases[to]), expected[from][to])
          << to_string(kCoordinatorPhases[from]) << " to " << to_string(kCoordinatorPhases[to]);
    }
  }
}

TEST(ViewPhasesDeathTest, AnIllegalMoveStopsTheDaemon) {
  NullSink sink;
  Mailbox mailbox;
  Coordinator coordinator(Log(sink, "view"), mailbox, &first);
  EXPECT_DEATH(coordinator.retire(), "may_follow");
}

TEST(ViewPhasesDeathTest, ACoordinatorNeverUsesANumberTwice) {
  NullSink sink;
  Mailbox mailbox;
  Coordinator coordinator(Log(sink, "view"), mailbox, &first);
  const Topology alone{{{"a", 1}}, {}};
  coordinator.propose({5, "a"}, alone);
  EXPECT_EQ(coordinator.phase(), CoordinatorPhase::gathering);
  EXPECT_DEATH(coordinator.propose({5, "a"}, alone), "proposal_ < proposal");
}

TEST(ViewPhases, ACoordinatorMovesOnlyWhenAllHaveAnswered) {
  NullSink sink;
  Mailbox mailbox;
  Coordinator coordinator(Log(sink, "view"), mailbox, &first);
  const DaemonId a{"a", 1}, b{"b", 1};
  const ViewId id{5, "a"};
  coordinator.propose(id, {{a, b}, {{0, 1, 1, 0}}});
  EXPECT_FALSE(coordinator.done_received({id, a, {}}));
  EXPECT_FALSE(coordinator.state_received({id, a, {1, "a"}, {4}, 2}));
  EXPECT_FALSE(coordinator.state_received({id, a, {1, "a"}, {4}, 2})) << "the same again";
  EXPECT_FALSE(coordinator.state_received({id, {"b", 2}, {1, "b"}, {4}, 2})) << "another life of b";
  EXPECT_FALSE(coordinator.state_received({{4, "a"}, b, {1, "b"}, {4}, 2})) << "another proposal";
  EXPECT_EQ(coordinator.silent(), std::vector<DaemonId>{b});
  EXPECT_TRUE(coordinator.state_received({id, b, {1, "b"}, {4}, 2}));
  EXPECT_EQ(coordinator.phase(), CoordinatorPhase::collecting);
  EXPECT_FALSE(coordinator.done_received({id, a, {{2, 1}}})) << "pushed to nobody";
  EXPECT_FALSE(coordinator.done_received({id, a, {{1, 3}}}));
  EXPECT_FALSE(coordinator.received_received({id, a})) << "before anybody was told how much there is";
  EXPECT_TRUE(coordinator.done_received({id, b, {}}));
  EXPECT_EQ(coordinator.phase(), CoordinatorPhase::confirming);
  ASSERT_EQ(mailbox.size(), 3u);
  EXPECT_EQ(std::get<Counts>(mailbox.back()).pushed_to, (std::vector<std::uint64_t>{0, 3}));

  EXPECT_FALSE(coordinator.received_received({id, a}));
  EXPECT_FALSE(coordinator.received_received({id, a})) << "the same again";
  EXPECT_FALSE(coordinator.received_received({id, {"b", 2}})) << "another life of b";
  EXPECT_FALSE(coordinator.received_received({{4, "a"}, b})) << "another proposal";
  EXPECT_EQ(coordinator.silent(), std::vector<DaemonId>{b});
  EXPECT_TRUE(coordinator.received_received({id, b}));
  EXPECT_EQ(coordinator.phase(), CoordinatorPhase::closing);
  EXPECT_EQ(std::get<Install>(mailbox.back()).proposal, id);
}

TEST(ViewPhases, WhereNothingWasPushedNobodyIsAskedWhetherItArrived) {
  NullSink sink;
  Mailbox mailbox;
  Coordinator coordinator(Log(sink, "view"), mailbox, &first);
  coordinator.propose({5, "a"}, {{{"a", 1}}, {}});
  EXPECT_TRUE(coordinator.state_received({{5, "a"}, {"a", 1}, {1, "a"}, {4}, 2}));
  EXPECT_TRUE(coordinator.done_received({{5, "a"}, {"a", 1}, {}}));
  EXPECT_EQ(coordinator.phase(), CoordinatorPhase::closing);
  EXPECT_TRUE(std::holds_alternative<Install>(mailbox.back()));
}

TEST(ViewPhases, StatesOfOneOldViewMustAgreeOnItsSize) {
  Gathering gathering({{"a", 1}, {"b", 1}});
  EXPECT_TRUE(gathering.accept({{"a", 1}, {"b", 1}}, {{5, "a"}, {"a", 1}, {2, "a"}, {0, 0}, 0}));
  EXPECT_FALSE(gathering.accept({{"a", 1}, {"b", 1}}, {{5, "a"}, {"b", 1}, {2, "a"}, {0, 0, 0}, 0}));
  EXPECT_TRUE(gathering.is_missing(1));
}

TEST(ViewPhases, TransitionsAreGroupedByOldView) {
  const std::vector<DaemonId> members{{"a", 1}, {"b", 1}, {"c", 1}};
  Gathering gathering(members);
  ASSERT_TRUE(gathering.accept(members, {{9, "a"}, members[2], {3, "a"}, {1, 2}, 11}));
  ASSERT_TRUE(gathering.accept(members, {{9, "a"}, members[1], {2, "b"}, {7}, 5}));
  ASSERT_TRUE(gathering.accept(members, {{9, "a"}, members[0], {3, "a"}, {2, 1}, 12}));
  const Commit commit = gathering.make_commit({9, "a"}, {members, {{0, 1, 1, 0}, {1, 2, 1, 0}}}, &first);
  ASSERT_EQ(commit.transitions.size(), 2u);
  EXPECT_EQ(commit.transitions[0].old_view, (ViewId{2, "b"}));
  EXPECT_EQ(commit.transitions[1].old_view, (ViewId{3, "a"}));
  ASSERT_EQ(commit.transitions[1].members.size(), 2u);
  EXPECT_EQ(commit.transitions[1].members[0].index, 0);
  EXPECT_EQ(commit.transitions[1].members[0].high, (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(commit.transitions[1].members[1].index, 2);
  EXPECT_EQ(commit.transitions[1].safe_line, 12u);
}

TEST(ViewPhases, WhatAnOriginCallsStableCountsAsReceived) {
  const std::vector<DaemonId> members{{"a", 1}, {"b", 1}, {"c", 1}};
  Gathering gathering(members);
  // Of the old view of four daemons the third is gone: nobody vouches for its stream.
  ASSERT_TRUE(gathering.accept(members, {{9, "a"}, members[0], {3, "a"}, {9, 2, 5, 0}, 0, 0, 0, 8}));
  ASSERT_TRUE(gathering.accept(members, {{9, "a"}, members[1], {3, "a"}, {6, 4, 3, 7}, 0, 0, 1, 3}));
  ASSERT_TRUE(gathering.accept(members, {{9, "a"}, members[2], {3, "a"}, {9, 0, 4, 7}, 0, 0, 3, 7}));
  const Commit commit = gathering.make_commit({9, "a"}, {members, {{0, 1, 1, 0}, {1, 2, 1, 0}}}, &first);
  ASSERT_EQ(commit.transitions.size(), 1u);
  const std::vector<Transition::Member>& raised = commit.transitions[0].members;
  EXPECT_EQ(raised[0].high, (std::vector<std::uint64_t>{9, 3, 5, 7}));
  EXPECT_EQ(raised[1].high, (std::vector<std::uint64_t>{8, 4, 3, 7}));
  EXPECT_EQ(raised[2].high, (std::vector<std::uint64_t>{9, 3, 4, 7}));
}

TEST(ViewPhases, AMemberInstallsOnlyWithItsPushes) {
  const View next{{5, "a"}, {{"a", 1}, {"b", 1}}, {}, 0, 1};
  Recovering recovering(next, {});
  EXPECT_TRUE(recovering.is_complete()) << "without counts nothing was pushed";
  EXPECT_FALSE(recovering.take_completion()) << "and nobody waits to hear of it";
  recovering.count_push();
  EXPECT_FALSE(recovering.is_complete()) << "the counts are not known";
  EXPECT_FALSE(recovering.expect({{5, "a"}, {0, 0, 2}})) << "not of this view";
  EXPECT_TRUE(recovering.expect({{5, "a"}, {0, 2}}));
  EXPECT_FALSE(recovering.expect({{5, "a"}, {0, 1}})) << "the counts do not change";
  EXPECT_FALSE(recovering.is_complete());
  EXPECT_FALSE(recovering.take_completion());
  recovering.count_push();
  EXPECT_TRUE(recovering.is_complete());
  EXPECT_TRUE(recovering.take_completion());
  EXPECT_FALSE(recovering.take_completion()) << "said once";
}

class CommitCheck : public ::testing::Test {
 protected:
  const std::vector<DaemonId> members{{"a", 1}, {"b", 1}, {"c", 1}};
  const View old_view{{3, "b"}, {{"b", 1}, {"c", 1}}, {{0, 1, 1, 0}}, 0, 0};
  const Answered answered{Propose{{9, "a"}, members}, FrozenState{{4, 6}, 2}};
  Commit commit{{9, "a"},
                members,
                {{0, 1, 1, 0}, {1, 2, 1, 0}},
                1,
                {{{2, "a"}, {{0, {1}}}, 0}, {{3, "b"}, {{1, {4, 6}}, {2, {4, 5}}}, 3}}};

  void expect_refused(const char* what) {
    const auto result = answered.check(commit, old_view);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().text, what);
  }
};

TEST_F(CommitCheck, AcceptsWhatIsSound) {
  const auto result = answered.check(commit, old_view);
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ((*result)->old_view, old_view.id);
}
TEST_F(CommitCheck, AcceptsWhatAnOriginThatMovesAlongVouchesFor) {
  commit.transitions[1].members[0].high = {4, 7};
  EXPECT_TRUE(answered.check(commit, old_view));
}
TEST_F(CommitCheck, LessThanThisDaemonHas) {
  commit.transitions[1].members[0].high = {4, 5};
  expect_refused("this daemon's high vector is not what it has said");
}
TEST_F(CommitCheck, MoreThanThisDaemonHasSent) {
  commit.transitions[1].members[0].high = {5, 6};
  expect_refused("this daemon's high vector is not what it has said");
}
TEST_F(CommitCheck, MoreThanThisDaemonHasOfAnOriginThatStaysBehind) {
  const View three{{3, "b"}, {{"b", 1}, {"c", 1}, {"d", 1}}, {{0, 1, 1, 0}, {1, 2, 1, 0}}, 0, 0};
  const Answered of_three{Propose{{9, "a"}, members}, FrozenState{{4, 6, 2}, 2}};
  commit.transitions[1].members = {{1, {4, 6, 2}}, {2, {4, 6, 2}}};
  EXPECT_TRUE(of_three.check(commit, three));
  commit.transitions[1].members[0].high = {4, 6, 3};
  EXPECT_FALSE(of_three.check(commit, three));
}
TEST_F(CommitCheck, OtherProposal) {
  commit.proposal.number = 8;
  expect_refused("it is not for the proposal answered last");
}
TEST_F(CommitCheck, OtherMembers) {
  commit.members[2].incarnation = 2;
  expect_refused("its members are not those proposed");
}
TEST_F(CommitCheck, NoPath) {
  commit.edges.pop_back();
  expect_refused("its links do not connect its members");
}
TEST_F(CommitCheck, BadEdge) {
  commit.edges[1].b = 3;
  expect_refused("its links are not valid");
}
TEST_F(CommitCheck, MemberInTwoTransitions) {
  commit.transitions[0].members.push_back({2, {1}});
  expect_refused("a member is not in exactly one transition");
}
TEST_F(CommitCheck, MemberInNoTransition) {
  commit.transitions[1].members.pop_back();
  expect_refused("a member is not in exactly one transition");
}
TEST_F(CommitCheck, OtherOldView) {
  commit.transitions[1].old_view = {4, "b"};
  expect_refused("this daemon's old view is not the one it is frozen in");
}
TEST_F(CommitCheck, StrangerInTheTransitionalSet) {
  commit.transitions[1].members.insert(commit.transitions[1].members.begin(), {0, {4, 6}});
  commit.transitions.erase(commit.transitions.begin());
  expect_refused("its transitional set has a daemon that was not in the old view");
}
TEST_F(CommitCheck, HighVectorOfAnotherSize) {
  commit.transitions[1].members[1].high.push_back(0);
  expect_refused("a high vector does not have the old view's size");
}
TEST_F(CommitCheck, HighVectorThatWasNotSaid) {
  commit.transitions[1].members[0].high[1] = 5;
  expect_refused("this daemon's high vector is not what it has said");
}
TEST_F(CommitCheck, SafeLineThatFallsBack) {
  commit.transitions[1].safe_line = 1;
  expect_refused("its safe line is below this daemon's");
}
TEST_F(CommitCheck, SequencerOutOfRange) {
  commit.sequencer = 3;
  expect_refused("its sequencer is out of range");
}

}  // namespace
}  // namespace spindled
