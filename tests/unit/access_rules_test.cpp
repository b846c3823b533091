// What rules of access say, held to a dumb model.
#include "daemon/access/access_rules.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>

#include "tests/support/nobody.h"

namespace spindled {
namespace {

using Names = std::vector<std::string>;

RightSet rights(std::initializer_list<Right> each) {
  RightSet set;
  for (const Right right : each) set.insert(right);
  return set;
}

Peer peer_who_is(Names identities) { return Peer("a client", std::move(identities)); }

TEST(AccessRules, AStarIsAnyBytesOrNone) {
  EXPECT_TRUE(matches("prices.*", "prices."));
  EXPECT_TRUE(matches("prices.*", "prices.fx.eur"));
  EXPECT_FALSE(matches("prices.*", "prices"));
  EXPECT_TRUE(matches("*.eur", "prices.eur.eur"));
  EXPECT_TRUE(matches("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(matches("a*b*c", "a-b-b-c-"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("**", "abc"));
  EXPECT_FALSE(matches("prices.?", "prices.a")) << "nothing else stands for other bytes";
}

TEST(AccessRules, AStarIsWhatItIsInARegularExpression) {
  std::mt19937 random(1);
  const auto text = [&](std::string_view alphabet) {
    std::string made;
    for (std::size_t i = random() % 9; i > 0; --i) made += alphabet[random() % alphabet.size()];
    return made;
  };
  int matched = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string pattern = text("ab*"), subject = text("ab");
    std::string expression;
    for (const char byte : pattern) expression += byte == '*' ? std::string(".*") : std::string(1, byte);
    const bool expected = std::regex_match(subject, std::regex(expression));
    ASSERT_EQ(matches(pattern, subject), expected) << pattern << " against " << subject;
    matched += expected ? 1 : 0;
  }
  EXPECT_GT(matched, 1000);
}

TEST(AccessRules, WithoutRulesAllIsAllowed) { EXPECT_EQ(rights_of({}, peer_who_is({}), "news"), RightSet::all()); }

TEST(AccessRules, TheFirstThatNamesBothDecidesAlone) {
  AccessConfig access;
  access.rules = {{{"cert:feed-*"}, {"prices.*"}, rights({Right::send})},
                  {{"cert:feed-1", "gid:27"}, {"*"}, rights({Right::join, Right::create})},
                  {{"anyone"}, {"lobby"}, rights({Right::join, Right::send})}};
  EXPECT_EQ(rights_of(access, peer_who_is({"cert:feed-1"}), "prices.eur"), rights({Right::send}))
      << "the second rule names it, too, and is not asked";
  EXPECT_EQ(rights_of(access, peer_who_is({"cert:feed-1"}), "news"), rights({Right::join, Right::create}));
  EXPECT_EQ(rights_of(access, peer_who_is({"cert:feed-2"}), "news"), RightSet());
  EXPECT_EQ(rights_of(access, peer_who_is({"uid:1000", "gid:1000", "gid:27"}), "news"),
            rights({Right::join, Right::create}))
      << "by any of its identities";
  EXPECT_EQ(rights_of(access, peer_who_is({}), "lobby"), rights({Right::join, Right::send}))
      << "anyone is everybody, also who has proved nothing";
  EXPECT_EQ(rights_of(access, peer_who_is({}), "news"), RightSet()) << "what no rule allows is denied";
}

TEST(AccessRules, NobodyIsAnyoneByNameOnly) {
  AccessConfig access;
  access.rules = {{{"cert:*"}, {"*"}, RightSet::all()}};
  EXPECT_EQ(rights_of(access, peer_who_is({"local"}), "news"), RightSet());
  EXPECT_EQ(rights_of(access, peer_who_is({"operator:cert"}), "news"), RightSet());
  EXPECT_EQ(rights_of(access, peer_who_is({"cert:a"}), "news"), RightSet::all());
}

TEST(AccessRules, ReservedNamesAreForThoseNamed) {
  AccessConfig access;
  access.names = {{"feed-*", {"cert:feed"}}, {"*-test", {"local"}}};
  EXPECT_TRUE(may_be_called(access, peer_who_is({"cert:feed"}), "feed-1"));
  EXPECT_FALSE(may_be_called(access, peer_who_is({"local"}), "feed-1"));
  EXPECT_FALSE(may_be_called(access, peer_who_is({"local"}), "feed-test")) << "the first that is for the name decides";
  EXPECT_TRUE(may_be_called(access, peer_who_is({"local"}), "a-test"));
  EXPECT_FALSE(may_be_called(access, peer_who_is({}), "a-test"));
  EXPECT_TRUE(may_be_called(access, peer_who_is({}), "ann")) << "nobody has reserved it";
}

TEST(AccessRules, EachLookCountsHoweverFewThereAre) {
  for (const std::size_t patterns : {1u, 15u, 16u, 100u}) {
    NodeConfig config;
    config.access.rules = {{Names(patterns, "nobody"), {"*"}, RightSet::all()}};
    config.access.rules.front().groups.clear();
    test::Silence silence;
    Context context(config, silence, 1);
    const Peer peer = peer_who_is({});
    ClientAccess access(context, peer);
    for (int i = 0; i < 160; ++i) EXPECT_FALSE(access.may(Right::send, "news"));
    EXPECT_EQ(context.turn.checked(), 10 * patterns);
  }
}

/// All rights, identities and groups there are here, against the sentence of the page: the first rule that names client
/// and group decides alone, and what no rule decides is denied.
TEST(AccessRules, AreWhatTheModelSays) {
  const Names identities{"uid:1", "gid:1", "gid:2", "cert:a", "cert:b", "operator:a", "local"};
  const Names groups{"a", "ab", "b", "ba", "#a#d", "#b#d"};
  const Names who{"uid:1", "gid:2", "cert:*", "cert:a", "operator:*", "local", "anyone", "*:a", "*"};
  const Names patterns{"a", "a*", "*a", "*", "#*", "b*a", "#a#*"};
  std::mt19937 random(2);
  const auto some_of = [&](const Names& all, std::size_t most) {
    Names chosen;
    for (std::size_t i = 1 + random() % most; i > 0; --i) chosen.push_back(all[random() % all.size()]);
    return chosen;
  };
  const auto fits = [](const std::string& pattern, const std::string& text) {
    std::string expression;
    for (const char byte : pattern) expression += byte == '*' ? std::string(".*") : std::string(1, byte);
    return std::regex_match(text, std::regex(expression));
  };
  int allowed = 0;
  for (int round = 0; round < 1'500; ++round) {
    AccessConfig access;
    for (std::size_t i = 1 + random() % 4; i > 0; --i) {
      AccessRule rule{some_of(who, 2), some_of(patterns, 2), {}};
      for (std::size_t right = 0; right < kRights; ++right) {
        if (random() % 2 == 0) rule.allow.insert(static_cast<Right>(right));
      }
      access.rules.push_back(rule);
    }
    const Peer peer = peer_who_is(random() % 8 == 0 ? Names() : some_of(identities, 3));
    const std::string group = groups[random() % groups.size()];
    RightSet expected;
    for (const AccessRule& rule : access.rules) {
      bool names_group = false, names_client = false;
      for (const std::string& pattern : rule.groups) names_group = names_group || fits(pattern, group);
      for (const std::string& each : rule.who) {
        names_client = names_client || each == "anyone";
        for (const std::string& identity : peer.identities) names_client = names_client || fits(each, identity);
      }
      if (!names_group || !names_client) continue;
      expected = rule.allow;
      break;
    }
    ASSERT_EQ(rights_of(access, peer, group), expected) << "round " << round << ", group " << group;
    allowed += expected == RightSet() ? 0 : 1;
  }
  EXPECT_GT(allowed, 300);
}

}  // namespace
}  // namespace spindled
