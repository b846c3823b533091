// The checker of access on histories that keep to rules, and on ones that break them in each way.
#include <gtest/gtest.h>

#include "daemon/base/result.h"
#include "tests/checkers/checkers.h"
#include "tests/checkers/rules.h"

namespace spindled::checkers {
namespace {

using spindle::ViewCause;

RightSet rights(std::initializer_list<Right> all) {
  RightSet set;
  for (const Right each : all) set.insert(each);
  return set;
}

AccessConfig only(std::vector<std::string> who, std::vector<std::string> groups, RightSet allow) {
  AccessConfig rules;
  rules.rules = {{std::move(who), std::move(groups), allow}};
  return rules;
}

/// Clients of one daemon, and the rules that it goes by: everything at a second of its own.
class Story {
 public:
  Story& rules(int second, AccessConfig rules) {
    history_.rules.push_back({"d", at(second), std::move(rules)});
    return *this;
  }
  /// It connects, and is welcome a second later.
  Story& client(int second, const std::string& name, std::vector<std::string> identities = {"cert:a"}) {
    connect(history_.clients, second, name, std::move(identities));
    current_->name = "#" + name + "#d";
    current_->since = at(second + 1);
    return *this;
  }
  Story& turned_away(int second, const std::string& name, Errc code, std::vector<std::string> identities = {"cert:a"}) {
    connect(history_.turned_away, second, name, std::move(identities));
    return add(second + 1, Closed{static_cast<std::uint16_t>(code), {}});
  }
  Story& sends(int second, std::uint64_t number, std::vector<std::string> groups = {"g"}) {
    return add(second, Sent{message(number, std::move(groups)), false});
  }
  /// One of its own.
  Story& gets(int second, std::uint64_t number, std::vector<std::string> groups = {"g"}) {
    return add(second, Delivered{message(number, std::move(groups))});
  }
  Story& refused(int second, std::uint64_t messages, const std::string& name = "g") {
    return add(second, MessagesRefused{name, messages});
  }
  Story& joins(int second, const std::string& group = "g") { return add(second, JoinRequested{group}); }
  Story& leaves(int second, bool by_rules = false) { return add(second, LeaveRequested{"g", by_rules}); }
  Story& join_refused(int second, Errc code = Errc::access_denied) {
    return add(second, Refused{"g", static_cast<std::uint16_t>(code)});
  }
  /// With the client in it, which has joined.
  Story& view(int second, const std::string& group = "g") {
    const auto position = static_cast<std::uint64_t>(second);
    return add(second, GroupView{group, {1, "d", position}, ViewCause::join, {current_->name}, {}, {current_->name}});
  }
  Story& farewell(int second) { return add(second, GroupView{"g", {1, "d", 99}, ViewCause::leave, {}, {}, {}}); }
  Story& closes(int second, Errc code) { return add(second, Closed{static_cast<std::uint16_t>(code), {}}); }
  Story& reads_slowly(int second) {
    current_->slow_since = at(second);
    return *this;
  }
  Story& is_killed(int second) {
    current_->killed = true;
    return closes(second, Errc::closed_by_client);
  }

  Story& goodbye_is_not_answered() {
    current_->bye_unanswered = true;
    return *this;
  }

  std::size_t violations(bool at_rest = false) {
    history_.end = at(100);
    return check_access(history_, at_rest).size();
  }

 private:
  static Time at(int second) { return Time(std::chrono::seconds(second)); }
  void connect(std::vector<ClientHistory>& among, int second, const std::string& name,
               std::vector<std::string> identities) {
    current_ = &among.emplace_back();
    current_->daemon = "d";
    current_->wish = name;
    current_->identities = std::move(identities);
    current_->connected = at(second);
  }
  MessageRecord message(std::uint64_t number, std::vector<std::string> groups) const {
    return {current_->name, number, 10, Service::agreed, 0, std::move(groups)};
  }
  Story& add(int second, decltype(Event::what) what) {
    current_->events.push_back({at(second), std::move(what)});
    return *this;
  }

