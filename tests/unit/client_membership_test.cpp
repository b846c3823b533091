#include "libclient/include/spindle/membership.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "libclient/protocol/member_list.h"

namespace spindle {
namespace {

using Names = std::vector<std::string>;
using Outcome = Membership::Outcome;
using protocol::MemberList;

GroupView full(std::uint64_t position, const Names& members, ViewForm form = ViewForm::full) {
  GroupView view;
  view.group = "g";
  view.id = {1, "d", 3, position};
  view.form = form;
  view.members = members;
  view.member_count = members.size();
  view.digest = MemberList(members).digest();
  return view;
}

/// A change after which the members are `members`.
GroupView change(std::uint64_t position, const Names& members, const Names& joined, const Names& left = {},
                 ViewCause cause = ViewCause::join) {
  GroupView view = full(position, members, ViewForm::change);
  view.members.clear();
  view.cause = cause;
  view.joined = joined;
  view.left = left;
  return view;
}

TEST(MemberDigest, IsThatOfTheWorkedExample) {
  MemberList list;
  EXPECT_EQ(list.digest(), 0u);
  list.add("#ann#alpha");
  EXPECT_EQ(list.digest(), 0x619978fe7bb38aceu);
  list.add("#bob#beta");
  EXPECT_EQ(list.digest(), 0x632dee09a30c4af2u);
  EXPECT_NE(MemberList({"#bob#beta", "#ann#alpha"}).digest(), list.digest()) << "the order counts";
}

TEST(Membership, AppliesChanges) {
  Membership group;
  EXPECT_FALSE(group.is_current());
  EXPECT_EQ(group.apply(full(1, {"#a#x", "#b#y"})), Outcome::current);
  EXPECT_EQ(group.members(), (Names{"#a#x", "#b#y"}));
  EXPECT_EQ(group.apply(change(2, {"#a#x", "#c#x", "#b#y"}, {"#c#x"})), Outcome::current);
  EXPECT_EQ(group.members(), (Names{"#a#x", "#c#x", "#b#y"}));
  EXPECT_EQ(group.index_of("#c#x"), 1u);
  EXPECT_FALSE(group.index_of("#d#x"));
  EXPECT_EQ(group.apply(change(3, {"#c#x", "#b#y"}, {}, {"#a#x"}, ViewCause::leave)), Outcome::current);
  EXPECT_EQ(group.members(), (Names{"#c#x", "#b#y"}));
  EXPECT_TRUE(group.vs_set().empty());
}

TEST(Membership, AChangeOfTheNetworkTellsWhoCameAlong) {
  Membership group;
  ASSERT_EQ(group.apply(full(1, {"#b#x", "#a#y", "#d#y", "#c#z"})), Outcome::current);
  GroupView view = change(2, {"#b#x", "#e#x", "#a#y", "#d#y"}, {"#e#x"}, {"#c#z"}, ViewCause::network);
  view.apart = {"#d#y"};
  EXPECT_EQ(group.apply(view), Outcome::current);
  EXPECT_EQ(group.members(), (Names{"#b#x", "#e#x", "#a#y", "#d#y"}));
  EXPECT_EQ(group.vs_set(), (Names{"#b#x", "#a#y"}));
  EXPECT_EQ(group.apply(full(2, group.members(), ViewForm::answer)), Outcome::current);
  EXPECT_EQ(group.vs_set().size(), 2u) << "an answer takes nothing away";
}

TEST(Membership, AMemberIsInItsVsSetAlsoWhereItIsNew) {
  Membership group;
  GroupView view = full(1, {"#a#x", "#b#x", "#c#x"});
  view.cause = ViewCause::network;
  view.joined = {"#b#x", "#c#x"};
  view.apart = {"#a#x"};
  view.my_index = 1;
  EXPECT_EQ(group.apply(view), Outcome::current);
  EXPECT_EQ(group.vs_set(), Names{"#b#x"});
}

TEST(Membership, AChangeWithoutAListAsksOnce) {
  Membership group;
  EXPECT_EQ(group.apply(change(5, {"#a#x", "#b#x"}, {"#b#x"})), Outcome::ask);
  EXPECT_EQ(group.apply(change(6, {"#a#x", "#b#x", "#c#x"}, {"#c#x"})), Outcome::unknown);
  EXPECT_TRUE(group.members().empty());
  EXPECT_EQ(group.apply(full(6, {"#a#x", "#b#x", "#c#x"}, ViewForm::answer)), Outcome::current);
  EXPECT_EQ(group.members().size(), 3u);
  EXPECT_EQ(group.apply(change(7, {"#a#x", "#b#x"}, {}, {"#c#x"})), Outcome::current);
}

TEST(Membership, AMismatchIsFoundAndRepaired) {
  const GroupView good = change(2, {"#a#x", "#b#x", "#c#x"}, {"#c#x"});
  std::vector<GroupView> bad(4, good);
  bad[0].digest ^= 1;
  bad[1].member_count = 4;
  bad[2].joined = {"#d#x"};
  bad[3].left = {"#nobody#x"};
  for (const GroupView& view : bad) {
    Membership group;
    ASSERT_EQ(group.apply(full(1, {"#a#x", "#b#x"})), Outcome::current);
    EXPECT_EQ(group.apply(view), Outcome::ask);
    EXPECT_FALSE(group.is_current());
    EXPECT_EQ(group.apply(full(2, {"#a#x", "#b#x", "#c#x"}, ViewForm::answer)), Outcome::current);
    EXPECT_EQ(group.members().size(), 3u);
  }
}

TEST(Membership, AWrongAnswerIsNotBelievedAndNotAskedForInALoop) {
  Membership group;
  ASSERT_EQ(group.apply(change(1, {"#a#x", "#b#x"}, {"#b#x"})), Outcome::ask);
  GroupView wrong = full(1, {"#a#x", "#b#x"}, ViewForm::answer);
  wrong.digest ^= 1;
  EXPECT_EQ(group.apply(wrong), Outcome::unknown);
  EXPECT_EQ(group.apply(change(2, {"#a#x"}, {}, {"#b#x"})), Outcome::ask) << "the next change is a new occasion";
}

TEST(Membership, ARequestThatFailedCanBeMadeAgain) {
  Membership group;
  ASSERT_EQ(group.apply(change(1, {"#a#x", "#b#x"}, {"#b#x"})), Outcome::ask);
  group.reset();
  EXPECT_EQ(group.apply(change(2, {"#a#x"}, {}, {"#b#x"})), Outcome::ask);
}

TEST(Membership, EndsWithTheFarewell) {
  Membership group;
  ASSERT_EQ(group.apply(full(1, {"#a#x", "#b#x"})), Outcome::current);
  GroupView farewell;
  farewell.group = "g";
  farewell.form = ViewForm::farewell;
  farewell.left = {"#a#x"};
  EXPECT_EQ(group.apply(farewell), Outcome::left);
  EXPECT_FALSE(group.is_current());
  EXPECT_EQ(group.apply(full(5, {"#b#x", "#a#x"})), Outcome::current) << "and may begin anew";
}

TEST(MemberList, GoesLikeADumbModel) {
  std::mt19937_64 random(7);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  const auto daemon_of = [](const std::string& name) { return name.substr(name.rfind('#')); };
  MemberList list;
  Names model;
  for (std::size_t round = 0; round < 2'000; ++round) {
    Names joined, left;
    for (std::size_t count = below(4); count > 0; --count) {
      joined.push_back("#c" + std::to_string(round) + "." + std::to_string(count) + "#d" + std::to_string(below(5)));
    }
    for (std::size_t count = below(5); count > 0 && model.size() > 20; --count) {
      const auto at = model.begin() + static_cast<std::ptrdiff_t>(below(model.size()));
      left.push_back(*at);
      model.erase(at);
    }
    model.insert(model.end(), joined.begin(), joined.end());
    std::stable_sort(model.begin(), model.end(),
                     [&](const auto& a, const auto& b) { return daemon_of(a) < daemon_of(b); });
    ASSERT_TRUE(list.apply(std::vector<std::string_view>(joined.begin(), joined.end()),
                           std::vector<std::string_view>(left.begin(), left.end())));
    ASSERT_EQ(list.names(), model);
    ASSERT_EQ(list.digest(), MemberList(model).digest());
  }
  EXPECT_GE(model.size(), 20u);
}

}  // namespace
}  // namespace spindle
