// Each checker of daemons on a history that is right, and on one with each thing wrong that it is there to find: views,
// what they hold together, and what is handed up. checkers_daemon_order_test.cpp has those of order.
#include <gtest/gtest.h>

#include "tests/checkers/checkers.h"
#include "tests/checkers/daemon_checkers.h"
#include "tests/unit/checkers_daemon_writer.h"

namespace spindled::checkers {
namespace {

/// a, b and c form view 5 from views of their own, and have a message each: c's is safe, b's is fifo and not for a.
DaemonWriter three_daemons() {
  DaemonWriter w;
  for (const char daemon : {'a', 'b', 'c'}) {
    w.at(daemon).view(1, std::string(1, daemon), std::string(1, daemon)).view(5, "abc", std::string(1, daemon));
  }
  w.at('a').sends(1, "abc").gets('a', 1, 1).gets('c', 1, 2, Service::safe);
  w.at('b').sends(1, "bc", Service::fifo).gets('b', 1, 0, Service::fifo).gets('a', 1, 1).gets('c', 1, 2, Service::safe);
  w.at('c')
      .sends(1, "abc", Service::safe)
      .gets('a', 1, 1)
      .gets('b', 1, 0, Service::fifo)
      .gets('c', 1, 2, Service::safe);
  return w;
}

/// Then c crashes, and a and b go on, with a message of c behind the signal.
DaemonWriter two_go_on() {
  DaemonWriter w = three_daemons();
  w.at('c').sends(2, "abc").crashes();
  for (const char daemon : {'a', 'b'}) w.at(daemon).signal("ab").gets('c', 2, 3).view(6, "ab", "ab");
  w.at('a').sends(1, "ab").gets('a', 1, 1).at('b').gets('a', 1, 1);
  return w;
}

TEST(DaemonCheckers, FindNothingInAGoodHistory) {
  EXPECT_EQ(to_text(check_all(three_daemons(), true)), "");
  EXPECT_EQ(to_text(check_all(two_go_on(), true)), "");
  EXPECT_EQ(to_text(check_all(History{}, true)), "") << "the daemons' histories may be unknown";
}

TEST(DaemonCheckers, CheckAllAsksAllOfThem) {
  const auto finds = [](const DaemonWriter& w, const std::string& property) {
    return to_text(check_all(w, true)).find(property + ": ") != std::string::npos;
  };
  EXPECT_TRUE(finds(DaemonWriter(two_go_on()).at('a').view(3, "a", "a"), "local monotonicity"));
  EXPECT_TRUE(finds(DaemonWriter(two_go_on()).at('a').signal("b").view(7, "a", "a"), "transitional set"));
  EXPECT_TRUE(finds(DaemonWriter(two_go_on()).at('a').gets('a', 1, 1), "no duplicates"));
  EXPECT_TRUE(finds(DaemonWriter(two_go_on()).at('a').gets('b', 9, 9), "no invention"));
  EXPECT_TRUE(finds(DaemonWriter(two_go_on()).at('a').gets('b', 1, 9), "sending view"));
  EXPECT_TRUE(finds(DaemonWriter(two_go_on()).at('a').sends(2, "b"), "liveness"));
  EXPECT_TRUE(finds(DaemonWriter(two_go_on()).at('a').sends(2, "a").signal("a").view(7, "a", "a"), "self-delivery"));
}

TEST(DaemonCheckers, Views) {
  EXPECT_TRUE(check_daemon_views(two_go_on().history()).empty());

  DaemonWriter members = two_go_on();
  members.at('d').view(6, "abd", "d");
  EXPECT_EQ(to_text(check_daemon_views(members.history())),
            "agreement on views: view 6@a was installed with 2 members, and with 3 others\n");
  DaemonWriter of_another_life = two_go_on();
  of_another_life.at('a').restarts().view(6, "a2b", "a");
  EXPECT_TRUE(check_daemon_views(of_another_life.history()).empty());

  DaemonWriter twice;
  twice.at('a').view(1, "aab", "a");
  EXPECT_EQ(check_daemon_views(twice.history()).size(), 1u);

  DaemonWriter outside;
  outside.at('c').view(1, "ab", "");
  EXPECT_EQ(to_text(check_daemon_views(outside.history())), "self-inclusion: c/1 installed view 1@a without it\n");
  DaemonWriter with_former_life;
  with_former_life.at('c').restarts().view(1, "bc", "c");
  EXPECT_EQ(check_daemon_views(with_former_life.history()).size(), 1u);

  for (const std::uint64_t number : {5u, 6u}) {
    DaemonWriter back = two_go_on();
    back.at('b').view(number, "b", "b");
    EXPECT_EQ(check_daemon_views(back.history()).size(), 1u) << number;
  }
  DaemonWriter from_the_start = two_go_on();
  from_the_start.at('b').restarts().view(1, "b2", "b");
  EXPECT_TRUE(check_daemon_views(from_the_start.history()).empty());
}

TEST(DaemonCheckers, TransitionalSets) {
  EXPECT_EQ(to_text(check_daemon_transitional_sets(two_go_on().history())), "");
  // a and b come from view 5 to view 6; what they are told is in question.
  const auto told = [](const char* a, const char* b) {
    DaemonWriter w = three_daemons();
    w.at('a').signal(a).view(6, "ab", a).at('b').signal(b).view(6, "ab", b);
    return to_text(check_daemon_transitional_sets(w.history()));
  };
  EXPECT_EQ(told("ab", "ab"), "");
  EXPECT_NE(told("a", "ab"), "") << "leaves out one who is there";
  EXPECT_NE(told("b", "ab"), "") << "without itself";

  DaemonWriter stranger = three_daemons();
  stranger.at('a').signal("a").view(6, "ad", "ad").at('d').view(1, "d", "d").view(6, "ad", "d");
  EXPECT_NE(to_text(check_daemon_transitional_sets(stranger.history())), "");

  DaemonWriter from_another_view = three_daemons();
  from_another_view.at('b').signal("b").view(6, "b", "b").view(9, "ab", "b");
  from_another_view.at('a').signal("ab").view(9, "ab", "ab");
  EXPECT_NE(to_text(check_daemon_transitional_sets(from_another_view.history())), "");

  // a and b agree that they are together; only b holds that c, who never came, is with them.
  DaemonWriter differing = three_daemons();
  differing.at('a').signal("ab").view(6, "abc", "ab").at('b').signal("abc").view(6, "abc", "abc");
  EXPECT_NE(to_text(check_daemon_transitional_sets(differing.history())), "");
}

TEST(DaemonCheckers, TransitionalSignals) {
  const auto end_of_view = [](const char* signal, const char* again, const char* next, const char* along) {
    DaemonWriter w = three_daemons();
    w.at('a');
    if (*signal != 0) w.signal(signal);
    if (*again != 0) w.signal(again);
    w.view(6, next, along);
    return check_daemon_transitional_sets(w.history()).size();
  };
  EXPECT_EQ(end_of_view("ab", "", "ab", "ab"), 0u);
  EXPECT_EQ(end_of_view("", "", "abc", "abc"), 0u);
  EXPECT_EQ(end_of_view("", "", "ab", "ab"), 1u) << "no signal, though c is left behind";
  EXPECT_EQ(end_of_view("abc", "", "abc", "abc"), 1u) << "nobody is left behind";
  EXPECT_EQ(end_of_view("a", "", "ab", "ab"), 1u) << "names others";
  EXPECT_EQ(end_of_view("ab", "ab", "ab", "ab"), 1u) << "twice";
}

TEST(DaemonCheckers, VirtualSynchrony) {
  EXPECT_EQ(to_text(check_daemon_virtual_synchrony(two_go_on().history())), "");
  // c sends a message that a has and b has not.
  const auto run = [](Service service, const char* to, const char* along) {
    DaemonWriter w = three_daemons();
    w.at('c').sends(2, to, service).crashes();
    const std::string a_along = along;
    w.at('a').signal(along).gets('c', 2, is_ordered(service) ? 3 : 0, service).view(6, along, along);
    w.at('b').signal(a_along == "ab" ? "ab" : "b").view(a_along == "ab" ? 6 : 7, a_along == "ab" ? "ab" : "b", "b");
    if (a_along == "ab") w.last<ViewInstalled>().came_along = MemberSet::first(2);
    return check_daemon_virtual_synchrony(w.history()).size();
  };
  for (const Service service : {Service::reliable, Service::fifo, Service::causal, Service::agreed, Service::safe}) {
    EXPECT_EQ(run(service, "abc", "ab"), 1u);
    EXPECT_EQ(run(service, "abc", "a"), 0u) << "they do not move together";
    EXPECT_EQ(run(service, "ac", "ab"), 0u) << "it is not for b";
  }
  EXPECT_EQ(run(Service::unreliable, "abc", "ab"), 0u);

  DaemonWriter own = three_daemons();
  own.at('a').sends(2, "bc", Service::reliable).view(6, "abc", "abc");
  own.at('b').view(6, "abc", "abc").at('c').gets('a', 2, 0, Service::reliable).view(6, "abc", "abc");
  EXPECT_EQ(check_daemon_virtual_synchrony(own.history()).size(), 1u) << "what one who comes along has sent";
}

TEST(DaemonCheckers, VirtualSynchronyOnBothSidesOfTheSignal) {
  // a has c's message 3 before the signal, b behind it. Message 2 comes before it and is for b and c only.
  const auto run = [](bool is_sent, bool b_gets_it, bool before) {
    DaemonWriter w = three_daemons();
    w.at('c');
    if (is_sent) w.sends(2, "bc");
    w.sends(3, "abc").crashes();
    w.at('a').gets('c', 3, 4).signal("ab").view(6, "ab", "ab");
    w.at('b');
    if (b_gets_it && before) w.gets('c', 2, 3);
    w.signal("ab");
    if (b_gets_it && !before) w.gets('c', 2, 3);
    w.gets('c', 3, 4).view(6, "ab", "ab");
    return check_daemon_virtual_synchrony(w.history()).size();
  };
  EXPECT_EQ(run(false, false, false), 1u) << "nothing held it back at b";
  EXPECT_EQ(run(true, true, true), 1u) << "nothing held it back at b: it had message 2";
  EXPECT_EQ(run(true, true, false), 0u) << "message 2 came behind the signal";
  EXPECT_EQ(run(true, false, false), 0u) << "message 2 is lost";
}

TEST(DaemonCheckers, VirtualSynchronyWhereAnotherLacksAMessage) {
  // a has d's message 3 before the signal, b behind it; message 2 before it was for `to` only, and is lost.
  const auto run = [](const char* to, Service service) {
    DaemonWriter w;
    for (const char daemon : {'a', 'b', 'c', 'd'}) w.at(daemon).view(1, "abcd", std::string(1, daemon));
    w.at('d').sends(2, to, service).sends(3, "ab").crashes();
    w.at('a').gets('d', 3, 2).signal("abc").view(2, "abc", "abc");
    w.at('b').signal("abc").gets('d', 3, 2).view(2, "abc", "abc");
    w.at('c').signal("abc").view(2, "abc", "abc");
    return check_daemon_virtual_synchrony(w.history()).size();
  };
  EXPECT_EQ(run("c", Service::agreed), 0u) << "c moves along: for all three the signal comes there, but a was past it";
  EXPECT_EQ(run("d", Service::agreed), 1u) << "none of them needs it";
  EXPECT_EQ(run("d", Service::safe), 0u) << "it may not have been safe";
}

TEST(DaemonCheckers, VirtualSynchronyWhereOneThatWasToComeAlongParts) {
  // As above, but c, which `signal` may name, goes on by itself.
  const auto run = [](const char* to, const char* signal) {
    DaemonWriter w;
    for (const char daemon : {'a', 'b', 'c', 'd'}) w.at(daemon).view(1, "abcd", std::string(1, daemon));
    w.at('d').sends(2, to).sends(3, "ab").crashes();
    w.at('a').gets('d', 3, 2).signal(signal).view(2, "abc", "ab");
    w.at('b').signal(signal).gets('d', 3, 2).view(2, "abc", "ab");
    w.at('c').signal("c").view(3, "c", "c");
    return check_daemon_virtual_synchrony(w.history()).size();
  };
  EXPECT_EQ(run("c", "abc"), 0u) << "b had to wait for what c lacked";
  EXPECT_EQ(run("c", "ab"), 1u) << "c was not to come along";
  EXPECT_EQ(run("d", "abc"), 1u) << "none of the three needed it";
}

TEST(DaemonCheckers, SendingView) {
  DaemonWriter later = three_daemons();
  later.at('c').sends(2, "abc");
  later.at('a').signal("ab").view(6, "abc", "ab").gets('c', 2, 1);
  EXPECT_EQ(check_daemon_sending_view(later.history()).size(), 1u);
  EXPECT_TRUE(check_daemon_sending_view(two_go_on().history()).empty());
}

TEST(DaemonCheckers, NoDuplicates) {
  EXPECT_TRUE(check_daemon_no_duplicates(two_go_on().history()).empty());
  DaemonWriter ordered = three_daemons();
  ordered.at('a').gets('a', 1, 1);
  EXPECT_EQ(check_daemon_no_duplicates(ordered.history()).size(), 1u);
  DaemonWriter behind_the_signal = three_daemons();
  behind_the_signal.at('b').signal("b").gets('b', 1, 0, Service::fifo);
  EXPECT_EQ(check_daemon_no_duplicates(behind_the_signal.history()).size(), 1u);
  DaemonWriter unreliable = three_daemons();
  unreliable.at('a').sends(0, "b", Service::unreliable);
  unreliable.at('b').gets('a', 0, 0, Service::unreliable).gets('a', 0, 0, Service::unreliable);
  EXPECT_EQ(check_daemon_no_duplicates(unreliable.history()).size(), 1u);
}

TEST(DaemonCheckers, NoInvention) {
  EXPECT_TRUE(check_daemon_no_invention(two_go_on().history()).empty());
  const auto with = [](auto change) {
    DaemonWriter w = three_daemons();
    w.at('a').sends(2, "ab").at('b').gets('a', 2, 3);
    change(w.last<HandedUp>());
    return check_daemon_no_invention(w.history()).size();
  };
  EXPECT_EQ(with([](HandedUp&) {}), 0u);
  EXPECT_EQ(with([](HandedUp& got) { got.number = 3; }), 1u);
  EXPECT_EQ(with([](HandedUp& got) { got.origin = 2; }), 1u);
  EXPECT_EQ(with([](HandedUp& got) { got.digest = 1; }), 1u);
  EXPECT_EQ(with([](HandedUp& got) { got.service = Service::safe; }), 1u);
  EXPECT_EQ(with([](HandedUp& got) { got.message_class = MessageClass::group; }), 1u);
  EXPECT_EQ(with([](HandedUp& got) { got.origin = 7; }), 1u) << "no member";
  DaemonWriter not_for_it = three_daemons();
  not_for_it.at('a').gets('b', 1, 0, Service::fifo);
  EXPECT_EQ(check_daemon_no_invention(not_for_it.history()).size(), 1u);
}

TEST(DaemonCheckers, SelfDelivery) {
  EXPECT_TRUE(check_daemon_self_delivery(two_go_on().history()).empty());
  const auto run = [](Service service, const char* to, bool goes_on) {
    DaemonWriter w = three_daemons();
    w.at('a').sends(2, to, service);
    if (goes_on) w.signal("a").view(6, "a", "a");
    return check_daemon_self_delivery(w.history()).size();
  };
  EXPECT_EQ(run(Service::agreed, "abc", true), 1u);
  EXPECT_EQ(run(Service::reliable, "a", true), 1u);
  EXPECT_EQ(run(Service::unreliable, "abc", true), 0u);
  EXPECT_EQ(run(Service::agreed, "bc", true), 0u);
  EXPECT_EQ(run(Service::agreed, "abc", false), 0u) << "it may still come";
}

TEST(DaemonCheckers, Liveness) {
  EXPECT_TRUE(check_daemon_liveness({two_go_on().history(), true}).empty());

  for (const Service service : {Service::unreliable, Service::reliable, Service::agreed}) {
    DaemonWriter missing = two_go_on();
    missing.at('a').sends(2, "b", service);
    EXPECT_EQ(check_daemon_liveness({missing.history(), true}).size(), service == Service::unreliable ? 0u : 1u);
  }
  DaemonWriter on_its_way = two_go_on();
  on_its_way.at('a').sends(2, "b");
  EXPECT_TRUE(check_daemon_liveness({on_its_way.history(), false}).empty());
  History new_view = on_its_way.history();
  new_view.end = Time{} + std::chrono::milliseconds(999);
  EXPECT_TRUE(check_daemon_liveness({new_view, true}).empty());
  new_view.end += std::chrono::milliseconds(2);
  EXPECT_EQ(check_daemon_liveness({new_view, true}).size(), 1u);
  DaemonWriter left_alone = two_go_on();
  left_alone.at('b').signal("b").view(7, "b", "b");
  EXPECT_EQ(check_daemon_liveness({left_alone.history(), true}).size(), 1u) << "a is in a view that b has left";
  DaemonWriter with_the_dead = two_go_on();
  with_the_dead.at('b').crashes();
  EXPECT_EQ(check_daemon_liveness({with_the_dead.history(), true}).size(), 1u);
  DaemonWriter with_who_never_came = two_go_on();
  with_who_never_came.at('a').view(8, "abd", "ab").at('b').view(8, "abd", "ab");
  EXPECT_FALSE(check_daemon_liveness({with_who_never_came.history(), true}).empty());
}

}  // namespace
}  // namespace spindled::checkers