  History history_;
  ClientHistory* current_ = nullptr;
};

const AccessConfig kAll = only({"anyone"}, {"*"}, RightSet::all());
const AccessConfig kNothing = only({"anyone"}, {"*"}, {});

TEST(CheckerRules, AreReadAsThePageSays) {
  AccessConfig rules;
  rules.rules = {{{"cert:a*"}, {"x", "p.*"}, rights({Right::send})}, {{"anyone"}, {"*.b"}, RightSet::all()}};
  EXPECT_TRUE(rules_allow(rules, {"uid:1", "cert:ab"}, Right::send, "p.b"));
  EXPECT_FALSE(rules_allow(rules, {"cert:ab"}, Right::join, "p.b")) << "the first decides";
  EXPECT_TRUE(rules_allow(rules, {}, Right::join, "p.b"));
  EXPECT_FALSE(rules_allow(rules, {}, Right::send, "x")) << "none names it";
  EXPECT_TRUE(rules_allow({}, {}, Right::create, "x")) << "without rules";
  rules.names = {{"f*d", {"cert:*"}}, {"*", {}}};
  EXPECT_TRUE(rules_allow_name(rules, {"cert:b"}, "feed"));
  EXPECT_FALSE(rules_allow_name(rules, {"uid:1"}, "fd"));
  EXPECT_FALSE(rules_allow_name(rules, {"cert:b"}, "fe"));
  rules.quotas = {{{"uid:1"}, {2, 0, 0}}, {{"anyone"}, {3, 0, 0}}};
  EXPECT_EQ(quota_of(rules, {"uid:1"}).connections, 2u);
  EXPECT_EQ(quota_of(rules, {}).connections, 3u);
  EXPECT_EQ(quota_of({}, {}).connections, 0u);
}

TEST(CheckerAccess, WhatGoesByRules) {
  Story story;
  story.rules(0, kAll).client(1, "m").joins(3).view(4).sends(5, 1).gets(6, 1);
  story.rules(10, kNothing).leaves(11, true).farewell(12).sends(13, 2).refused(14, 1).joins(15).join_refused(16);
  EXPECT_EQ(story.violations(true), 0u);
}

TEST(CheckerAccess, MessagesThatWereNeverAllowed) {
  EXPECT_EQ(Story().rules(0, kNothing).client(1, "m").sends(5, 1).gets(7, 1).violations(), 1u);
  EXPECT_EQ(Story().rules(0, kNothing).client(1, "m").sends(5, 1).gets(7, 1).rules(6, kAll).violations(), 0u);
  EXPECT_EQ(Story().rules(0, kAll).client(1, "m").sends(5, 1).gets(7, 1).rules(6, kNothing).violations(), 0u);
  const AccessConfig g = only({"anyone"}, {"g"}, RightSet::all());
  EXPECT_EQ(Story().rules(0, g).client(1, "m").sends(5, 1, {"g", "h"}).gets(7, 1, {"g", "h"}).violations(), 1u);
}

TEST(CheckerAccess, MessagesThatWereRefused) {
  EXPECT_EQ(Story().rules(0, kAll).client(1, "m").sends(5, 1).refused(6, 1).violations(), 1u);
  EXPECT_EQ(Story().rules(0, kAll).client(1, "m").sends(5, 1).refused(8, 1).rules(7, kNothing).violations(), 0u);
  EXPECT_EQ(Story().rules(0, kNothing).client(1, "m").sends(5, 1).refused(6, 2).violations(), 1u) << "more than sent";
  EXPECT_EQ(Story().rules(0, kNothing).client(1, "m").sends(7, 1).refused(6, 1).violations(), 1u) << "sent later";
  EXPECT_EQ(Story().rules(0, kNothing).client(1, "m").sends(5, 1).refused(6, 1, "h").violations(), 1u);
  Story both;
  both.rules(0, kAll).client(1, "m").sends(5, 1).gets(6, 1).rules(6, kNothing).refused(7, 1);
  EXPECT_EQ(both.violations(), 1u) << "refused and delivered";
  /// Of two messages that were never allowed one is told.
  const auto untold = [](bool at_rest, Errc closed, bool killed, bool bye_unanswered = false) {
    Story story;
    story.rules(0, kNothing).client(1, "m").sends(5, 1).sends(5, 2).refused(6, 1);
    if (killed) story.is_killed(7);
    if (bye_unanswered) story.goodbye_is_not_answered();
    if (closed != Errc()) story.closes(7, closed);
    return story.violations(at_rest);
  };
  EXPECT_EQ(untold(false, Errc(), false), 0u);
  EXPECT_EQ(untold(true, Errc(), false), 1u);
  EXPECT_EQ(untold(true, Errc::connection_lost, false), 0u);
  EXPECT_EQ(untold(true, Errc(), true), 0u);
  EXPECT_EQ(untold(false, Errc::closed_by_client, false), 1u) << "it is told before it goes";
  EXPECT_EQ(untold(false, Errc::closed_by_client, false, true), 0u) << "it did not read to the end";
}

TEST(CheckerAccess, JoinsThatWereNeverAllowed) {
  EXPECT_EQ(Story().rules(0, kNothing).client(1, "m").joins(3).view(5).violations(), 2u) << "to join, and to create";
  EXPECT_EQ(Story().rules(0, kNothing).client(1, "m").joins(3).view(5).rules(4, kAll).violations(), 0u);
  const AccessConfig join = only({"anyone"}, {"*"}, rights({Right::join}));
  EXPECT_EQ(Story().rules(0, join).client(1, "m").joins(3).view(5).violations(true), 1u) << "to create";
  Story second;
  second.rules(0, only({"cert:a"}, {"*"}, RightSet::all())).client(1, "m").joins(2).view(3);
  second.rules(4, join).client(1, "n", {"cert:b"}).joins(5).view(6);
  EXPECT_EQ(second.violations(true), 0u) << "somebody is there";
}

TEST(CheckerAccess, JoinsThatWereRefused) {
  EXPECT_EQ(Story().rules(0, kAll).client(1, "m").joins(3).join_refused(5).violations(), 1u);
  EXPECT_EQ(Story().rules(0, kAll).client(1, "m").joins(3).join_refused(5).rules(4, kNothing).violations(), 0u);
  EXPECT_EQ(Story().client(1, "m").joins(3).join_refused(5).rules(6, kNothing).violations(), 1u) << "before rules";
  AccessConfig rules = only({"cert:a"}, {"*"}, RightSet::all());
  rules.rules.push_back({{"anyone"}, {"*"}, rights({Right::join})});
  EXPECT_EQ(Story().rules(0, rules).client(1, "n", {"cert:b"}).joins(5).join_refused(6).violations(), 0u);
  Story populated;
  populated.rules(0, rules).client(1, "m").joins(2).view(3);
  populated.client(1, "n", {"cert:b"}).joins(5).join_refused(6);
  EXPECT_EQ(populated.violations(), 1u) << "it need not be created";
  Story unread;
  unread.rules(0, rules).client(1, "m").joins(2).view(3).reads_slowly(4);
  unread.client(5, "n", {"cert:b"}).joins(6).join_refused(7);
  EXPECT_EQ(unread.violations(), 0u) << "who was there may have been put out, and does not read it";
  Story left;
  left.rules(0, rules).client(1, "m").joins(2).view(3).leaves(9);
  left.client(5, "n", {"cert:b"}).joins(7).join_refused(8);
  left.rules(4, kNothing).rules(5, rules);
  EXPECT_EQ(left.violations(), 0u) << "who was there had to leave, and does not know it yet";
}

TEST(CheckerAccess, MembersThatMayNotStay) {
  Story story;
  story.rules(0, kAll).client(1, "m").joins(3).view(4).rules(5, kNothing);
  EXPECT_EQ(story.violations(), 0u);
  EXPECT_EQ(story.violations(true), 1u);
  // What is told before it has left is of the stay that ends.
  EXPECT_EQ(story.leaves(6, true).joins(7).join_refused(8).farewell(9).violations(true), 0u);
}

TEST(CheckerAccess, Names) {
  AccessConfig rules;
  rules.names = {{"m*", {"cert:b"}}};
  EXPECT_EQ(Story().rules(0, rules).client(1, "m").violations(), 1u);
  EXPECT_EQ(Story().rules(0, rules).client(1, "m", {"cert:b"}).violations(), 0u);
  EXPECT_EQ(Story().client(1, "m").rules(2, rules).violations(), 0u);
  EXPECT_EQ(Story().rules(0, rules).turned_away(1, "m", Errc::access_denied).violations(), 0u);
  EXPECT_EQ(Story().rules(0, rules).turned_away(1, "n", Errc::access_denied).violations(), 1u);
}

TEST(CheckerAccess, QuotasOfConnections) {
  AccessConfig rules;
  rules.quotas = {{{"anyone"}, {1, 0, 0}}};
  EXPECT_EQ(Story().rules(0, rules).client(1, "m").client(3, "n").violations(), 1u);
  EXPECT_EQ(Story().rules(0, rules).client(1, "m").client(3, "n", {"cert:b"}).violations(), 0u);
  EXPECT_EQ(Story().rules(0, rules).client(1, "m").is_killed(3).client(5, "n").violations(), 0u);
  EXPECT_EQ(Story().rules(0, rules).client(1, "m").is_killed(7).client(5, "n").violations(), 1u);
  const auto beside = [&](Errc code) {
    return Story().rules(0, rules).client(1, "m").closes(7, code).client(5, "n").violations();
  };
  EXPECT_EQ(beside(Errc::slow_receiver), 0u) << "its daemon may have closed it long before";
  EXPECT_EQ(beside(Errc::closed_by_client), 0u) << "likewise";
  EXPECT_EQ(Story().rules(0, rules).client(1, "m").turned_away(3, "n", Errc::too_many_sessions).violations(), 0u);
  EXPECT_EQ(Story().rules(0, rules).turned_away(3, "n", Errc::too_many_sessions).violations(), 1u);
  const auto beside_one_untold = [&](Errc code) {
    Story story;
    story.rules(0, rules).turned_away(1, "m", code).turned_away(3, "n", Errc::too_many_sessions);
    return story.violations();
  };
  EXPECT_EQ(beside_one_untold(Errc::connection_lost), 0u) << "its daemon may have let it in, and crashed";
  EXPECT_EQ(beside_one_untold(Errc::too_many_sessions), 2u);
}

TEST(CheckerAccess, QuotasOfMemberships) {
  AccessConfig rules;
  rules.quotas = {{{"anyone"}, {0, 1, 0}}};
  Story two;
  two.rules(0, rules).client(1, "m").joins(2).view(3).client(1, "n").joins(4, "h").view(5, "h");
  EXPECT_EQ(two.violations(), 1u);
  Story one;
  one.rules(0, rules).client(1, "m").joins(2).view(3).leaves(4).client(1, "n").joins(5, "h").view(6, "h");
  EXPECT_EQ(one.violations(), 0u);
  EXPECT_EQ(Story().rules(0, rules).client(1, "m").joins(2).join_refused(3, Errc::too_many_memberships).violations(),
            1u);
  Story refused;
  refused.rules(0, rules).client(1, "m").joins(2, "h").view(3, "h");
  EXPECT_EQ(refused.joins(4).join_refused(5, Errc::too_many_memberships).violations(), 0u);
}

}  // namespace
}  // namespace spindled::checkers
