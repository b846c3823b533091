// What the rules of access make of a client's frames, within a whole daemon.
#include <random>

#include "tests/unit/sessions_harness.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;
using protocol::ClientFrame;

class SessionAccess : public test::SessionsTest {
 protected:
  static RightSet rights(std::initializer_list<Right> each) {
    RightSet set;
    for (const Right right : each) set.insert(right);
    return set;
  }
  void take(std::vector<AccessRule> rules, std::vector<ReservedNames> names = {}) {
    AccessConfig access;
    access.rules = std::move(rules);
    access.names = std::move(names);
    reconfigure(access);
  }
  std::vector<protocol::Refused> refusals(ConnectionId connection) {
    std::vector<protocol::Refused> all;
    for (const ByteView body : frames_of(connection, ClientFrame::refused)) {
      const auto refused = protocol::read_refused(body);
      if (!refused) {
        ADD_FAILURE() << "malformed";
        continue;
      }
      EXPECT_EQ(refused->code, static_cast<std::uint16_t>(Errc::access_denied));
      all.push_back(*refused);
    }
    return all;
  }
  std::size_t views(ConnectionId connection) { return frames_of(connection, ClientFrame::view).size(); }
};

TEST_F(SessionAccess, JoinsTakeTheRightToJoinAndNewGroupsThatToCreate) {
  take({{{"cert:boss"}, {"*"}, RightSet::all()}, {{"cert:ann"}, {"news*"}, rights({Right::join})}});
  const ConnectionId boss = open({"cert:boss"}, "boss");
  const ConnectionId ann = open({"cert:ann"}, "ann");
  EXPECT_EQ(ask(ann, ClientFrame::join, "news"), Errc::access_denied) << "nobody is in it: she would create it";
  EXPECT_EQ(ask(boss, ClientFrame::join, "news"), kDone);
  EXPECT_EQ(ask(ann, ClientFrame::join, "news"), kDone);
  EXPECT_EQ(views(ann), 1u);
  ask(boss, ClientFrame::join, "other");
  EXPECT_EQ(ask(ann, ClientFrame::join, "other"), Errc::access_denied) << "no rule is for that group";
  EXPECT_EQ(count(Counter::access_denied), 2u);
  EXPECT_EQ(logged("client ann from a client, cert:ann, may not join other"), 1u);
  EXPECT_EQ(ask(ann, ClientFrame::leave, "news"), kDone) << "to leave takes no right";
}

