// What the rules of access make of a client's frames, within a whole daemon.
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

TEST_F(SessionAccess, WhoIsNoMemberTakesARightToSeeTheMembers) {
  take({{{"cert:boss"}, {"*"}, RightSet::all()}, {{"anyone"}, {"news"}, rights({Right::join})}});
  const ConnectionId boss = open({"cert:boss"}, "boss");
  const ConnectionId ann = open({}, "ann");
  ask(boss, ClientFrame::join, "news");
  EXPECT_EQ(ask(ann, ClientFrame::view_request, "news"), Errc::access_denied);
  EXPECT_EQ(views(ann), 0u);
  ask(ann, ClientFrame::join, "news");
  EXPECT_EQ(views(ann), 1u);
  EXPECT_EQ(ask(ann, ClientFrame::view_request, "news"), kDone) << "as a member she may";
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

TEST_F(SessionAccess, AMemberOfVeryManyGroupsIsTakenOutOverManyTurns) {
  const ConnectionId ann = open({"cert:ann"}, "ann");
  constexpr int kGroups = 3000;
  std::vector<std::uint8_t> frames;
  for (int i = 0; i < kGroups; ++i) {
    protocol::write_group_request(frames, ClientFrame::join, {++request_, "group-" + std::to_string(i)});
    if (i % 100 != 99) continue;
    read(ann, frames);
    frames.clear();
    turn();
  }
  for (int i = 0; i < 500 && node_.memory().memberships < kGroups; ++i) turn();
  ASSERT_EQ(node_.memory().memberships, kGroups);
  AccessConfig access;
  for (int i = 0; i < 1000; ++i) access.rules.push_back({{"cert:b"}, {"b" + std::to_string(i)}, RightSet::all()});
  NodeConfig next = config();
  next.access = access;
  node_.reconfigure(now_, next);
  int turns = 0;
  for (; node_.memory().memberships != 0 && turns < 2000; ++turns) turn();
  EXPECT_EQ(node_.memory().memberships, 0u);
  EXPECT_GT(turns, 10) << "a thousand rules for three thousand groups are no work of one turn";
  EXPECT_EQ(refusals(ann).size(), static_cast<std::size_t>(kGroups));
}

}  // namespace
}  // namespace spindled
