// Synchronous groups with real daemons: every message in the view in which it was sent, at every member.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <thread>

#include "tests/integration/clients.h"

namespace spindle::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kGroup = "state";
constexpr std::size_t kMembersEach = 10;  // at each of three daemons
constexpr int kRoundsEach = 167;          // of those who come and go: a thousand joins and leaves in all

std::string text_of(const GroupViewId& id) {
  return std::to_string(id.view_number) + "@" + id.coordinator + "/" + std::to_string(id.position);
}

/// What came in one view.
struct Received {
  std::size_t messages = 0;
  std::size_t digest = 0;  // of their texts, whatever their order

  bool operator==(const Received&) const = default;
};

/// Sends what names the view that it has, and holds what it gets against that.
class Member {
 public:
  explicit Member(Connection connection) : connection_(std::move(connection)) {
    EXPECT_FALSE(connection_.join(kGroup, {.synchronous = true}));
  }

  bool has_view() const { return !view_.empty(); }
  void take_events() {
    std::error_code nothing;
    while (const std::optional<Event> event = connection_.receive(0ns, nothing)) take(*event);
  }
  void send() {
    if (view_.empty() || has_flushed_) return;
    constexpr Service kServices[] = {Service::fifo, Service::causal, Service::agreed, Service::safe};
    const std::string text = view_ + " " + std::to_string(sent_);
    const std::error_code error = connection_.try_multicast(kServices[sent_ % 4], kGroup, text);
    if (!error) ++sent_;
    if (error && error != Errc::would_block) fail("a message was refused: " + error.message());
  }

  const std::string& wrong() const { return wrong_; }
  const std::string& view() const { return view_; }
  const std::map<std::string, Received>& received() const { return received_; }

 private:
  void take(const Event& event) {
    if (const auto* view = event.get_if<GroupView>()) {
      if (!view_.empty() && !has_flushed_) fail("a view came that it had not flushed for");
      if (!view->synchronous) fail("the group is not synchronous");
      view_ = text_of(view->id);
      received_[view_] = {};
      has_flushed_ = false;
    } else if (const auto* request = event.get_if<FlushRequest>()) {
      send();  // the last one in this view
      if (connection_.flush_ok(*request)) fail("its answer was refused");
      has_flushed_ = true;
    } else if (const auto* message = event.get_if<Message>()) {
      const std::string_view text = message->text();
      if (text.substr(0, text.find(' ')) != view_) fail("in view " + view_ + " came " + std::string(text));
      Received& received = received_[view_];
      ++received.messages;
      received.digest += std::hash<std::string>()(std::string(message->sender()) + std::string(text));
    } else {
      fail("neither a message nor a view came");
    }
  }
  void fail(std::string why) {
    if (wrong_.empty()) wrong_ = std::string(connection_.private_name()) + ": " + std::move(why);
  }

  Connection connection_;
  std::string view_;
  bool has_flushed_ = false;
  std::size_t sent_ = 0;
  std::map<std::string, Received> received_;
  std::string wrong_;
};

/// Joins; the view with which it is a member.
std::string come(Connection& client) {
  EXPECT_FALSE(client.join(kGroup, {.synchronous = true, .auto_flush = true}));
  for (;;) {
    const Event event = next_event(client);
    const auto* view = event.get_if<GroupView>();
    if (view != nullptr && view->my_index.has_value()) return text_of(view->id);
  }
}

void come_and_go(Connection& client) {
  for (int round = 0; round < kRoundsEach; ++round) {
    come(client);
    ASSERT_FALSE(client.leave(kGroup));
    wait_for_members(client, kGroup, {});
  }
}

/// Has members take what comes, and send while others move, until all of them have the view that `last` comes to name;
/// for kPatience at most from then on.
void take_part(std::vector<Member>& members, const std::atomic<std::size_t>& moving,
               const std::atomic<const std::string*>& last) {
  Clock::time_point end = Clock::time_point::max();
  for (;;) {
    for (Member& member : members) {
      member.take_events();
      if (moving != 0) member.send();
    }
    if (const std::string* view = last) {
      end = std::min(end, Clock::now() + kPatience);
      const auto has_it = [view](const Member& member) { return member.view() == *view; };
      if (std::all_of(members.begin(), members.end(), has_it) || Clock::now() > end) return;
    }
    std::this_thread::sleep_for(500us);
  }
}

