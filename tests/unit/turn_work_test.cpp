// Work that is cut into the shares of turns, and what waits for it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/base/steps.h"
#include "daemon/order/order_state.h"
#include "tests/support/nobody.h"
#include "tests/unit/order_cluster.h"

namespace spindled {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Time kNow{1s};

TEST(TurnWork, IsOverWhenTheMaximumIsDone) {
  TurnWork turn(10);
  turn.count(9);
  EXPECT_FALSE(turn.is_over());
  turn.count(1);
  EXPECT_TRUE(turn.is_over());
  turn.end_turn();
  EXPECT_FALSE(turn.is_over());
}

TEST(TurnWork, SmallWritesThatAreYetToBeMadeTakeHalfOfTheNextTurn) {
  TurnWork turn(10);
  turn.set_unwritten(2 << 10, 100 << 10);
  turn.end_turn();
  turn.count(2);
  EXPECT_FALSE(turn.is_over());
  turn.count(1);
  EXPECT_TRUE(turn.is_over());
}

TEST(TurnWork, WhatIsYetToBeWrittenCountsInTheNextTurn) {
  TurnWork turn(10);
  turn.set_unwritten(8 << 10);
  turn.end_turn();
  turn.count(1);
  EXPECT_FALSE(turn.is_over());
  turn.count(1);
  EXPECT_TRUE(turn.is_over());
  turn.set_unwritten(100 << 10);
  turn.end_turn();
  EXPECT_TRUE(turn.is_over());
  turn.set_unwritten(0);
  turn.end_turn();
  EXPECT_FALSE(turn.is_over());
  EXPECT_EQ(turn.largest_turn(), 2u) << "what was done";
}

TEST(TurnWork, KnowsTheLargestTurnAndTheLargestStep) {
  TurnWork turn(10);
  for (const std::size_t units : {3u, 5u, 4u}) {
    turn.begin_step();
    turn.count(units);
  }
  turn.end_turn();
  turn.begin_step();
  turn.count(6);
  turn.end_turn();
  EXPECT_EQ(turn.largest_turn(), 12u);
  EXPECT_EQ(turn.largest_step(), 6u);
}

TEST(TurnWork, TakesOfClientsWhatIsTheirPart) {
  TurnWork turn(160);  // 640 names, of which input has half
  EXPECT_TRUE(turn.may_take_input());
  turn.count_input(20);
  EXPECT_FALSE(turn.may_take_input()) << "of one client";
  for (int client = 1; client < 12; ++client) {
    ASSERT_TRUE(turn.has_input_left());
    turn.begin_client();
    EXPECT_TRUE(turn.may_take_input());
    turn.count_input(20);
  }
  turn.begin_client();
  EXPECT_FALSE(turn.may_take_input()) << "the rest is for those who have waited";
  EXPECT_FALSE(turn.has_input_left());
  turn.begin_waiting_input();
  EXPECT_TRUE(turn.has_input_left());
  turn.begin_client();
  turn.count_input(80);
  EXPECT_FALSE(turn.has_input_left());
  EXPECT_FALSE(turn.is_over()) << "it is no part of what else there is to do";
  const std::uint64_t number = turn.number();
  turn.end_turn();
  EXPECT_EQ(turn.number(), number + 1);
  EXPECT_TRUE(turn.may_take_input());
  EXPECT_EQ(turn.input(), 0u);
  EXPECT_EQ(turn.largest_input(), 320 / TurnWork::kNamesOfUnit);
}

TEST(TurnWork, ThoseWhoHaveWaitedAreHeardWhateverHasJustCome) {
  TurnWork turn(160);
  turn.count_input(10'000);
  turn.begin_client();
  EXPECT_FALSE(turn.may_take_input());
  turn.begin_waiting_input();
  turn.begin_client();
  EXPECT_TRUE(turn.may_take_input());
  turn.count_input(80);
  EXPECT_FALSE(turn.has_input_left());
  TurnWork least(1);
  least.count_input(100);
  least.begin_waiting_input();
  least.begin_client();
  EXPECT_TRUE(least.may_take_input());
}

TEST(TurnWork, WhatIsDoneAsACheckIsOfThePartOfChecks) {
  TurnWork turn(100);
  turn.count(50);
  EXPECT_TRUE(turn.may_check());
  turn.check([&] {
    turn.count(5);
    turn.count_check(4);
  });
  EXPECT_EQ(turn.checked(), 9u);
  EXPECT_TRUE(turn.may_check());
  turn.check([&] { turn.count(1); });
  EXPECT_FALSE(turn.may_check());
  turn.end_turn();
  EXPECT_TRUE(turn.may_check());
  EXPECT_EQ(turn.largest_turn(), 60u);
  EXPECT_EQ(turn.largest_step(), 50u);
}

/// Notes `name` for each of its steps, of one unit each.
Steps::Task task(TurnWork& turn, std::vector<std::string>& done, std::string name, int steps) {
  return [&turn, &done, name, left = steps](Time) mutable {
    turn.count(1);
    done.push_back(name);
    return --left == 0;
  };
}

TEST(Steps, AreDoneAtOnceAsFarAsTheTurnGoes) {
  TurnWork turn(3);
  Steps steps(turn);
  std::vector<std::string> done;
  steps.add(kNow, task(turn, done, "a", 2));
  EXPECT_TRUE(steps.empty());
  steps.add(kNow, task(turn, done, "b", 3));
  steps.add(kNow, task(turn, done, "c", 1));
  EXPECT_THAT(done, ElementsAre("a", "a", "b"));
  EXPECT_FALSE(steps.empty());
  steps.go_on(kNow);
  EXPECT_THAT(done, ElementsAre("a", "a", "b")) << "the turn is over";
  turn.end_turn();
  steps.go_on(kNow);
  EXPECT_THAT(done, ElementsAre("a", "a", "b", "b", "b", "c"));
  EXPECT_TRUE(steps.empty());
  turn.end_turn();
  EXPECT_EQ(turn.largest_turn(), 3u);
}

TEST(Steps, WhatATaskAddsComesBehindWhatIsThere) {
  TurnWork turn(100);
  Steps steps(turn);
  std::vector<std::string> done;
  steps.add(kNow, [&](Time now) {
    steps.add(now, [&](Time) {
      steps.add(now, task(turn, done, "innermost", 1));
      done.emplace_back("first added");
      return true;
    });
    steps.add(now, task(turn, done, "second added", 2));
    done.emplace_back("outer");
    return true;
  });
  EXPECT_THAT(done, ElementsAre("outer", "first added", "second added", "second added", "innermost"));
}

/// Takes a turn for each thing that it is told to take one for.
class SlowTaker final : public OrderedMessages {
 public:
  void deliver(Time, const Delivery& message) override { take(fmt::format("message {}", message.number)); }
  void horizon_advanced(Time, std::uint64_t position) override { take(fmt::format("horizon {}", position)); }
  void transitional(Time, const MemberSet&) override { take("signal"); }
  void furthest_reached(Time) override { take("furthest"); }
  void view_installed(Time, const View& view, const MemberSet&) override {
    take(fmt::format("view {}", view.id.number));
  }
  bool is_busy() const override { return busy; }
  bool is_behind() const override { return busy || behind; }
  void go_on(Time) override { busy = false; }

  bool busy = false;
  bool behind = false;
  bool slow = true;
  std::vector<std::string> taken;

 private:
  void take(std::string what) {
    EXPECT_FALSE(busy) << what;
    taken.push_back(std::move(what));
    busy = slow;
  }
};

class HandedUp : public testing::Test {
 protected:
  void install(std::uint64_t number) {
    order.tell(kNow, &OrderedMessages::view_installed, {{number, "a"}, {}, {}, 0, 0}, {});
  }

  Delivery message(std::uint64_t number, Service service = Service::fifo, std::size_t bytes = 1) {
    Delivery delivery;
    delivery.service = service;
    delivery.number = number;
    delivery.first = context.arena.copy(std::vector<std::uint8_t>(bytes));
    return delivery;
  }

  test::SilentSink sink;
  Context context{NodeConfig{}, sink, 1};
  test::NoTransport transport;
  SlowTaker taker;
  OrderState order{context, transport, taker, nullptr};
};

TEST_F(HandedUp, AllOfItAtOnceToWhoIsNotBusy) {
  taker.slow = false;
  order.deliver(kNow, message(1));
  order.tell(kNow, &OrderedMessages::horizon_advanced, 7);
  install(2);
  EXPECT_THAT(taker.taken, ElementsAre("message 1", "horizon 7", "view 2"));
  EXPECT_FALSE(order.held_up.must_wait());
}

TEST_F(HandedUp, InTheOrderOfAllThatComesMeanwhile) {
  order.deliver(kNow, message(1));
  order.deliver(kNow, message(2));
  order.tell(kNow, &OrderedMessages::transitional, {});
  order.tell(kNow, &OrderedMessages::furthest_reached);
  install(2);
  EXPECT_THAT(taker.taken, ElementsAre("message 1"));
  order.held_up.go_on(kNow);
  EXPECT_THAT(taker.taken, ElementsAre("message 1", "message 2"));
  // Of the next view, while what ended the last one waits.
  order.deliver(kNow, message(3));
  order.tell(kNow, &OrderedMessages::horizon_advanced, 9);
  for (int i = 0; i < 4; ++i) order.held_up.go_on(kNow);
  EXPECT_TRUE(order.held_up.must_wait());
  order.held_up.go_on(kNow);
  order.held_up.go_on(kNow);
  EXPECT_THAT(taker.taken,
              ElementsAre("message 1", "message 2", "signal", "furthest", "view 2", "message 3", "horizon 9"));
  EXPECT_FALSE(order.held_up.must_wait());
  EXPECT_EQ(order.held_up.bytes(), 0u);
}

TEST_F(HandedUp, ToWhoHandlesTheClassWhetherItWaitedOrNot) {
  SlowTaker of_parts;
  of_parts.slow = false;
  order.handler_of(MessageClass::part) = &of_parts;
  Delivery part = message(1);
  part.message_class = MessageClass::part;
  order.deliver(kNow, part);
  order.deliver(kNow, message(2));
  part.number = 3;
  order.deliver(kNow, part);
  EXPECT_THAT(of_parts.taken, ElementsAre("message 1"));
  order.held_up.go_on(kNow);
  EXPECT_THAT(of_parts.taken, ElementsAre("message 1", "message 3"));
  EXPECT_THAT(taker.taken, ElementsAre("message 2"));
}

TEST_F(HandedUp, NothingOvertakesWhatWaitsBetweenTwoTurns) {
  order.deliver(kNow, message(1));
  order.deliver(kNow, message(2));
  taker.busy = false;  // done, but it has not been asked to go on yet
  order.deliver(kNow, message(3));
  EXPECT_THAT(taker.taken, ElementsAre("message 1"));
  taker.slow = false;
  order.held_up.go_on(kNow);
  EXPECT_THAT(taker.taken, ElementsAre("message 1", "message 2", "message 3"));
}

TEST_F(HandedUp, WithoutUnreliableMessagesWhereMuchWaits) {
  order.deliver(kNow, message(1));
  order.deliver(kNow, message(2, Service::unreliable));
  order.deliver(kNow, message(3, Service::reliable, 1u << 20));
  order.deliver(kNow, message(4, Service::unreliable));
  order.deliver(kNow, message(5, Service::reliable));
  EXPECT_EQ(context.counters.value(Counter::data_dropped_unreliable), 1u);
  EXPECT_EQ(order.held_up.bytes(), 2 + (1u << 20));
  taker.slow = false;
  order.held_up.go_on(kNow);
  EXPECT_THAT(taker.taken, ElementsAre("message 1", "message 2", "message 3", "message 5"));
}

/// An order layer under a layer that is busy from the first message on.
TEST(OrderUnderABusyLayer, LeavesOrderedMessagesWhereTheyAreAndReportsNothing) {
  test::OrderCluster cluster(2);
  test::OrderNode& busy = cluster[1];
  busy.busy_after = 1;
  for (int i = 0; i < 5; ++i) cluster[0].send(cluster.all(), fmt::format("m{}", i), Service::agreed);
  cluster.settle();
  EXPECT_THAT(busy.ordered, ElementsAre("m0"));
  EXPECT_EQ(cluster[0].ordered.size(), 5u);
  cluster.pass_time(1s);
  EXPECT_NE(cluster[0].order->unstable_bytes(), 0u) << "nobody may let go of what waits";
  busy.busy_after = 100;
  cluster.pass_time(1s);
  EXPECT_THAT(busy.ordered, ElementsAre("m0", "m1", "m2", "m3", "m4"));
  EXPECT_EQ(cluster[0].order->unstable_bytes(), 0u);
}

TEST(OrderUnderALayerThatIsBehind, GoesThroughTheOrderAndReportsNothing) {
  test::OrderCluster cluster(2);
  test::OrderNode& behind = cluster[1];
  behind.behind = true;
  for (int i = 0; i < 3; ++i) cluster[0].send(cluster.all(), fmt::format("m{}", i), Service::agreed);
  cluster.pass_time(1s);
  EXPECT_THAT(behind.ordered, ElementsAre("m0", "m1", "m2"));
  EXPECT_NE(cluster[0].order->unstable_bytes(), 0u) << "what is not reported keeps the window of its sender";
  behind.behind = false;
  cluster.pass_time(1s);
  EXPECT_EQ(cluster[0].order->unstable_bytes(), 0u);
}

TEST_F(HandedUp, IsBehindWhereTheLayerAboveIs) {
  EXPECT_FALSE(order.held_up.is_behind());
  taker.behind = true;
  EXPECT_TRUE(order.held_up.is_behind());
  EXPECT_FALSE(order.held_up.must_wait());
}

}  // namespace
}  // namespace spindled
