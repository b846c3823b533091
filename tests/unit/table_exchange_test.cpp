// How daemons come to one group table, and how a table goes from one view to the next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/group/group_table.h"
#include "daemon/group/table_exchange.h"

namespace spindled {
namespace {

using ::testing::ElementsAre;
using Origins = std::vector<MemberIndex>;
using Members = std::vector<NewMember>;

TableState state(std::uint64_t groups, GroupId next_id, std::uint64_t digest, bool more = false) {
  return {groups, next_id, digest, {}, more};
}

TEST(TableExchange, IsOverWhereAllHaveTheSame) {
  TableExchange exchange;
  exchange.add(0, state(3, 7, 99));
  exchange.add(2, state(3, 7, 99));
  EXPECT_FALSE(exchange.has_states_of(3));
  exchange.add(1, state(3, 7, 99, true));
  EXPECT_FALSE(exchange.has_states_of(3)) << "it has more to say";
  exchange.add(1, state(3, 7, 99));
  ASSERT_TRUE(exchange.has_states_of(3));
  EXPECT_TRUE(exchange.is_same_everywhere());
  EXPECT_EQ(exchange.keepers(), MemberSet::first(3));
}

TEST(TableExchange, TheLargestTableIsKept) {
  TableExchange exchange;
  exchange.add(0, state(0, 50, 0));
  exchange.add(1, state(3, 7, 99));
  exchange.add(2, state(2, 60, 98));
  exchange.add(3, state(3, 7, 99));
  EXPECT_FALSE(exchange.is_same_everywhere());
  EXPECT_EQ(exchange.keepers(), MemberSet::of(1) | MemberSet::of(3));
  EXPECT_EQ(exchange.next_id(), 7u);
}

TEST(TableExchange, OfEqualSizeOneIsKeptByAll) {
  TableExchange one, other;
  for (const MemberIndex origin : Origins{0, 1}) one.add(origin, state(1, 2, 10u + origin));
  for (const MemberIndex origin : Origins{1, 0}) other.add(origin, state(1, 2, 10u + origin));
  EXPECT_EQ(one.keepers(), other.keepers());
  EXPECT_EQ(one.keepers().count(), 1u);
}

TEST(TableExchange, GivesThePartsOfTheKeepersFirst) {
  TableExchange exchange;
  exchange.add(0, state(0, 1, 0));
  exchange.add(1, state(0, 1, 0));
  exchange.add(2, state(3, 7, 99));
  for (const MemberIndex origin : Origins{1, 0, 2, 1}) {
    Delivery part;
    part.origin = origin;
    exchange.keep_part(origin, part);
  }
  std::vector<int> order;
  for (const auto& [origin, part] : exchange.take_parts()) order.push_back(origin);
  EXPECT_THAT(order, ElementsAre(2, 0, 1, 1));
}

TEST(TableExchange, IsCompleteWhenAllWhoBuildTheirsAnewHaveAnnouncedAllOfTheirs) {
  TableExchange exchange;
  exchange.add(0, state(3, 7, 99));
  exchange.add(1, state(0, 1, 0));
  exchange.add(2, state(1, 2, 5));
  exchange.add_part(1, true);
  EXPECT_FALSE(exchange.is_complete(3));
  exchange.add_part(2, false);
  EXPECT_FALSE(exchange.is_complete(3)) << "more follows";
  exchange.add_part(2, true);
  EXPECT_TRUE(exchange.is_complete(3)) << "what the keeper announces is no matter to those who keep the table, too";
}

TEST(TableExchange, WhoBuildsItAnewHasTheLastWordWhenItHasWhatTheKeepersHave) {
  TableExchange exchange;
  for (const MemberIndex keeper : Origins{0, 1}) exchange.add(keeper, state(3, 7, 99));
  exchange.add(2, state(0, 1, 0));
  exchange.add_part(0, true);
  exchange.add_part(1, false);
  exchange.set_announced();
  EXPECT_FALSE(exchange.take_conclusion());
  exchange.add_part(1, true);
  EXPECT_TRUE(exchange.take_conclusion());
  EXPECT_FALSE(exchange.take_conclusion()) << "once";
}

/// a: members at 0, 1 and 2; b: at 1; c: at 2; d: a subscription without a member.
GroupTable table_of(MemberIndex self) {
  GroupTable table(self);
  for (const auto& [group, daemon] : {std::pair("a", 0), {"a", 1}, {"a", 2}, {"b", 1}, {"c", 2}, {"d", 0}}) {
    const auto index = static_cast<MemberIndex>(daemon);
    table.subscribe(group, index, 1);
    if (*group != 'd') table.join(group, {index, 5, "#x#d" + std::to_string(daemon)});
  }
  return table;
}

/// Daemon 1 has not come along; a new one comes before the others.
const GroupTable::Renumbering kWithoutOne = {1, std::nullopt, 2};

void carry_over(GroupTable& table, MemberIndex self, const GroupTable::Renumbering& to) {
  table.carry_over(self, to, table.version());
  for (GroupTable::Place at = table.begin(); at != table.end();) at = table.carry_over(at);
}

TEST(GroupTableCarriedOver, LosesTheMembersOfDaemonsThatDidNotComeAlong) {
  GroupTable table = table_of(2);
  const GroupId id = table.find("a")->id;
  const std::uint64_t version = table.version();
  table.carry_over(2, kWithoutOne, version);
  EXPECT_TRUE(GroupTable::is_losing(*table.find("a")));
  EXPECT_FALSE(GroupTable::is_losing(*table.find("c")));
  for (GroupTable::Place at = table.begin(); at != table.end();) at = table.carry_over(at);
  EXPECT_GT(table.version(), version);
  EXPECT_EQ(table.size(), 2u) << "of b nobody is left, and of d nobody was";
  const Group* a = table.find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a, table.find(id)) << "under its number";
  EXPECT_EQ(a->subscribers, MemberSet::of(1) | MemberSet::of(2));
  ASSERT_EQ(a->members.size(), 2u);
  EXPECT_EQ(a->members[0].name(), "#x#d0");
  EXPECT_EQ(a->members[0].daemon(), 1);
  EXPECT_EQ(a->members[1].daemon(), 2);
  EXPECT_TRUE(table.is_member(*a, 1, 5));
  EXPECT_TRUE(table.is_member(*a, 2, 5));
  EXPECT_FALSE(table.is_in_groups(0, 5));
  EXPECT_EQ(table.self(), 2);
  EXPECT_EQ(a->digest, [] {
    GroupTable fresh;
    fresh.announce("a", 0, 1, Members{{1, 5, "#x#d0"}});
    fresh.announce("a", 0, 2, Members{{2, 5, "#x#d2"}});
    return fresh.find("a")->digest;
  }());
  EXPECT_TRUE(table.leave(a->id, 1, 5)) << "it goes on as before";
}

TEST(GroupTableCarriedOver, HasADigestOfAllThatHasToAgree) {
  const auto digest = [](const std::function<void(GroupTable&)>& change) {
    GroupTable table = table_of(2);
    change(table);
    carry_over(table, 2, kWithoutOne);
    return table.digest();
  };
  const std::uint64_t before = digest([](GroupTable&) {});
  EXPECT_NE(before, 0u);
  EXPECT_EQ(digest([](GroupTable& table) { table.join("b", {1, 6, "#y#d1"}); }), before) << "of who is gone";
  EXPECT_NE(digest([](GroupTable& table) { table.join("a", {0, 6, "#y#d0"}); }), before) << "a member";
  EXPECT_NE(digest([](GroupTable& table) { table.leave(table.find("c")->id, 2, 5); }), before) << "a group";
  const auto replace = [](SessionId session) {
    return [session](GroupTable& table) {
      table.leave(table.find("c")->id, 2, 5);
      table.join("c", {2, session, "#x#d2"});
    };
  };
  EXPECT_EQ(digest(replace(5)), before);
  EXPECT_NE(digest(replace(6)), before) << "another session of that name";
  EXPECT_NE(digest([](GroupTable& table) {
              table.leave(table.find("c")->id, 2, 5);
              table.unsubscribe("c", 2);
              table.subscribe("c", 2, 1);
              table.join("c", {2, 5, "#x#d2"});
            }),
            before)
      << "another number";
}

TEST(GroupTableCarriedOver, GivesNoNumberTwice) {
  GroupTable table(0);
  table.announce("a", 7, 1, Members{{1, 1, "#x#d1"}});
  table.announce("b", 7, 1, Members{{1, 1, "#x#d1"}});  // as no daemon does
  EXPECT_EQ(table.find("a")->id, 7u);
  EXPECT_EQ(table.find("b")->id, 8u);
  table.set_next_id(20);
  table.announce("c", 0, 1, Members{{1, 1, "#x#d1"}});
  EXPECT_EQ(table.find("c")->id, 20u);
  table.set_next_id(3);
  EXPECT_EQ(table.next_id(), 21u) << "it never falls";
}

}  // namespace
}  // namespace spindled
