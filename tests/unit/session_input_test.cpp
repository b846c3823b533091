// What clients send is taken in the shares of turns, whatever it costs, within a whole daemon that is alone in its
// view.
#include "daemon/session/destination_table.h"
#include "tests/unit/sessions_harness.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;
using protocol::ClientFrame;
using spindle::kGroupsPerMessageMax;
using spindle::Service;

constexpr std::size_t kFrames = 100;

std::vector<std::string> many_names(const std::string& front, const std::string& back = {}) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kGroupsPerMessageMax; ++i) names.push_back(front + std::to_string(i) + back);
  return names;
}

class SessionInput : public test::SessionsTest {
 protected:
  /// A turn takes no more of clients than half of what it may do, and one frame that has just come, and one that
  /// waited.
  static constexpr std::size_t kFrameUnits = 1'200;
  static std::size_t input_max() { return config().turn_work_max / 2 + 2 * kFrameUnits; }

  using Frames = std::vector<std::uint8_t>;
  static void define(Frames& frames, std::uint32_t handle, const std::vector<std::string>& names) {
    protocol::write_define(frames, {handle, {names.begin(), names.end()}});
  }
  static void ping(Frames& frames, std::uint64_t token = 1) { protocol::write_ping(frames, ClientFrame::ping, token); }
  std::size_t pongs(ConnectionId connection) { return frames_of(connection, ClientFrame::pong).size(); }
  /// As many sets as messages, each with a question behind it.
  static Frames definitions() {
    Frames frames;
    for (std::size_t i = 0; i < kFrames; ++i) {
      define(frames, 1, many_names(i % 2 == 0 ? "even " : "odd "));
      ping(frames);
    }
    return frames;
  }
  /// Turns until all of `connection`'s questions are answered.
  std::size_t turns_until(ConnectionId connection, std::size_t answered) {
    std::size_t turns = 0;
    for (; pongs(connection) < answered && turns < 5'000; ++turns) turn();
    EXPECT_EQ(pongs(connection), answered);
    return turns;
  }
  std::vector<std::string> refused_names(ConnectionId connection) {
    std::vector<std::string> names;
    for (const ByteView body : frames_of(connection, ClientFrame::refused)) {
      names.emplace_back(protocol::read_refused(body)->name);
    }
    return names;
  }
  std::size_t largest_input() const { return node_.work().largest_input; }
};

TEST_F(SessionInput, SetsOfManyNamesAreTakenOverManyTurns) {
  const ConnectionId ann = open({}, "ann");
  read(ann, definitions());
  EXPECT_GT(turns_until(ann, kFrames), 10u);
  EXPECT_LE(largest_input(), input_max());
}

TEST_F(SessionInput, QuestionsWhatMessagesToManyCostAreAnsweredOverManyTurns) {
  const ConnectionId ann = open({}, "ann");
  Frames frames;
  define(frames, 1, many_names("group "));
  for (std::uint32_t i = 0; i < kFrames; ++i) protocol::write_flow_request(frames, {i, 1});
  ping(frames);
  read(ann, frames);
  EXPECT_GT(turns_until(ann, 1), 10u);
  EXPECT_EQ(frames_of(ann, ClientFrame::flow).size(), kFrames);
  EXPECT_LE(largest_input(), input_max());
}

TEST_F(SessionInput, SmallMessagesEachOfWhichGoesAloneAreTakenOverSeveralTurns) {
  const ConnectionId ann = open_member("ann");
  Frames frames;
  constexpr std::size_t kMessages = 20'000;
  for (std::size_t i = 0; i < kMessages; ++i) {
    write_typed(frames, 1, 0, i % 2 == 0 ? Service::reliable : Service::fifo);
  }
  ping(frames);
  read(ann, frames);
  EXPECT_GT(turns_until(ann, 1), 3u);
  EXPECT_EQ(count(Counter::messages_sent), kMessages);
  EXPECT_LE(largest_input(), input_max());
}

TEST_F(SessionInput, WhoSendsLittleIsHeardInTheTurnInWhichItComes) {
  const ConnectionId ann = open({}, "ann"), bob = open({}, "bob"), carol = open({}, "carol");
  read(ann, definitions());
  read(bob, definitions());
  Frames frames;
  ping(frames);
  for (std::size_t asked = 1; asked <= 20; ++asked) {
    read(carol, frames);
    EXPECT_EQ(turns_until(carol, asked), 1u);
  }
  EXPECT_LT(pongs(ann), kFrames) << "it is still at it";
}

TEST_F(SessionInput, ThoseWhoSendMuchTakeTurns) {
  const std::vector<ConnectionId> all = {open({}, "ann"), open({}, "bob"), open({}, "carol")};
  for (const ConnectionId each : all) read(each, definitions());
  for (int i = 0; i < 10; ++i) turn();
  const auto [least, most] = std::minmax({pongs(all[0]), pongs(all[1]), pongs(all[2])});
  EXPECT_GT(least, 5u);
  EXPECT_LT(most, kFrames);
  EXPECT_LE(most, least + 4);
}

TEST_F(SessionInput, WhatWaitedForOneEventGoesOnInTheSharesOfTurns) {
  settle();
  std::vector<ConnectionId> all;
  for (std::size_t i = 0; i < kSessionsMax; ++i) {
    all.push_back(accept());
    Frames frames;
    protocol::write_hello(frames, {.name = std::string(1, static_cast<char>('a' + i))});
    define(frames, 0, {"news"});
    protocol::write_group_request(frames, ClientFrame::join, {1, "news"});
    write_typed(frames, 1, 10);  // waits for the join, and all the rest does
    const Frames behind = definitions();
    frames.insert(frames.end(), behind.begin(), behind.end());
    read(all.back(), frames);
  }
  for (const ConnectionId each : all) turns_until(each, kFrames);
  EXPECT_LE(largest_input(), input_max());
}

TEST_F(SessionInput, NamesAreGoneThroughOnceForManyMessages) {
  const ConnectionId ann = open({}, "ann");
  ASSERT_EQ(ask(ann, ClientFrame::join, "plain"), kDone);
  Frames frames;
  protocol::write_group_request(frames, ClientFrame::join, {++request_, "synchronous", protocol::kSynchronousBit});
  define(frames, 1, many_names("group "));
  write_typed(frames, 1, 0, Service::reliable, 1);
  read(ann, frames);
  for (int i = 0; i < 10; ++i) turn();
  ASSERT_EQ(count(Counter::messages_sent), 1u);
  frames.clear();
  for (int i = 0; i < 1'000; ++i) write_typed(frames, 1, 0, Service::reliable, 1);
  ping(frames);
  read(ann, frames);
  EXPECT_LE(turns_until(ann, 1), 5u);
  EXPECT_EQ(count(Counter::messages_sent), 1'001u);
  EXPECT_TRUE(refused_names(ann).empty());

  // One of the set becomes a synchronous group that it is in.
  frames.clear();
  protocol::write_group_request(frames, ClientFrame::join, {++request_, "group 7", protocol::kSynchronousBit});
  read(ann, frames);
  for (int i = 0; i < 10; ++i) turn();
  frames.clear();
  write_typed(frames, 1, 0, Service::reliable, 1);
  read(ann, frames);
  turn();
  EXPECT_EQ(refused_names(ann), std::vector<std::string>{"group 7"});
}

TEST_F(SessionInput, MessagesToClientsReachWhoIsThereNow) {
  const ConnectionId ann = open({}, "ann");
  Frames frames;
  define(frames, 1, many_names("#client", "#alpha"));
  read(ann, frames);
  const auto send = [&](std::uint16_t type) {
    Frames message;
    write_typed(message, type, 3, Service::reliable, 1);
    read(ann, message);
    for (int i = 0; i < 3; ++i) turn();
  };
  send(1);
  const ConnectionId first = open({}, "client7");
  send(2);
  node_.handle_closed(now_, first, "reset");
  turn();
  send(3);
  const ConnectionId second = open({}, "client7");
  send(4);
  send(5);
  using Messages = std::vector<std::pair<std::uint16_t, std::size_t>>;
  EXPECT_EQ(got(first), (Messages{{2, 3}}));
  EXPECT_EQ(got(second), (Messages{{4, 3}, {5, 3}}));
}

TEST_F(SessionInput, LongNamesInFrontOfAMessageStandInMemoryOnce) {
  const ConnectionId ann = open_member("ann");
  open_member("bob");
  open_member("carol");
  std::vector<std::string> names = many_names(std::string(250, 'n'));
  names.back() = "news";
  Frames frames;
  define(frames, 1, names);
  read(ann, frames);
  turn();
  driver_.deaf = true;
  const std::size_t before = node_.memory().slabs;
  frames.clear();
  write_typed(frames, 1, 0, Service::reliable, 1);
  read(ann, frames);
  turn();
  const std::size_t all = 250 * kGroupsPerMessageMax;
  EXPECT_GE(node_.memory().session_queue, all);
  EXPECT_LT(node_.memory().slabs - before, 4 * all) << "as it came, and once for all three who are to get it";
}

TEST_F(SessionInput, NumbersOfSetsThatAreGivenUpCount) {
  const ConnectionId ann = open({}, "ann");
  const std::size_t before = node_.memory().sessions_definitions;
  Frames frames;
  define(frames, protocol::kHandlesMax - 1, {});
  read(ann, frames);
  turn();
  EXPECT_EQ(node_.memory().sessions_definitions, before) << "nothing stands for it";
  frames.clear();
  for (std::uint32_t handle = 1; handle < protocol::kHandlesMax; ++handle) {
    define(frames, handle, {"set " + std::to_string(handle)});
  }
  for (std::uint32_t handle = 1; handle < protocol::kHandlesMax; ++handle) define(frames, handle, {});
  ping(frames);
  read(ann, frames);
  turns_until(ann, 1);
  EXPECT_GT(node_.memory().sessions_definitions, protocol::kHandlesMax * (sizeof(DefinedSet) + sizeof(SetFlow)));
}

}  // namespace
}  // namespace spindled