TEST(SynchronousGroups, AThousandJoinsAndLeavesUnderLoad) {
  LineOfThree line;
  wait_for_one_view(line.all());
  std::vector<std::vector<Member>> members(3);
  std::vector<Connection> movers;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < kMembersEach; ++j) {
      members[i].emplace_back(line.all()[i]->connect("m" + std::to_string(j)));
    }
    movers.push_back(line.all()[i]->connect("mover"));
  }
  std::atomic<std::size_t> moving = 3;
  std::atomic<const std::string*> last = nullptr;
  std::vector<std::thread> threads;
  for (std::vector<Member>& each : members) {
    threads.emplace_back([&moving, &last, &each] { take_part(each, moving, last); });
  }
  std::vector<std::thread> moves;
  for (Connection& mover : movers) {
    moves.emplace_back([&mover, &moving] {
      come_and_go(mover);
      --moving;
    });
  }
  for (std::thread& each : moves) each.join();
  // All that was sent comes before the view in which nobody sends any more.
  const std::string last_view = come(movers[0]);
  last = &last_view;
  for (std::thread& each : threads) each.join();

  const Member& first = members[0][0];
  std::size_t messages = 0;
  for (const std::vector<Member>& each : members) {
    for (const Member& member : each) {
      EXPECT_EQ(member.wrong(), "");
      EXPECT_EQ(member.view(), last_view);
      for (const auto& [view, received] : member.received()) {
        messages += received.messages;
        // Not all had the first views, in which the group filled.
        const auto found = first.received().find(view);
        if (found != first.received().end()) {
          EXPECT_EQ(received, found->second) << view;
        }
      }
    }
  }
  EXPECT_GT(first.received().size(), 100u) << "views, of which each can have several changes";
  EXPECT_GT(messages, 30'000u);
  std::uint64_t timeouts = 0;
  for (Daemon* daemon : line.all()) timeouts += daemon->count("flush_timeouts");
  EXPECT_EQ(timeouts, 0u);
}

TEST(SynchronousGroups, AMemberThatNeverAnswersCostsTheTimeout) {
  LineOfThree line("[session]\nflush_timeout_ms = 3000\n");  // who answers is not to run out of it
  wait_for_one_view(line.all());
  Connection silent = line.alpha.connect("silent");
  EXPECT_FALSE(silent.join(kGroup, {.synchronous = true}));
  wait_for_members(silent, kGroup, {"#silent#alpha"});
  Connection joins = line.gamma.connect("joins");
  EXPECT_FALSE(joins.join(kGroup, {.synchronous = true, .auto_flush = true}));
  wait_for_members(joins, kGroup, {"#joins#gamma"});
  for (;;) {
    const Event event = next_event(silent);
    const auto* failed = event.get_if<RequestFailed>();
    if (failed == nullptr) continue;
    EXPECT_EQ(failed->request, RequestFailed::Request::membership);
    EXPECT_EQ(failed->error, Errc::flush_timeout);
    break;
  }
  wait_for_members(silent, kGroup, {});
  EXPECT_FALSE(silent.multicast(Service::agreed, kGroup, "of a view that is over"));
  const Event refused = next_event(silent);
  ASSERT_TRUE(refused.is<RequestFailed>());
  EXPECT_EQ(refused.get<RequestFailed>().request, RequestFailed::Request::send);
  EXPECT_FALSE(silent.join(kGroup, {.synchronous = true, .auto_flush = true}));
  wait_for_members(joins, kGroup, {"#joins#gamma", "#silent#alpha"});
  wait_for_members(silent, kGroup, {"#joins#gamma", "#silent#alpha"});
  EXPECT_FALSE(silent.multicast(Service::agreed, kGroup, "of this one"));
  EXPECT_EQ(next_message(joins).text(), "of this one");
  EXPECT_EQ(line.alpha.count("flush_timeouts"), 1u);
}

/// A message that is sent behind an answer waits for the view, in the library.
TEST(SynchronousGroups, AMulticastWaitsForTheViewThatItIsOf) {
  LineOfThree line;
  wait_for_one_view(line.all());
  Connection first = line.alpha.connect("first");
  Connection second = line.beta.connect("second");
  for (Connection* each : {&first, &second}) {
    EXPECT_FALSE(each->join(kGroup, {.synchronous = true, .auto_flush = each == &first}));
    if (each == &first) wait_for_members(first, kGroup, {"#first#alpha"});
  }
  wait_for_members(first, kGroup, {"#first#alpha", "#second#beta"});
  wait_for_members(second, kGroup, {"#first#alpha", "#second#beta"});
  Connection third = line.gamma.connect("third");
  EXPECT_FALSE(third.join(kGroup, {.synchronous = true}));
  const Event asked = next_event(first);
  ASSERT_TRUE(asked.is<FlushRequest>());
  EXPECT_EQ(first.try_multicast(Service::fifo, kGroup, "too late"), Errc::flushing);
  std::thread sends([&first] { EXPECT_FALSE(first.multicast(Service::fifo, kGroup, "in the next view")); });
  const Event asked_too = next_event(second);
  ASSERT_TRUE(asked_too.is<FlushRequest>());
  EXPECT_FALSE(second.flush_ok(asked_too.get<FlushRequest>()));
  sends.join();
  wait_for_members(third, kGroup, {"#first#alpha", "#second#beta", "#third#gamma"});
  EXPECT_EQ(next_message(third).text(), "in the next view");
}

}  // namespace
}  // namespace spindle::test