TEST_F(SessionAccess, MessagesThatAreNotAllowedGoNowhereAndTheClientIsTold) {
  take({{{"cert:boss"}, {"*"}, RightSet::all()}, {{"anyone"}, {"news"}, rights({Right::join, Right::send})}});
  const ConnectionId boss = open({"cert:boss"}, "boss");
  const ConnectionId ann = open({}, "ann");
  ask(boss, ClientFrame::join, "news");
  ask(boss, ClientFrame::join, "orders");
  std::vector<std::uint8_t> frames;
  protocol::write_define(frames, {0, {"orders"}});
  protocol::write_define(frames, {1, {"news"}});
  protocol::write_define(frames, {2, {"news", "orders"}});
  protocol::write_define(frames, {3, {"#boss#alpha"}});
  write_typed(frames, 1, 10, spindle::Service::agreed, 0);
  write_typed(frames, 2, 10, spindle::Service::agreed, 1);
  write_typed(frames, 3, 200'000, spindle::Service::agreed, 0);  // in several frames
  write_typed(frames, 4, 10, spindle::Service::agreed, 2);
  write_typed(frames, 5, 10, spindle::Service::agreed, 3);
  write_typed(frames, 6, 10, spindle::Service::agreed, 1);
  read(ann, frames);
  for (int i = 0; i < 5; ++i) turn();
  EXPECT_EQ(got(boss), (std::vector<std::pair<std::uint16_t, std::size_t>>{{2, 10}, {6, 10}}));
  std::map<std::string, std::uint64_t, std::less<>> told;
  for (const protocol::Refused& refused : refusals(ann)) told[std::string(refused.name)] += refused.messages;
  EXPECT_EQ(told.size(), 2u);
  EXPECT_EQ(told["orders"], 3u) << "of several groups, the one that is not allowed is named";
  EXPECT_EQ(told["#boss#alpha"], 1u) << "private names are names, too";
  EXPECT_EQ(count(Counter::access_denied), 4u);
  EXPECT_EQ(logged("may not send to orders"), 2u) << "once for each set";

  // The number stands for another set: what was refused of the first was told.
  frames.clear();
  write_typed(frames, 7, 10, spindle::Service::agreed, 0);
  protocol::write_define(frames, {0, {"news"}});
  write_typed(frames, 8, 10, spindle::Service::agreed, 0);
  protocol::write_bye(frames);
  read(ann, frames);
  for (int i = 0; i < 3; ++i) turn();
  EXPECT_EQ(refusals(ann).back().messages, 1u);
  EXPECT_EQ(got(boss).back().first, 8u);
  EXPECT_EQ(close_of(ann).taken, 8u) << "those that were refused do not wait";
}

TEST_F(SessionAccess, IndependentFlowsGoOnBesideWhatIsRefused) {
  take({{{"anyone"}, {"news"}, RightSet::all()}});
  settle();
  const ConnectionId ann = accept();
  std::vector<std::uint8_t> frames;
  protocol::write_hello(frames, {.flags = protocol::kIndependentFlowsBit, .name = "ann"});
  protocol::write_define(frames, {0, {"orders"}});
  write_typed(frames, 1, 100, spindle::Service::agreed, 0);
  read(ann, frames);
  turn();
  const std::vector<ByteView> admitted = frames_of(ann, ClientFrame::admitted);
  ASSERT_EQ(admitted.size(), 1u);
  EXPECT_EQ(protocol::read_admitted(admitted.front())->bytes, protocol::flow_bytes(100)) << "its window opens again";
  EXPECT_EQ(refusals(ann).size(), 1u);
}

TEST_F(SessionAccess, OneThatDoesNotReadIsToldLaterAndCostsNoMemory) {
  take({{{"anyone"}, {"news"}, RightSet::all()}});
  const ConnectionId ann = open_member();
  driver_.deaf = true;
  std::vector<std::uint8_t> frames;
  // Its own messages fill its queue.
  for (int i = 0; i < 30; ++i) write_typed(frames, 1, 1000, spindle::Service::agreed, 0);
  protocol::write_define(frames, {1, {"orders"}});
  read(ann, frames);
  for (int i = 0; i < 5; ++i) turn();
  const std::size_t before = node_.memory().session_queue;
  for (int round = 0; round < 50; ++round) {
    frames.clear();
    for (int i = 0; i < 100; ++i) write_typed(frames, 2, 10, spindle::Service::agreed, 1);
    read(ann, frames);
    turn();
  }
  EXPECT_LT(node_.memory().session_queue, before + 1000);
  EXPECT_EQ(count(Counter::access_denied), 5000u);
  driver_.deaf = false;
  node_.handle_writable(now_, ann);
  for (int i = 0; i < 3; ++i) turn();
  std::uint64_t told = 0;
  for (const protocol::Refused& refused : refusals(ann)) told += refused.messages;
  EXPECT_EQ(told, 5000u);
}

TEST_F(SessionAccess, OneThatSaysGoodbyeIsToldBeforeHoweverMuchWaits) {
  take({{{"anyone"}, {"news"}, RightSet::all()}});
  const ConnectionId ann = open_member();
  driver_.deaf = true;
  std::vector<std::uint8_t> frames;
  for (int i = 0; i < 100; ++i) write_typed(frames, 1, 1000, spindle::Service::agreed, 0);
  protocol::write_define(frames, {1, {"orders"}});
  read(ann, frames);
  for (int i = 0; i < 5; ++i) turn();
  ASSERT_GT(node_.memory().session_queue, SessionConfig().queue_full_price_bytes / 2);
  frames.clear();
  for (int i = 0; i < 7; ++i) write_typed(frames, 2, 10, spindle::Service::agreed, 1);
  protocol::write_bye(frames);
  read(ann, frames);
  turn();
  driver_.deaf = false;
  node_.handle_writable(now_, ann);
  ASSERT_EQ(refusals(ann).size(), 1u);
  EXPECT_EQ(refusals(ann)[0].messages, 7u);
  EXPECT_EQ(close_of(ann).code, static_cast<std::uint16_t>(Errc::closed_by_client));
}

TEST_F(SessionAccess, ReservedNamesAreRefusedToOthers) {
  take({}, {{"feed*", {"cert:feed"}}});
  const ConnectionId feed = open({"cert:feed"}, "feed-1");
  EXPECT_EQ(frames_of(feed, ClientFrame::welcome).size(), 1u);
  const ConnectionId other = open({"local"}, "feed-2");
  EXPECT_TRUE(frames_of(other, ClientFrame::welcome).empty());
  EXPECT_EQ(close_of(other).code, static_cast<std::uint16_t>(Errc::access_denied));
  EXPECT_EQ(count(Counter::access_denied), 1u);
  const ConnectionId unnamed = open({"local"}, "");
  EXPECT_EQ(frames_of(unnamed, ClientFrame::welcome).size(), 1u) << "a name that the daemon chooses is nobody's";
}

TEST_F(SessionAccess, NewRulesTakeMembersOutAndLeaveOthersAlone) {
  const ConnectionId ann = open({"cert:ann"}, "ann");
  const ConnectionId bob = open({"cert:bob"}, "bob");
  for (const char* group : {"news", "orders", "prices"}) {
    ask(ann, ClientFrame::join, group);
    ask(bob, ClientFrame::join, group);
  }
  std::vector<std::uint8_t> frames;
  protocol::write_define(frames, {0, {"news"}});
  write_typed(frames, 1, 10);
  read(ann, frames);
  for (int i = 0; i < 3; ++i) turn();
  ASSERT_EQ(got(bob).size(), 1u);

  take({{{"cert:bob"}, {"*"}, RightSet::all()}, {{"cert:ann"}, {"prices"}, RightSet::all()}});
  std::vector<std::string> out;
  for (const protocol::Refused& refused : refusals(ann)) {
    EXPECT_EQ(refused.what, protocol::Refused::What::membership);
    out.emplace_back(refused.name);
  }
  std::sort(out.begin(), out.end());
  EXPECT_EQ(out, (std::vector<std::string>{"news", "orders"}));
  EXPECT_TRUE(refusals(bob).empty());
  EXPECT_EQ(node_.memory().memberships, 4u);
  frames.clear();
  write_typed(frames, 2, 10);
  read(ann, frames);
  for (int i = 0; i < 3; ++i) turn();
  EXPECT_EQ(got(bob).size(), 1u) << "what was defined before is judged anew";

  take({});
  frames.clear();
  write_typed(frames, 3, 10);
  read(ann, frames);
  for (int i = 0; i < 3; ++i) turn();
  EXPECT_EQ(got(bob).size(), 2u);
}

/// Two clients ask for whatever they like, under rules that change, and a third one, which may do everything, sees what
/// arrives. The model knows patterns that end with a star, and nothing of versions, sets and views.
class SessionAccessModel : public SessionAccess {
 protected:
  struct Client {
    ConnectionId connection{};
    std::vector<std::string> identities;
    std::set<std::string> joined;
  };

  static bool means(const std::string& pattern, const std::string& text) {
    return pattern.ends_with('*') ? text.starts_with(pattern.substr(0, pattern.size() - 1)) : pattern == text;
  }
  bool may(const Client& client, Right right, const std::string& group) const {
    for (const AccessRule& rule : rules_) {
      const bool is_meant = rule.who.front() == "anyone" ||
                            std::any_of(client.identities.begin(), client.identities.end(),
                                        [&](const std::string& each) { return means(rule.who.front(), each); });
      if (is_meant && means(rule.groups.front(), group)) return rule.allow.contains(right);
    }
    return false;
  }
  bool is_empty(const std::string& group) const {
    return std::none_of(clients_.begin(), clients_.end(),
                        [&](const Client& client) { return client.joined.contains(group); });
  }
  std::size_t pick(std::size_t count) { return random_() % count; }

  void draw_rules() {
    constexpr const char* kWho[] = {"cert:a", "cert:*", "uid:7",     "gid:9",   "gid:*",
                                    "local",  "anyone", "token:web", "token:*", "uid:*"};
    constexpr const char* kWhat[] = {"g1", "g*", "x", "*", "#*", "#boss*"};
    rules_ = {{{"cert:boss"}, {"*"}, RightSet::all()}};
    for (std::size_t i = pick(5); i > 0; --i) {
      RightSet allow;
      for (std::size_t right = 0; right < kRights; ++right) {
        if (pick(3) != 0) allow.insert(static_cast<Right>(right));
      }
      rules_.push_back({{kWho[pick(std::size(kWho))]}, {kWhat[pick(std::size(kWhat))]}, allow});
    }
    take(rules_);
    for (Client& client : clients_) {
      std::erase_if(client.joined, [&](const std::string& group) { return !may(client, Right::join, group); });
    }
  }
  void request(Client& client, ClientFrame type, const std::string& group) {
    const bool is_member = client.joined.contains(group);
    Errc expected = kDone;
    if (type == ClientFrame::join) {
      const bool allowed = may(client, Right::join, group) && (!is_empty(group) || may(client, Right::create, group));
      expected = !allowed ? Errc::access_denied : is_member ? Errc::already_a_member : kDone;
      if (expected == kDone) client.joined.insert(group);
    } else if (type == ClientFrame::leave) {
      expected = is_member ? kDone : Errc::not_a_member;
      client.joined.erase(group);
    } else if (!is_member) {
      expected = Errc::not_a_member;
    }
    EXPECT_EQ(ask(client.connection, type, group), expected) << static_cast<int>(type) << " of " << group;
  }
  void send(Client& client, const std::string& to) {
    Client& boss = clients_.front();
    const bool arrives = may(client, Right::send, to) && (to.starts_with('#') || boss.joined.contains(to));
    const std::size_t before = got(boss.connection).size();
    std::vector<std::uint8_t> frames;
    protocol::write_define(frames, {1, {to}});
    write_typed(frames, 7, 10, spindle::Service::agreed, 1);
    read(client.connection, frames);
    for (int i = 0; i < 3; ++i) turn();
    EXPECT_EQ(got(boss.connection).size() - before, arrives ? 1u : 0u) << "to " << to;
  }

  std::mt19937 random_{7};
  std::vector<AccessRule> rules_;
  std::vector<Client> clients_;  // the first one is the boss
};

TEST_F(SessionAccessModel, RightsIdentitiesAndRequestsAreAsTheModelHasThem) {
  const std::pair<const char*, std::vector<std::string>> who[] = {{"boss", {"cert:boss"}}, {"ann", {"cert:a"}}};
  for (const auto& [name, identities] : who) clients_.push_back({open(identities, name), identities, {}});
  driver_.tokens.emplace("secret", "token:web");
  const std::vector<std::string> account{"uid:7", "gid:7", "gid:9"};
  clients_.push_back({open(account, "bob", "secret"), {"token:web", "uid:7", "gid:7", "gid:9"}, {}});
  constexpr const char* kGroups[] = {"g1", "g2", "x"};
  for (int round = 0; round < 150 && !HasFailure(); ++round) {
    draw_rules();
    for (int i = 0; i < 20 && !HasFailure(); ++i) {
      Client& client = clients_[pick(clients_.size())];
      const std::string group = kGroups[pick(std::size(kGroups))];
      constexpr ClientFrame kRequests[] = {ClientFrame::join, ClientFrame::leave, ClientFrame::view_request};
      if (pick(3) == 0) {
        send(client, pick(4) == 0 ? "#boss#alpha" : group);
      } else {
        request(client, kRequests[pick(std::size(kRequests))], group);
      }
    }
  }
}

/// A thousand rules for others, and one for everybody behind them.
std::vector<AccessRule> many_rules() {
  std::vector<AccessRule> rules;
  for (int i = 0; i < 1000; ++i) rules.push_back({{"cert:b"}, {"b" + std::to_string(i)}, {}});
  rules.push_back({{"anyone"}, {"group-*"}, RightSet::all()});
  return rules;
}

std::vector<std::string> many_groups() {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("group-" + std::to_string(i));
  return names;
}

TEST_F(SessionAccess, SetsOfManyNamesAreGoneThroughOverManyTurns) {
  take(many_rules());
  const ConnectionId ann = open({"cert:ann"}, "ann");
  ask(ann, ClientFrame::join, "group-7");
  std::vector<std::string> names = many_groups();
  std::vector<std::uint8_t> frames;
  protocol::write_define(frames, {1, {names.begin(), names.end()}});
  write_typed(frames, 1, 10, spindle::Service::agreed, 1);
  names.back() = "other";
  protocol::write_define(frames, {1, {names.begin(), names.end()}});
  write_typed(frames, 2, 10, spindle::Service::agreed, 1);
  read(ann, frames);
  int turns = 0;
  for (; refusals(ann).empty() && turns < 5000; ++turns) turn();
  EXPECT_EQ(got(ann), (std::vector<std::pair<std::uint16_t, std::size_t>>{{1, 10}}));
  ASSERT_EQ(refusals(ann).size(), 1u);
  EXPECT_EQ(refusals(ann)[0].name, "other");
  EXPECT_GT(turns, 100);
  EXPECT_LE(node_.work().largest_turn, config().turn_work_max / 5) << "others have the rest of each turn";
}

TEST_F(SessionAccess, SetsOfManyNamesThatAreUsedAgainUnderNewRulesAreGoneThroughOverManyTurns) {
  const ConnectionId ann = open({"cert:ann"}, "ann");
  ask(ann, ClientFrame::join, "group-7");
  std::vector<std::string> names = many_groups();
  std::vector<std::uint8_t> frames;
  protocol::write_define(frames, {1, {names.begin(), names.end()}});
  names.back() = "other";
  protocol::write_define(frames, {2, {names.begin(), names.end()}});
  write_typed(frames, 1, 10, spindle::Service::agreed, 1);
  write_typed(frames, 2, 20, spindle::Service::agreed, 2);
  read(ann, frames);
  for (int i = 0; i < 3; ++i) turn();
  using Messages = std::vector<std::pair<std::uint16_t, std::size_t>>;
  ASSERT_EQ(got(ann), (Messages{{1, 10}, {2, 20}}));

  take(many_rules());
  const std::size_t before = node_.work().largest_turn;
  frames.clear();
  write_typed(frames, 3, 30, spindle::Service::agreed, 1);
  write_typed(frames, 4, 40, spindle::Service::agreed, 2);
  write_typed(frames, 5, 50, spindle::Service::agreed, 2);
  write_typed(frames, 6, 60, spindle::Service::agreed, 1);
  read(ann, frames);
  int turns = 0;
  for (; (refusals(ann).empty() || got(ann).size() < 4) && turns < 5000; ++turns) turn();
  EXPECT_EQ(got(ann), (Messages{{1, 10}, {2, 20}, {3, 30}, {6, 60}}));
  ASSERT_EQ(refusals(ann).size(), 1u);
  EXPECT_EQ(refusals(ann)[0].messages, 2u);
  EXPECT_EQ(refusals(ann)[0].name, "other");
  EXPECT_GT(turns, 100);
  EXPECT_LE(node_.work().largest_turn, std::max(before, config().turn_work_max / 5))
      << "others have the rest of each turn";
}

TEST_F(SessionAccess, RequestsThatAreDeniedShareTheTurnsOfOthers) {
  take(many_rules());
  const ConnectionId ann = open({"cert:ann"}, "ann");
  constexpr std::size_t kRequests = 2000;
  std::vector<std::uint8_t> frames;
  for (std::size_t i = 0; i < kRequests; ++i) {
    protocol::write_group_request(frames, ClientFrame::join, {++request_, "other-" + std::to_string(i)});
  }
  read(ann, frames);
  int turns = 0;
  for (; frames_of(ann, ClientFrame::reply).size() < kRequests && turns < 5000; ++turns) turn();
  EXPECT_EQ(frames_of(ann, ClientFrame::reply).size(), kRequests);
  EXPECT_GT(turns, 100);
  EXPECT_LE(node_.work().largest_turn, config().turn_work_max / 5);
}

/// With members of so many groups.
class SessionAccessOfMany : public SessionAccess {
 protected:
  ConnectionId open_member(const std::string& name, int groups) {
    const ConnectionId member = open({"cert:" + name}, name);
    std::vector<std::uint8_t> frames;
    for (int i = 0; i < groups; ++i) {
      protocol::write_group_request(frames, ClientFrame::join, {++request_, "group-" + std::to_string(i)});
      if (i % 100 != 99) continue;
      read(member, frames);
      frames.clear();
      turn();
    }
    const auto all = static_cast<std::size_t>(groups);
    for (int i = 0; i < 500 && node_.memory().memberships < all; ++i) turn();
    EXPECT_EQ(node_.memory().memberships, all);
    return member;
  }
};

TEST_F(SessionAccessOfMany, AMemberIsTakenOutOverManyTurns) {
  constexpr int kGroups = 3000;
  const ConnectionId ann = open_member("ann", kGroups);
  NodeConfig next = config();
  next.access.rules = many_rules();
  next.access.rules.pop_back();
  node_.reconfigure(now_, next);
  int turns = 0;
  for (; node_.memory().memberships != 0 && turns < 2000; ++turns) turn();
  EXPECT_EQ(node_.memory().memberships, 0u);
  EXPECT_GT(turns, 10) << "a thousand rules for three thousand groups are no work of one turn";
  EXPECT_EQ(refusals(ann).size(), static_cast<std::size_t>(kGroups));
}

TEST_F(SessionAccessOfMany, TheGroupsOfAMemberOfVeryManyAreNotCopiedAtOnce) {
  constexpr int kGroups = 20'000;
  open_member("ann", kGroups);
  NodeConfig next = config();
  next.access.rules = many_rules();
  node_.reconfigure(now_, next);
  std::size_t most = 0;
  for (int i = 0; i < 200; ++i) {
    turn();
    most = std::max(most, node_.work().last_turn);
  }
  EXPECT_GT(most, 0u);
  // A twentieth of a turn, the rules for one group more, and what there is besides.
  EXPECT_LE(most, config().turn_work_max / 20 + 1000 / 16 + 100);
  EXPECT_EQ(node_.memory().memberships, static_cast<std::size_t>(kGroups));
}

TEST_F(SessionAccessOfMany, MessagesDoNotWaitForTheReviewOfMembers) {
  open_member("ann", 3000);
  const ConnectionId bob = open({"cert:bob"}, "bob");
  ask(bob, ClientFrame::join, "group-7");
  NodeConfig next = config();
  next.access.rules = many_rules();
  next.access.rules.back().who = {"cert:bob"};
  node_.reconfigure(now_, next);
  const std::vector<std::string> names = many_groups();
  std::vector<std::uint8_t> frames;
  protocol::write_define(frames, {1, {names.begin(), names.end()}});
  write_typed(frames, 1, 10, spindle::Service::agreed, 1);
  read(bob, frames);
  for (int turns = 0; got(bob).empty() && turns < 2000; ++turns) turn();
  EXPECT_EQ(got(bob).size(), 1u);
  EXPECT_GT(node_.memory().memberships, 1u) << "the review is under way";
}

}  // namespace
}  // namespace spindled
