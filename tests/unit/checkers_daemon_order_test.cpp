// The checkers of the order in which daemons hand messages up, and of what is safe.
#include <gtest/gtest.h>

#include "tests/checkers/checkers.h"
#include "tests/checkers/daemon_checkers.h"
#include "tests/unit/checkers_daemon_writer.h"

namespace spindled::checkers {
namespace {

/// All of `members` are in view 1.
DaemonWriter in_one_view(const std::string& members) {
  DaemonWriter w;
  for (const char daemon : members) w.at(daemon).view(1, members, std::string(1, daemon));
  return w;
}

TEST(DaemonCheckers, FifoKeepsTheOrderOfSending) {
  for (const Service first : {Service::fifo, Service::causal, Service::agreed, Service::safe}) {
    for (const Service second : {Service::fifo, Service::agreed}) {
      DaemonWriter w = in_one_view("ab");
      w.at('a').sends(1, "b", first).sends(2, "b", second);
      DaemonWriter good = w;
      good.at('b').gets('a', 1, 1, first).gets('a', 2, 2, second);
      EXPECT_TRUE(check_daemon_fifo(good.history()).empty());
      w.at('b').signal("b").gets('a', 2, 2, second).gets('a', 1, 1, first);
      EXPECT_EQ(check_daemon_fifo(w.history()).size(), 1u) << "also behind the signal";
    }
  }
  DaemonWriter reliable = in_one_view("ab");
  reliable.at('a').sends(1, "b", Service::reliable).sends(2, "b", Service::reliable);
  reliable.at('b').gets('a', 2, 0, Service::reliable).gets('a', 1, 0, Service::reliable);
  EXPECT_TRUE(check_daemon_fifo(reliable.history()).empty());
  DaemonWriter two_senders = in_one_view("ab");
  two_senders.at('a').sends(1, "b", Service::fifo, 7).sends(2, "b", Service::fifo, 8);
  two_senders.at('b').gets('a', 2, 0, Service::fifo).gets('a', 1, 0, Service::fifo);
  EXPECT_TRUE(check_daemon_fifo(two_senders.history()).empty());
}

TEST(DaemonCheckers, FifoLeavesNothingOut) {
  const auto run = [](const char* first_to, bool behind_the_signal) {
    DaemonWriter w = in_one_view("ab");
    w.at('a').sends(1, first_to, Service::fifo).sends(2, "b", Service::fifo).at('b');
    if (behind_the_signal) w.signal("b");
    w.gets('a', 2, 0, Service::fifo);
    return check_daemon_fifo(w.history()).size();
  };
  EXPECT_EQ(run("ab", false), 1u);
  EXPECT_EQ(run("a", false), 0u) << "not for b";
  EXPECT_EQ(run("ab", true), 0u) << "lost with its origin";
}

/// c and d get the messages of a and b in contrary orders, or not.
DaemonWriter contrary(bool signal) {
  DaemonWriter w = in_one_view("abcd");
  w.at('a').sends(1, "cd").at('b').sends(1, "cd");
  w.at('c');
  if (signal) w.signal("cd");
  w.gets('a', 1, signal ? 0 : 1).gets('b', 1, signal ? 0 : 2);
  w.at('d');
  if (signal) w.signal("cd");
  w.gets('b', 1, signal ? 0 : 1).gets('a', 1, signal ? 0 : 2);
  return w;
}

TEST(DaemonCheckers, TotalOrderOfRegularMessages) {
  EXPECT_FALSE(check_daemon_total_order(contrary(false).history()).empty());
  // Those who part have one order as far as it is regular.
  DaemonWriter apart = contrary(false);
  apart.at('c').signal("c").view(2, "c", "c").at('d').signal("d").view(3, "d", "d");
  EXPECT_FALSE(check_daemon_total_order(apart.history()).empty());

  // In a circle: each two messages have only one order.
  DaemonWriter circle = in_one_view("abc");
  circle.at('a').sends(1, "abc").at('b').sends(1, "abc").at('c').sends(1, "abc");
  circle.at('a').gets('a', 1, 1).gets('b', 1, 2);
  circle.at('b').gets('b', 1, 1).gets('c', 1, 2);
  circle.at('c').gets('c', 1, 1).gets('a', 1, 2);
  EXPECT_NE(to_text(check_daemon_total_order(circle.history())).find("3 messages in all"), std::string::npos);

  DaemonWriter unordered = in_one_view("abcd");
  unordered.at('a').sends(1, "cd", Service::fifo).at('b').sends(1, "cd", Service::fifo);
  unordered.at('c').gets('a', 1, 0, Service::fifo).gets('b', 1, 0, Service::fifo);
  unordered.at('d').gets('b', 1, 0, Service::fifo).gets('a', 1, 0, Service::fifo);
  EXPECT_TRUE(check_daemon_total_order(unordered.history()).empty());
}

TEST(DaemonCheckers, TotalOrderBehindTheSignal) {
  DaemonWriter together = contrary(true);
  together.at('c').view(2, "cd", "cd").at('d').view(2, "cd", "cd");
  EXPECT_EQ(check_daemon_total_order(together.history()).size(), 1u);
  DaemonWriter apart = contrary(true);
  apart.at('c').view(2, "c", "c").at('d').view(3, "d", "d");
  EXPECT_TRUE(check_daemon_total_order(apart.history()).empty());
}

TEST(DaemonCheckers, TotalOrderHasPositions) {
  const auto run = [](std::uint64_t first_at_a, std::uint64_t second_at_a, std::uint64_t second_at_b) {
    DaemonWriter w = in_one_view("ab");
    w.at('a').sends(1, "ab").sends(2, "ab").gets('a', 1, first_at_a).gets('a', 2, second_at_a);
    w.at('b').gets('a', 1, first_at_a).gets('a', 2, second_at_b);
    return check_daemon_total_order(w.history()).size();
  };
  EXPECT_EQ(run(1, 2, 2), 0u);
  EXPECT_GE(run(1, 2, 3), 1u) << "another position elsewhere";
  EXPECT_GE(run(2, 1, 1), 1u) << "positions go down";
  EXPECT_GE(run(1, 0, 0), 1u) << "no position";
}

TEST(DaemonCheckers, TotalOrderEndsWithWhatHasNoPosition) {
  // All move on together, so there is no signal; what was never ordered comes last.
  const auto run = [](std::uint64_t first, std::uint64_t second, bool move_on) {
    DaemonWriter w = in_one_view("ab");
    w.at('a').sends(1, "ab").sends(2, "ab");
    for (const char daemon : {'a', 'b'}) {
      w.at(daemon).gets('a', 1, first).gets('a', 2, second);
      if (move_on) w.view(2, "ab", "ab");
    }
    return check_daemon_total_order(w.history()).size();
  };
  EXPECT_EQ(run(1, 0, true), 0u);
  EXPECT_EQ(run(0, 0, true), 0u);
  EXPECT_GE(run(0, 1, true), 1u);
  EXPECT_GE(run(1, 0, false), 1u);
}

TEST(DaemonCheckers, TotalOrderLeavesNothingOut) {
  const auto run = [](const char* first_to, bool behind_the_signal) {
    DaemonWriter w = in_one_view("ab");
    w.at('a').sends(1, first_to).sends(2, "ab").gets('a', 1, 1).gets('a', 2, 2).at('b');
    if (behind_the_signal) w.signal("b");
    w.gets('a', 2, 2);
    return check_daemon_total_order(w.history()).size();
  };
  EXPECT_EQ(run("ab", false), 1u);
  EXPECT_EQ(run("a", false), 0u) << "not for b";
  EXPECT_EQ(run("ab", true), 0u) << "lost";
}

TEST(DaemonCheckers, Causality) {
  // b answers a; c has both.
  const auto run = [](bool seen, bool in_order) {
    DaemonWriter w = in_one_view("abc");
    w.at('a').sends(1, "bc").at('b');
    if (seen) w.gets('a', 1, 1);
    w.sends(1, "c").at('c');
    if (in_order) w.gets('a', 1, 1);
    w.gets('b', 1, 2);
    if (!in_order) w.gets('a', 1, 3);
    return check_daemon_causality(w.history()).size();
  };
  EXPECT_EQ(run(true, true), 0u);
  EXPECT_EQ(run(true, false), 1u);
  EXPECT_EQ(run(false, false), 0u) << "they do not depend on each other";
}

TEST(DaemonCheckers, CausalityIsTransitive) {
  // a's message reaches c by way of b; d does not get b's.
  DaemonWriter w = in_one_view("abcd");
  w.at('a').sends(1, "bd").at('b').gets('a', 1, 1).sends(1, "c").at('c').gets('b', 1, 2).sends(1, "d");
  DaemonWriter good = w;
  good.at('d').gets('a', 1, 1).gets('c', 1, 3);
  EXPECT_TRUE(check_daemon_causality(good.history()).empty());
  w.at('d').gets('c', 1, 1).gets('a', 1, 2);
  EXPECT_EQ(check_daemon_causality(w.history()).size(), 1u);
}

TEST(DaemonCheckers, CausalityOfWhatWasSentBefore) {
  DaemonWriter w = in_one_view("ab");
  w.at('a').sends(1, "b").sends(2, "b", Service::agreed, 2).at('b').gets('a', 2, 1).gets('a', 1, 2);
  EXPECT_EQ(check_daemon_causality(w.history()).size(), 1u) << "of one daemon, whoever its clients are";
}

TEST(DaemonCheckers, CausalityBehindTheSignal) {
  DaemonWriter w = in_one_view("abcd");
  w.at('b').sends(1, "cd").at('c').gets('b', 1, 1).sends(1, "d");
  w.at('b').signal("bcd").view(2, "bcd", "bcd");
  w.at('c').signal("bcd").view(2, "bcd", "bcd");
  w.at('d').signal("bcd").gets('c', 1, 2).gets('b', 1, 3).view(2, "bcd", "bcd");
  EXPECT_EQ(check_daemon_causality(w.history()).size(), 1u);

  DaemonWriter gone = in_one_view("abcd");
  gone.at('a').sends(1, "bcd").at('b').gets('a', 1, 1).sends(1, "cd");
  gone.at('c').signal("cd").gets('b', 1, 2).gets('a', 1, 3).view(2, "cd", "cd");
  gone.at('d').signal("cd").view(2, "cd", "cd");
  EXPECT_EQ(check_daemon_causality(gone.history()).size(), 1u) << "both origins are gone";
}

TEST(DaemonCheckers, Holes) {
  // a's message is lost with a and b; b's next one stands behind it, and c and d move on together.
  const auto run = [](const char* lost_to, bool in_order, char last_origin, bool c_had_it) {
    DaemonWriter w = in_one_view("abcd");
    w.at('a').sends(1, lost_to).at('b').gets('a', 1, 5).sends(1, "cd").at('d').sends(1, "cd");
    for (const char daemon : {'c', 'd'}) {
      w.at(daemon);
      if (c_had_it && daemon == 'c') w.gets('a', 1, 5);
      w.signal("cd").gets(last_origin, 1, in_order ? 6 : 4).view(2, "cd", "cd");
    }
    return check_daemon_holes(w.history()).size();
  };
  EXPECT_EQ(run("abcd", true, 'b', false), 2u);
  EXPECT_EQ(run("abcd", true, 'd', false), 0u) << "of one that came along";
  EXPECT_EQ(run("abcd", false, 'b', false), 0u) << "before the hole";
  EXPECT_EQ(run("abc", true, 'b', false), 0u) << "d may have gone past it";
  EXPECT_EQ(run("abcd", true, 'b', true), 0u) << "another checker's business";
}

TEST(DaemonCheckers, HolesOfOneWhoseFellowGetsNoFurther) {
  // c goes on as if with d, which ends before it installs that view.
  const auto run = [](const char* lost_to, char last_origin) {
    DaemonWriter w = in_one_view("abcd");
    w.at('a').sends(1, lost_to).at('b').gets('a', 1, 5).sends(1, "cd").at('d').sends(1, "cd").crashes();
    w.at('c').signal("cd").gets(last_origin, 1, 6).view(2, "cd", "cd");
    return check_daemon_holes(w.history()).size();
  };
  EXPECT_EQ(run("abcd", 'b'), 1u);
  EXPECT_EQ(run("abcd", 'd'), 0u) << "of one that was to come along";
  EXPECT_EQ(run("abc", 'b'), 0u) << "d may have gone past it";
}

TEST(DaemonCheckers, SafeDelivery) {
  // a has the safe message of b, c has not. What becomes of c?
  const auto base = [](bool behind_the_signal) {
    DaemonWriter w = in_one_view("abc");
    w.at('b').sends(1, "ac", Service::safe).at('a');
    if (behind_the_signal) w.signal("a");
    w.gets('b', 1, 1, Service::safe);
    return w;
  };
  DaemonWriter moved_on = base(false);
  moved_on.at('c').signal("c").view(2, "c", "c");
  EXPECT_EQ(check_daemon_safe_delivery(moved_on.history()).size(), 1u);
  DaemonWriter has_it = base(false);
  has_it.at('c').signal("c").gets('b', 1, 1, Service::safe).view(2, "c", "c");
  EXPECT_TRUE(check_daemon_safe_delivery(has_it.history()).empty()) << "behind the signal will do";
  DaemonWriter transitional = base(true);
  transitional.at('c').signal("c").view(2, "c", "c");
  EXPECT_TRUE(check_daemon_safe_delivery(transitional.history()).empty());

  DaemonWriter crashed = base(false);
  crashed.at('c').crashes();
  EXPECT_TRUE(check_daemon_safe_delivery({crashed.history(), true}).empty());
  EXPECT_TRUE(check_daemon_safe_delivery(base(false).history()).empty()) << "it may still come";
  EXPECT_EQ(check_daemon_safe_delivery({base(false).history(), true}).size(), 1u) << "it does not come any more";

  DaemonWriter agreed = in_one_view("abc");
  agreed.at('b').sends(1, "ac").at('a').gets('b', 1, 1).at('c').signal("c").view(2, "c", "c");
  EXPECT_TRUE(check_daemon_safe_delivery(agreed.history()).empty());
  DaemonWriter not_for_it = in_one_view("abc");
  not_for_it.at('b').sends(1, "a", Service::safe).at('a').gets('b', 1, 1, Service::safe);
  not_for_it.at('c').signal("c").view(2, "c", "c");
  EXPECT_TRUE(check_daemon_safe_delivery(not_for_it.history()).empty());
}

TEST(DaemonCheckers, SafeDeliveryAtAMemberThatNeverCame) {
  DaemonWriter w;
  w.at('a').view(1, "ab", "a").sends(1, "ab", Service::safe).gets('a', 1, 1, Service::safe);
  EXPECT_TRUE(check_daemon_safe_delivery(w.history()).empty());
  w.at('b').view(2, "b", "b");
  EXPECT_EQ(check_daemon_safe_delivery(w.history()).size(), 1u) << "b has gone past view 1";
}

}  // namespace
}  // namespace spindled::checkers
