// Each checker on a history that is right, and on one with each thing wrong that it is there to find.
#include "tests/checkers/checkers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/base/result.h"
#include "tests/unit/checkers_writer.h"

namespace spindled::checkers {
namespace {

using spindle::ViewCause;

/// A message is told by its number.
class Writer : public HistoryWriter<Writer> {
 public:
  Writer& since(Duration time) {
    current().since = Time(time);
    return *this;
  }
  Writer& sends(std::uint64_t number, Service service = Service::agreed, bool self_discard = false) {
    return add(Sent{message(current().name.at(1), number, service), self_discard});
  }
  Writer& gets(char sender, std::uint64_t number, Service service = Service::agreed) {
    return add(Delivered{message(sender, number, service)});
  }
  Writer& sends_to(const std::string& group, std::uint64_t number) {
    return add(Sent{message_to(group, current().name.at(1), number), false});
  }
  Writer& gets_of(const std::string& group, char sender, std::uint64_t number) {
    return add(Delivered{message_to(group, sender, number)});
  }
  Writer& with_independent_flows() {
    current().independent_flows = true;
    return *this;
  }
  Writer& joins() { return add(JoinRequested{"g"}); }
  Writer& signal() { return add(Transitional{"g"}); }
  Writer& view(std::uint64_t position, const std::string& members, ViewCause cause = ViewCause::join,
               const std::string& changed = "", const std::string& vs_set = "") {
    return add(GroupView{"g", {1, "d", 0, position}, cause, names(members), names(vs_set), names(changed)});
  }

  static MessageRecord message(char sender, std::uint64_t number, Service service) {
    return {name_of(sender), number, 10, service, 0, {"g"}};
  }
  static MessageRecord message_to(const std::string& group, char sender, std::uint64_t number) {
    return {name_of(sender), number, 10, Service::agreed, 0, {group}};
  }
};

/// Two members, and a message of each to both.
Writer two_members() {
  Writer w;
  w.at('a').joins().view(1, "ab", ViewCause::join, "b").sends(1).gets('a', 1).gets('b', 2);
  w.at('b').joins().view(1, "ab", ViewCause::join, "b").sends(2).gets('a', 1).gets('b', 2);
  return w;
}

TEST(Checkers, FindNothingInAGoodHistory) { EXPECT_EQ(to_text(check_all(two_members().history(), true)), ""); }

TEST(Checkers, CheckAllAsksAllCheckers) {
  Writer w = two_members();
  w.at('a').gets('b', 2);  // a duplicate
  EXPECT_FALSE(check_all(w.history(), false).empty());
  Writer x = two_members();
  x.at('a').sends(3);  // not come back
  EXPECT_TRUE(check_all(x.history(), false).empty());
  EXPECT_FALSE(check_all(x.history(), true).empty());
}

TEST(Checkers, Duplicates) {
  Writer w = two_members();
  EXPECT_TRUE(check_no_duplicates(w.history()).empty());
  w.at('b').gets('a', 1);
  EXPECT_EQ(check_no_duplicates(w.history()).size(), 1u);
}

TEST(Checkers, Positions) {
  const auto got = [](char sender, std::uint64_t number, std::uint64_t changes, std::uint64_t order,
                      std::uint32_t index = 0, Service service = Service::agreed) {
    return Delivered{Writer::message(sender, number, service),
                     spindle::MessagePosition{{1, "d", 0, changes}, order, index}};
  };
  const auto with_views = [] {
    Writer w;
    w.at('a').joins().view(1, "ab", ViewCause::join, "b");
    w.at('b').joins().view(1, "ab", ViewCause::join, "b");
    return w;
  };
  Writer good = with_views();
  good.at('a').add(got('a', 1, 1, 5)).add(got('a', 2, 1, 5, 1)).view(2, "abc").add(got('b', 3, 2, 6));
  good.at('b').add(got('a', 1, 1, 5)).add(got('a', 2, 1, 5, 1)).view(2, "abc").add(got('b', 3, 2, 6));
  EXPECT_EQ(to_text(check_positions(good.history())), "");

  Writer unordered = with_views();
  unordered.at('a').add(got('a', 1, 1, 5, 0, Service::fifo));
  EXPECT_EQ(check_positions(unordered.history()).size(), 1u);

  Writer back = with_views();
  back.at('a').add(got('a', 1, 1, 5)).add(got('a', 2, 1, 4));
  EXPECT_EQ(check_positions(back.history()).size(), 1u);

  Writer same = with_views();
  same.at('a').add(got('a', 1, 1, 5)).add(got('a', 2, 1, 5));
  EXPECT_FALSE(check_positions(same.history()).empty());

  Writer of_two = with_views();
  of_two.at('a').add(got('a', 1, 1, 5)).at('b').add(got('b', 2, 1, 5));
  EXPECT_EQ(check_positions(of_two.history()).size(), 1u) << "one place, two messages";

  Writer differ = with_views();
  differ.at('a').add(got('a', 1, 1, 5)).at('b').add(got('a', 1, 1, 6));
  EXPECT_EQ(check_positions(differ.history()).size(), 1u) << "one message, two places";

  Writer missed_a_change = with_views();
  missed_a_change.at('a').add(got('a', 1, 2, 5)).at('b').add(got('a', 1, 1, 5));
  EXPECT_EQ(to_text(check_positions(missed_a_change.history())), "") << "as behind a hole";

  Writer before_its_view = with_views();
  before_its_view.at('a').view(2, "abc").add(got('a', 1, 1, 5));
  EXPECT_EQ(check_positions(before_its_view.history()).size(), 1u);

  Writer behind_the_next = with_views();
  behind_the_next.at('a').add(got('a', 1, 2, 5)).view(2, "abc");
  EXPECT_EQ(check_positions(behind_the_next.history()).size(), 1u);
}

TEST(Checkers, Invention) {
  EXPECT_TRUE(check_no_invention(two_members().history()).empty());
  Writer nobody_sent = two_members();
  nobody_sent.at('b').gets('a', 77);
  EXPECT_EQ(check_no_invention(nobody_sent.history()).size(), 1u);

  Writer changed = two_members();
  changed.at('a').sends(3).at('b').gets('a', 3, Service::safe);
  EXPECT_EQ(check_no_invention(changed.history()).size(), 1u);

  Writer long_unreliable;
  for (const std::uint64_t size : {32u << 10, (32u << 10) + 1}) {
    MessageRecord message = Writer::message('a', size, Service::unreliable);
    message.size = size;
    long_unreliable.at('a').joins().add(Sent{message, false});
    message.service = Service::reliable;
    long_unreliable.at('a').add(Delivered{message});
  }
  EXPECT_EQ(check_no_invention(long_unreliable.history()).size(), 1u) << "sent as reliable above 32 KiB only";

  Writer to_a_stranger = two_members();
  to_a_stranger.at('c').gets('a', 1);
  EXPECT_EQ(check_no_invention(to_a_stranger.history()).size(), 1u);
  Writer to_a_member = two_members();
  to_a_member.at('c').joins().gets('a', 1);
  EXPECT_TRUE(check_no_invention(to_a_member.history()).empty());

  Writer discarded = two_members();
  discarded.at('a').sends(3, Service::agreed, true).gets('a', 3);
  EXPECT_EQ(check_no_invention(discarded.history()).size(), 1u);
}

TEST(Checkers, Fifo) {
  for (const Service service : {Service::fifo, Service::causal, Service::agreed, Service::safe}) {
    Writer w;
    w.at('a').sends(1, service).sends(2, service).at('b').gets('a', 2, service).gets('a', 1, service);
    EXPECT_EQ(check_fifo(w.history()).size(), 1u);
  }
  Writer mixed;
  mixed.at('a').sends(1, Service::agreed).sends(2, Service::fifo);
  mixed.at('b').gets('a', 2, Service::fifo).gets('a', 1, Service::agreed);
  EXPECT_EQ(check_fifo(mixed.history()).size(), 1u);

  Writer reliable;
  reliable.at('a').sends(1, Service::reliable).sends(2, Service::reliable);
  reliable.at('b').gets('a', 2, Service::reliable).gets('a', 1, Service::reliable);
  EXPECT_TRUE(check_fifo(reliable.history()).empty());
}

TEST(Checkers, TotalOrder) {
  Writer w;
  w.at('a').sends(1).at('b').sends(2);
  w.at('c').view(1, "cd").gets('a', 1).gets('b', 2).at('d').view(1, "cd").gets('b', 2).gets('a', 1);
  EXPECT_EQ(check_total_order(w.history()).size(), 1u);

  Writer without_common_group;
  without_common_group.at('c').view(1, "c").gets('a', 1).gets('b', 2).at('d').gets('b', 2).gets('a', 1);
  EXPECT_TRUE(check_total_order(without_common_group.history()).empty());

  Writer with_others_between;
  with_others_between.at('c').view(1, "cd").gets('a', 1).gets('a', 5).gets('b', 2);
  with_others_between.at('d').view(1, "cd").gets('b', 2).gets('a', 6).gets('a', 1);
  EXPECT_EQ(check_total_order(with_others_between.history()).size(), 1u);

  Writer before_the_join_is_told;  // and d, who has joined, is not known to c yet
  before_the_join_is_told.at('c').view(1, "c").gets('a', 1).gets('b', 2);
  before_the_join_is_told.at('d').view(2, "cd").gets('b', 2).gets('a', 1);
  EXPECT_TRUE(check_total_order(before_the_join_is_told.history()).empty());
  EXPECT_TRUE(check_one_order(before_the_join_is_told.history()).empty());

  Writer unordered;
  unordered.at('c').gets('a', 1, Service::fifo).gets('b', 2, Service::fifo);
  unordered.at('d').gets('b', 2, Service::fifo).gets('a', 1, Service::fifo);
  EXPECT_TRUE(check_total_order(unordered.history()).empty());
}

TEST(Checkers, TotalOrderBehindATransitionalSignal) {
  Writer together;
  together.at('c').signal().gets('a', 1).gets('b', 2).view(2, "cd", ViewCause::network, "", "cd");
  together.at('d').signal().gets('b', 2).gets('a', 1).view(2, "cd", ViewCause::network, "", "cd");
  EXPECT_EQ(check_total_order(together.history()).size(), 1u);

  Writer with_a_join;  // which does not end what the signal begins
  with_a_join.at('c').signal().view(2, "cde").gets('a', 1).gets('b', 2).view(3, "cd", ViewCause::network, "", "cd");
  with_a_join.at('d').signal().gets('b', 2).view(2, "cde").gets('a', 1).view(3, "cd", ViewCause::network, "", "cd");
  EXPECT_EQ(check_total_order(with_a_join.history()).size(), 1u);

  Writer meeting_again;
  meeting_again.at('c').signal().gets('a', 1).gets('b', 2).view(2, "cd", ViewCause::network, "d", "c");
  meeting_again.at('d').signal().gets('b', 2).gets('a', 1).view(2, "cd", ViewCause::network, "c", "d");
  EXPECT_TRUE(check_total_order(meeting_again.history()).empty());

  Writer apart;
  apart.at('c').signal().gets('a', 1).gets('b', 2).view(2, "c", ViewCause::network);
  apart.at('d').signal().gets('b', 2).gets('a', 1).view(3, "d", ViewCause::network);
  EXPECT_TRUE(check_total_order(apart.history()).empty());
}

/// A daemon that gave no signal: the history tells what daemons did.
void add_quiet_daemon(Writer& w) { w.history().daemons.emplace_back().id = {"d", 1}; }

TEST(Checkers, OneOrderOverAllClients) {
  // No two of them disagree.
  const auto make = [](bool in_a_circle, bool transitional) {
    Writer w;
    w.at('a').sends(1).sends(2).sends(3);
    const auto get = [&](char client, std::uint64_t first, std::uint64_t second) {
      w.at(client).view(1, "cde");
      if (transitional) w.signal();
      w.gets('a', first).gets('a', second);
    };
    get('c', 1, 2);
    get('d', 2, 3);
    get('e', in_a_circle ? 3 : 1, in_a_circle ? 1 : 3);
    EXPECT_TRUE(check_total_order(w.history()).empty());
    return w;
  };
  EXPECT_EQ(check_one_order(make(true, false).history()).size(), 1u)
      << "in the group: nobody knows of daemons' signals";
  Writer known = make(true, false);
  add_quiet_daemon(known);
  EXPECT_EQ(check_one_order(known.history()).size(), 2u) << "in the group, and in all";
  EXPECT_TRUE(check_one_order(make(false, false).history()).empty());
  // Their daemons parted while the messages were under way.
  Writer parted = make(true, true);
  DaemonHistory& daemon = parted.history().daemons.emplace_back();
  daemon.id = {"d", 1};
  daemon.events.push_back({Time{}, Signal{}});
  EXPECT_TRUE(check_one_order(parted.history()).empty());
}

TEST(Checkers, OneOrderOverAllGroups) {
  Writer w;
  add_quiet_daemon(w);
  w.at('a').sends_to("g", 1).sends_to("h", 2).sends_to("i", 3);
  w.at('c').gets_of("g", 'a', 1).gets_of("h", 'a', 2);
  w.at('d').gets_of("h", 'a', 2).gets_of("i", 'a', 3);
  EXPECT_TRUE(check_one_order(w.history()).empty());
  w.at('e').gets_of("i", 'a', 3).gets_of("g", 'a', 1);
  EXPECT_EQ(check_one_order(w.history()).size(), 1u);
}

TEST(Checkers, GapsAccountForWhatIsMissing) {
  const auto make = [](std::uint64_t told, std::uint64_t missing) {
    Writer w;
    w.at('c').sends(1).sends(2).sends(3);
    w.at('a').view(1, "ab");
    for (std::uint64_t i = 1; i <= 3; ++i) w.gets('c', i);
    w.view(2, "abd", ViewCause::join, "d");
    w.at('b').view(1, "ab");
    if (told > 0) w.add(Gapped{told, {{"g", told}}, 0});
    for (std::uint64_t i = 1 + missing; i <= 3; ++i) w.gets('c', i);
    w.view(2, "abd", ViewCause::join, "d");
    return std::pair(check_virtual_synchrony(w.history()).size(), check_gaps(w.history()).size());
  };
  EXPECT_EQ(make(0, 0), std::pair(0ul, 0ul));
  EXPECT_EQ(make(2, 2), std::pair(0ul, 0ul));
  EXPECT_EQ(make(1, 2), std::pair(1ul, 0ul)) << "more are missing than it was told";
  EXPECT_EQ(make(2, 1), std::pair(0ul, 2ul)) << "it was told of more than is missing, in all and of the group";
}

TEST(Checkers, WhatStandsInAGapNeitherComesBackNorIsSafe) {
  Writer own;
  own.at('a').joins().view(1, "a").sends(1);
  EXPECT_EQ(check_self_delivery(own.history()).size(), 1u);
  own.add(Gapped{1, {{"g", 1}}, 0});
  EXPECT_TRUE(check_self_delivery(own.history()).empty());
  own.sends(2);
  EXPECT_EQ(check_self_delivery(own.history()).size(), 1u) << "the gap accounts for one";

  Writer safe;
  safe.at('c').sends(1, Service::safe);
  safe.at('a').view(1, "ab").gets('c', 1, Service::safe);
  safe.at('b').view(1, "ab");
  EXPECT_EQ(check_safe_delivery(safe.history(), true).size(), 1u);
  safe.add(Gapped{1, {{"g", 1}}, 0});
  EXPECT_TRUE(check_safe_delivery(safe.history(), true).empty());
}

TEST(Checkers, Causality) {
  Writer w;
  w.at('a').sends(1).at('b').gets('a', 1).sends(2);
  w.at('c').gets('b', 2).gets('a', 1);
  EXPECT_EQ(check_causality(w.history()).size(), 1u);

  Writer good;
  good.at('a').sends(1).at('b').gets('a', 1).sends(2);
  good.at('c').gets('a', 1).gets('b', 2);
  EXPECT_TRUE(check_causality(good.history()).empty());

  Writer independent;
  independent.at('a').sends(1).at('b').sends(2).gets('a', 1);
  independent.at('c').gets('b', 2).gets('a', 1);
  EXPECT_TRUE(check_causality(independent.history()).empty());
}

TEST(Checkers, CausalityIsTransitive) {
  // a's message reaches b, and b's reaches c; what d gets of c's depends on a's, though d never gets b's.
  Writer w;
  w.at('c').gets('b', 2).sends(3);
  w.at('b').gets('a', 1).sends(2);
  w.at('a').sends(1);
  Writer good = w;
  good.at('d').gets('a', 1).gets('c', 3);
  EXPECT_TRUE(check_causality(good.history()).empty());
  Writer unseen = w;
  unseen.at('d').gets('c', 3);
  EXPECT_TRUE(check_causality(unseen.history()).empty());
  Writer behind_the_signal = w;
  behind_the_signal.at('d').gets('c', 3).signal().gets('a', 1);
  EXPECT_EQ(check_causality(behind_the_signal.history()).size(), 1u);
  w.at('d').gets('c', 3).gets('a', 1);
  EXPECT_EQ(check_causality(w.history()).size(), 1u);
}

TEST(Checkers, CausalityInACircle) {
  Writer w;
  w.at('a').gets('b', 2).sends(1).at('b').gets('a', 1).sends(2);
  w.at('c').gets('a', 1).gets('b', 2).at('d').gets('b', 2).gets('a', 1);
  EXPECT_FALSE(check_causality(w.history()).empty()) << "each was delivered before the other could be sent";
}

TEST(Checkers, IndependentFlowsKeepTheirOwnOrder) {
  // Messages 1 and 3 go to g, 2 to h.
  Writer sent;
  sent.at('a').sends_to("g", 1).sends_to("h", 2).sends_to("g", 3);
  Writer overtaken = sent;
  overtaken.at('b').gets_of("h", 'a', 2).gets_of("g", 'a', 1).gets_of("g", 'a', 3);
  EXPECT_EQ(check_fifo(overtaken.history()).size(), 1u);
  EXPECT_EQ(check_causality(overtaken.history()).size(), 1u);
  overtaken.at('a').with_independent_flows();
  EXPECT_TRUE(check_fifo(overtaken.history()).empty());
  EXPECT_TRUE(check_causality(overtaken.history()).empty());

  Writer swapped = sent;
  swapped.at('b').gets_of("g", 'a', 3).gets_of("g", 'a', 1).at('a').with_independent_flows();
  EXPECT_EQ(check_fifo(swapped.history()).size(), 1u);
  EXPECT_EQ(check_causality(swapped.history()).size(), 1u);

  // Those to one set of groups are of one flow, however it is named.
  MessageRecord first = Writer::message_to("g", 'a', 1), second = first;
  second.digest = 2;
  first.groups = {"g", "h"};
  second.groups = {"h", "g", "h"};
  Writer named;
  named.at('a').with_independent_flows().add(Sent{first, false}).add(Sent{second, false});
  named.at('b').add(Delivered{second}).add(Delivered{first});
  EXPECT_EQ(check_fifo(named.history()).size(), 1u);
  EXPECT_EQ(check_causality(named.history()).size(), 1u);

  // What the sender has seen comes before all it sends then, wherever it goes.
  Writer seen;
  seen.at('b').sends_to("g", 1).at('a').with_independent_flows().gets_of("g", 'b', 1).sends_to("h", 2);
  seen.at('c').gets_of("h", 'a', 2).gets_of("g", 'b', 1);
  EXPECT_EQ(check_causality(seen.history()).size(), 1u);
}

TEST(Checkers, LocalMonotonicity) {
  EXPECT_TRUE(check_local_monotonicity(two_members().history()).empty());
  const auto run = [](spindle::GroupViewId first, spindle::GroupViewId second, const char* group) {
    Writer w;
    w.at('a').add(GroupView{"g", first, ViewCause::join, {"#a#d"}, {}, {}});
    w.at('a').add(GroupView{group, second, ViewCause::join, {"#a#d"}, {}, {}});
    return check_local_monotonicity(w.history()).size();
  };
  EXPECT_EQ(run({1, "d", 1, 5}, {1, "d", 1, 6}, "g"), 0u);
  EXPECT_EQ(run({1, "d", 1, 5}, {2, "d", 1, 1}, "g"), 0u);
  EXPECT_EQ(run({1, "d", 1, 5}, {1, "d", 1, 5}, "g"), 1u);
  EXPECT_EQ(run({1, "d", 1, 5}, {1, "d", 1, 4}, "g"), 1u);
  EXPECT_EQ(run({2, "d", 1, 5}, {1, "e", 1, 6}, "g"), 1u);
  EXPECT_EQ(run({2, "d", 1, 5}, {2, "d", 1, 5}, "h"), 0u) << "groups have views of their own";
}

TEST(Checkers, MemberDelivery) {
  EXPECT_TRUE(check_member_delivery(two_members().history()).empty());
  Writer too_early;
  too_early.at('a').joins().gets('b', 1).view(1, "a");
  EXPECT_EQ(check_member_delivery(too_early.history()).size(), 1u);
  Writer until_the_last_view;
  until_the_last_view.at('a').view(1, "a").leaves().gets('b', 1).view(2, "", ViewCause::leave, "a");
  EXPECT_TRUE(check_member_delivery(until_the_last_view.history()).empty());
  until_the_last_view.gets('b', 2);
  EXPECT_EQ(check_member_delivery(until_the_last_view.history()).size(), 1u);
  until_the_last_view.joins().view(3, "a").gets('b', 3);
  EXPECT_EQ(check_member_delivery(until_the_last_view.history()).size(), 1u) << "a member again";

  Writer by_name;
  MessageRecord message = Writer::message('b', 1, Service::agreed);
  message.groups = {"h", "#a#d"};
  by_name.at('a').add(Delivered{message});
  EXPECT_TRUE(check_member_delivery(by_name.history()).empty());
  message.groups = {"h", "#c#d"};
  by_name.at('a').add(Delivered{message});
  EXPECT_EQ(check_member_delivery(by_name.history()).size(), 1u);
}

TEST(Checkers, ViewsAgree) {
  Writer members;
  members.at('a').view(1, "ab", ViewCause::join, "b").at('b').view(1, "ba", ViewCause::join, "b");
  EXPECT_EQ(check_views(members.history()).size(), 1u);

  Writer cause;
  cause.at('a').view(1, "ab", ViewCause::join, "b").at('b').view(1, "ab", ViewCause::network, "b");
  EXPECT_EQ(check_views(cause.history()).size(), 1u);

  Writer changed;
  changed.at('a').view(1, "ab", ViewCause::join, "b").at('b').view(1, "ab", ViewCause::join, "a");
  EXPECT_EQ(check_views(changed.history()).size(), 1u);
}

TEST(Checkers, ViewsHaveTheDigestOfTheirMembers) {
  Writer good;
  good.at('a').view(1, "a", ViewCause::join, "a");
  EXPECT_TRUE(check_views(good.history()).empty());
  Writer bad;
  GroupView view{"g", {1, "d", 1, 1}, ViewCause::join, {"#a#d"}, {}, {"#a#d"}};
  view.digest_matches = false;
  bad.at('a').add(view);
  EXPECT_EQ(check_views(bad.history()).size(), 1u);
}

TEST(Checkers, ViewsHoldTheReceiver) {
  Writer without;
  without.at('a').view(1, "b", ViewCause::join, "b");
  EXPECT_EQ(check_views(without.history()).size(), 1u);

  Writer own_leave;
  own_leave.at('a').view(1, "ab", ViewCause::join, "b").leaves().view(2, "", ViewCause::leave, "a");
  own_leave.at('b').view(1, "ab", ViewCause::join, "b").view(2, "b", ViewCause::leave, "a");
  EXPECT_TRUE(check_views(own_leave.history()).empty());

  Writer in_and_out;
  in_and_out.at('a').joins().leaves().view(1, "ab", ViewCause::join, "a").view(2, "", ViewCause::leave, "a");
  EXPECT_TRUE(check_views(in_and_out.history()).empty());
  in_and_out.view(3, "", ViewCause::leave, "a");
  EXPECT_FALSE(check_views(in_and_out.history()).empty());

  Writer thrown_out;
  thrown_out.at('a').view(1, "ab", ViewCause::join, "b").view(2, "", ViewCause::leave, "a");
  EXPECT_FALSE(check_views(thrown_out.history()).empty());

  Writer twice;
  twice.at('a').view(1, "aa", ViewCause::join, "a");
  EXPECT_EQ(check_views(twice.history()).size(), 1u);
}

TEST(Checkers, ViewsSayWhatChanged) {
  Writer unsaid;
  unsaid.at('a').view(1, "ab", ViewCause::join, "b").view(2, "abcd", ViewCause::join, "c");
  EXPECT_EQ(check_views(unsaid.history()).size(), 1u);

  Writer not_so;
  not_so.at('a').view(1, "ab", ViewCause::join, "b").view(2, "ab", ViewCause::leave, "c");
  EXPECT_EQ(check_views(not_so.history()).size(), 1u);

  Writer rejoined;
  rejoined.at('a').view(1, "ab", ViewCause::join, "b").leaves().joins().view(9, "abc", ViewCause::join, "a");
  EXPECT_TRUE(check_views(rejoined.history()).empty());
}

TEST(Checkers, SelfDelivery) {
  Writer w = two_members();
  EXPECT_TRUE(check_self_delivery(w.history()).empty());
  w.at('a').sends(3);
  EXPECT_EQ(check_self_delivery(w.history()).size(), 1u);
  w.closes();
  EXPECT_TRUE(check_self_delivery(w.history()).empty());

  Writer unreliable = two_members();
  unreliable.at('a').sends(3, Service::unreliable).sends(4, Service::agreed, true);
  EXPECT_TRUE(check_self_delivery(unreliable.history()).empty());

  Writer no_member;
  no_member.at('a').sends(3);
  EXPECT_TRUE(check_self_delivery(no_member.history()).empty());
}

TEST(Checkers, SelfDeliveryBeginsWithTheRequestToJoin) {
  const auto make = [](bool joins, bool leaves, bool refused, bool independent) {
    Writer w;
    w.at('a');
    if (independent) w.with_independent_flows();
    if (joins) w.joins();
    if (leaves) w.leaves();
    w.sends(1);
    if (refused) w.add(Refused{"g", static_cast<std::uint16_t>(Errc::too_many_memberships)});
    w.sends(2).leaves();
    return check_self_delivery(w.history()).size();
  };
  EXPECT_EQ(make(true, false, false, false), 2u);
  EXPECT_EQ(make(true, true, false, false), 0u);
  EXPECT_EQ(make(false, false, false, false), 0u);
  EXPECT_EQ(make(true, false, true, false), 0u);
  EXPECT_EQ(make(true, false, false, true), 0u) << "the leave may overtake the messages";
}

TEST(Checkers, SelfDeliveryOfWhatRulesDeny) {
  const auto missed = [](bool denied, bool later_allowed, std::uint64_t refused) {
    Writer w;
    w.at('a').joins().sends(1).sends(2);
    if (refused > 0) w.add(MessagesRefused{"g", refused});
    w.history().clients[0].daemon = "d";
    AccessConfig rules;
    rules.rules = {{{"anyone"}, {"g"}, {}}};
    if (denied) w.history().rules.push_back({"d", Time() - 1s, rules});
    if (later_allowed) w.history().rules.push_back({"d", Time() + 1s, {}});
    return check_self_delivery(w.history()).size();
  };
  EXPECT_EQ(missed(false, false, 0), 2u);
  EXPECT_EQ(missed(false, false, 2), 2u) << "there are no rules";
  EXPECT_EQ(missed(true, false, 0), 0u) << "the checker of access wants to be told of them";
  EXPECT_EQ(missed(true, true, 0), 2u) << "they were not refused";
  EXPECT_EQ(missed(true, true, 1), 1u);
  EXPECT_EQ(missed(true, true, 2), 0u);
}

/// One that joins g, sends 1, joins h, sends 2, leaves g and sends 3, and sees it done in this order of words.
std::size_t order_violations(const std::string& words, bool independent = false) {
  Writer w;
  w.at('a').joins().sends(1).add(JoinRequested{"h"}).sends(2).leaves().sends_to("h", 3);
  if (independent) w.with_independent_flows();
  for (const char word : words) {
    if (word == 'G') w.view(1, "a", ViewCause::join, "a");
    if (word == 'N') w.view(1, "a", ViewCause::network, "a");
    if (word == 'g') w.view(2, "", ViewCause::leave, "a");
    if (word == 'H') w.add(GroupView{"h", {1, "d", 1, 9}, ViewCause::join, {"#a#d"}, {}, {"#a#d"}});
    if (word == '1' || word == '2') w.gets('a', static_cast<std::uint64_t>(word - '0'));
    if (word == '3') w.gets_of("h", 'a', 3);
  }
  return check_request_order(w.history()).size();
}

TEST(Checkers, OrderOfRequests) {
  EXPECT_EQ(order_violations("G1H2g3"), 0u);
  EXPECT_EQ(order_violations("G1H"), 0u) << "not all is done yet";
  EXPECT_EQ(order_violations("HG12g3"), 2u) << "the second join before the first, and before a message";
  EXPECT_EQ(order_violations("1GH2g3"), 1u) << "a message before the join";
  EXPECT_EQ(order_violations("GH12g3"), 1u) << "a join before a message";
  EXPECT_EQ(order_violations("G1Hg23"), 1u) << "a leave before a message";
  EXPECT_EQ(order_violations("G1g"), 0u) << "of the join in between nothing is known";
  EXPECT_EQ(order_violations("G1H23g"), 1u) << "a message before the leave";
  EXPECT_EQ(order_violations("1HN2g3"), 0u) << "the network told of the join later";
}

TEST(Checkers, OrderOfRequestsWithIndependentFlows) {
  EXPECT_EQ(order_violations("G1H2g3", true), 0u);
  EXPECT_EQ(order_violations("GHg312", true), 0u) << "joins and leaves do not wait for messages";
  EXPECT_EQ(order_violations("1GHg32", true), 1u) << "a message before the join of its group";
  EXPECT_EQ(order_violations("1HG2g3", true), 2u) << "and the joins in another order";
}

TEST(Checkers, OrderOfRequestsAndMessagesOfNoMember) {
  Writer w;
  w.at('a').joins().leaves().sends(1).view(1, "a", ViewCause::join, "a").view(2, "", ViewCause::leave, "a");
  EXPECT_TRUE(check_request_order(w.history()).empty());
  w.gets('a', 1);
  EXPECT_EQ(check_request_order(w.history()).size(), 1u);
  Writer refused;
  refused.at('a').joins().joins().sends(1).view(1, "a", ViewCause::join, "a").gets('a', 1);
  refused.add(Refused{"g", static_cast<std::uint16_t>(Errc::already_a_member)});
  EXPECT_TRUE(check_request_order(refused.history()).empty());
}

TEST(Checkers, VirtualSynchrony) {
  const auto make = [](ViewCause cause, const char* vs_of_a, const char* vs_of_b, Service service) {
    Writer w;
    w.at('c').sends(1, service);
    w.at('a').view(1, "ab", ViewCause::network).gets('c', 1, service).view(2, "abd", cause, "d", vs_of_a);
    w.at('b').view(1, "ab", ViewCause::network).view(2, "abd", cause, "d", vs_of_b);
    return check_virtual_synchrony(w.history()).size();
  };
  EXPECT_EQ(make(ViewCause::join, "", "", Service::agreed), 1u);
  EXPECT_EQ(make(ViewCause::network, "ab", "ab", Service::agreed), 1u);
  EXPECT_EQ(make(ViewCause::network, "ab", "ab", Service::fifo), 1u);
  // They did not come together, or the message may fall on either side of the view.
  EXPECT_EQ(make(ViewCause::network, "a", "b", Service::agreed), 0u);
  EXPECT_EQ(make(ViewCause::join, "", "", Service::fifo), 0u);
  EXPECT_EQ(make(ViewCause::network, "ab", "ab", Service::unreliable), 0u);
}

TEST(Checkers, VirtualSynchronyBehindASignalHoldsForThoseWhoMoveTogether) {
  const auto make = [](const char* vs_of_a, const char* vs_of_b, bool signal_to_b, bool goes_on) {
    Writer w;
    w.at('c').sends(1);
    w.at('a').view(1, "ab").gets('c', 1).view(2, "abd", ViewCause::join, "d");
    w.view(3, "ab", ViewCause::network, "d", vs_of_a);
    w.at('b').view(1, "ab");
    if (signal_to_b) w.signal();
    w.view(2, "abd", ViewCause::join, "d");
    if (goes_on) w.view(3, "ab", ViewCause::network, "d", vs_of_b);
    return check_virtual_synchrony(w.history()).size();
  };
  EXPECT_EQ(make("ab", "ab", true, true), 1u);
  EXPECT_EQ(make("a", "b", true, true), 0u);
  EXPECT_EQ(make("ab", "ab", true, false), 0u);
  EXPECT_EQ(make("a", "b", false, true), 1u);
  EXPECT_EQ(make("a", "b", false, false), 1u);
}

TEST(Checkers, VirtualSynchronyAtRest) {
  const auto make = [](Service service, bool at_rest, const char* change = "") {
    const std::string what = change;
    Writer w;
    w.at('c').sends(1, service);
    w.at('a').view(1, "ab", ViewCause::network);
    if (what == "own") w.sends(2, service, true).at('b').gets('a', 2, service);
    w.at('a').gets('c', 1, service);
    w.at('b').view(what == "another view" ? 2 : 1, "ab", ViewCause::network);
    if (what == "own") w.gets('c', 1, service);
    if (what == "leaves") w.leaves();
    if (what == "closes") w.closes();
    if (what == "misses it") w.add(Gapped{1, {{"g", 1}}});
    return check_virtual_synchrony(w.history(), at_rest).size();
  };
  for (const Service service : {Service::reliable, Service::fifo, Service::agreed, Service::safe}) {
    EXPECT_EQ(make(service, true), 1u);
    EXPECT_EQ(make(service, false), 0u) << "it may still come";
    for (const char* change : {"another view", "own", "leaves", "closes", "misses it"}) {
      EXPECT_EQ(make(service, true, change), 0u) << change;
    }
  }
  EXPECT_EQ(make(Service::unreliable, true), 0u);
}

TEST(Checkers, VirtualSynchronyAtRestOfOneWhoJoinsLate) {
  const auto make = [](Service service, bool at_rest) {
    Writer w;
    w.at('c').sends(1, service);
    w.at('a').view(1, "a", ViewCause::network).view(2, "ab", ViewCause::join, "b").gets('c', 1, service);
    w.at('b').joins().view(2, "ab", ViewCause::join, "b");
    return check_virtual_synchrony(w.history(), at_rest).size();
  };
  EXPECT_EQ(make(Service::agreed, true), 1u);
  EXPECT_EQ(make(Service::agreed, false), 0u);
  EXPECT_EQ(make(Service::fifo, true), 0u) << "it may have come on either side of the view";
}

TEST(Checkers, VirtualSynchronyEndsWithTheLastView) {
  Writer w;
  w.at('c').sends(1);
  w.at('a').view(1, "ab").leaves().view(2, "", ViewCause::leave, "a").joins().view(3, "ba", ViewCause::join, "a");
  w.at('b').view(1, "ab").view(2, "b", ViewCause::leave, "a").gets('c', 1).view(3, "ba", ViewCause::join, "a");
  EXPECT_TRUE(check_virtual_synchrony(w.history()).empty());
}

TEST(Checkers, VirtualSynchronyOfOneWhoHasAskedToLeave) {
  const auto make = [](bool signal, bool leaves) {
    Writer w;
    w.at('c').sends(1);
    w.at('a').view(1, "abx").leaves();
    if (signal) w.signal();
    w.view(2, "ab", ViewCause::leave, "x").gets('c', 1).view(3, "", ViewCause::leave, "a");
    w.at('b').view(1, "abx");
    if (leaves) w.leaves();
    if (signal) w.signal();
    w.view(2, "ab", ViewCause::leave, "x").view(3, leaves ? "" : "b", ViewCause::leave, leaves ? "b" : "a");
    return check_virtual_synchrony(w.history()).size();
  };
  EXPECT_EQ(make(false, false), 1u) << "until it is told so";
  EXPECT_EQ(make(true, false), 0u) << "nobody knows with whom it moved";
  EXPECT_EQ(make(true, true), 0u) << "two farewells, on two sides, with one id";
}

TEST(Checkers, VirtualSynchronyEndsWithALeaveThatANetworkChangeOvertook) {
  const auto make = [](bool leaves) {
    Writer w;
    w.at('c').sends(1, Service::fifo);
    w.at('a').view(1, "ab", ViewCause::network);
    if (leaves) w.leaves();
    w.view(2, "ab", ViewCause::network, "", "ab");
    if (leaves) w.view(3, "", ViewCause::leave, "a").joins().view(4, "ba", ViewCause::join, "a");
    w.view(5, "ba", ViewCause::network, "", "ab");
    w.at('b').view(1, "ab", ViewCause::network).view(2, "ab", ViewCause::network, "", "ab").gets('c', 1, Service::fifo);
    w.view(5, "ba", ViewCause::network, "", "ab");
    return check_virtual_synchrony(w.history()).size();
  };
  EXPECT_EQ(make(true), 0u);
  EXPECT_EQ(make(false), 1u);
}

TEST(Checkers, VirtualSynchronyAllowsSelfDiscard) {
  Writer w;
  w.at('a').view(1, "ab").sends(1, Service::agreed, true).view(2, "abc");
  w.at('b').view(1, "ab").gets('a', 1).view(2, "abc");
  EXPECT_TRUE(check_virtual_synchrony(w.history()).empty());
}

TEST(Checkers, ReportsAreBounded) {
  Writer w;
  for (std::uint64_t i = 0; i < 100; ++i) w.at('a').gets('b', i);
  EXPECT_EQ(check_no_invention(w.history()).size(), kViolationsMax);
}

TEST(Checkers, SafeDelivery) {
  const auto safe_at_a = [] {
    Writer w;
    w.at('a').joins().view(1, "ab").sends(1, Service::safe).gets('a', 1, Service::safe);
    w.at('b').joins().view(1, "ab");
    return w;
  };
  Writer never = safe_at_a();
  EXPECT_TRUE(check_safe_delivery(never.history(), false).empty()) << "it may still come";
  EXPECT_EQ(check_safe_delivery(never.history(), true).size(), 1u);
  Writer lost = safe_at_a();
  lost.at('b').signal().view(2, "b", ViewCause::network);
  EXPECT_EQ(check_safe_delivery(lost.history(), false).size(), 1u);

  Writer behind_the_signal = safe_at_a();
  behind_the_signal.at('b').signal().gets('a', 1, Service::safe).view(2, "b", ViewCause::network);
  EXPECT_TRUE(check_safe_delivery(behind_the_signal.history(), true).empty());
  Writer gone = safe_at_a();
  gone.at('b').closes();
  EXPECT_TRUE(check_safe_delivery(gone.history(), true).empty());
  Writer leaving = safe_at_a();
  leaving.at('b').leaves();
  EXPECT_TRUE(check_safe_delivery(leaving.history(), true).empty());

  Writer both_behind;
  both_behind.at('a').joins().view(1, "ab").sends(1, Service::safe).signal().gets('a', 1, Service::safe);
  both_behind.at('b').joins().view(1, "ab").signal().view(2, "b", ViewCause::network);
  EXPECT_TRUE(check_safe_delivery(both_behind.history(), true).empty()) << "nothing was promised";

  // a asks to leave, and is told of a join behind the signal before that is done.
  Writer late_leave;
  late_leave.at('b').joins().view(1, "ab", ViewCause::join, "b").view(2, "abc", ViewCause::join, "c").signal();
  late_leave.at('b').view(3, "b", ViewCause::network, "ac", "b");
  late_leave.at('a').joins().view(1, "ab", ViewCause::join, "b").sends(1, Service::safe).leaves().signal();
  late_leave.at('a').view(2, "abc", ViewCause::join, "c").gets('a', 1, Service::safe);
  EXPECT_TRUE(check_safe_delivery(late_leave.history(), true).empty());
}

TEST(Checkers, Membership) {
  EXPECT_TRUE(check_membership(two_members().history()).empty());
  Writer unheard = two_members();
  unheard.at('c').joins();
  EXPECT_EQ(check_membership(unheard.history()).size(), 1u);
  unheard.at('c').add(Refused{"g", static_cast<std::uint16_t>(Errc::too_many_memberships)});
  EXPECT_TRUE(check_membership(unheard.history()).empty());

  Writer still_in = two_members();
  still_in.at('b').leaves();
  EXPECT_EQ(check_membership(still_in.history()).size(), 1u);
  still_in.at('b').view(2, "", ViewCause::leave, "b").at('a').view(2, "a", ViewCause::leave, "b");
  EXPECT_TRUE(check_membership(still_in.history()).empty());

  // Rules had it leave, and it may have joined anew before it was told.
  for (const bool refused : {true, false}) {
    Writer taken_out = two_members();
    taken_out.at('b').joins().has_to_leave();
    EXPECT_TRUE(check_membership(taken_out.history()).empty()) << "and was in the group behind that";
    if (refused) taken_out.at('b').add(Refused{"g", static_cast<std::uint16_t>(Errc::already_a_member)});
    EXPECT_EQ(check_membership(taken_out.history()).size(), refused ? 1u : 0u);
  }

  Writer gone = two_members();
  gone.at('b').closes();
  EXPECT_EQ(check_membership(gone.history()).size(), 1u);

  // A leave whose join comes to nothing may end nothing, and whatever it asks for behind that stands.
  const Refused other_kind{"g", static_cast<std::uint16_t>(Errc::mode_mismatch)};
  for (const bool is_in : {false, true}) {
    Writer void_leave = two_members();
    void_leave.at('b').leaves().view(2, "", ViewCause::leave, "b").joins().leaves().joins().add(other_kind);
    if (is_in) void_leave.view(3, "ab", ViewCause::join, "b");
    EXPECT_TRUE(check_membership(void_leave.history()).empty()) << "either of the joins may be the one";
  }
  Writer behind = two_members();
  behind.at('b').leaves().view(2, "", ViewCause::leave, "b").joins().add(other_kind).view(3, "ab");
  EXPECT_EQ(check_membership(behind.history()).size(), 1u) << "there was no leave";

  // What it asks for waits in its daemon, which has it leave meanwhile: its own leave comes behind that.
  Writer waited = two_members();
  waited.at('b').joins().leaves().has_to_leave().joins().view(2, "", ViewCause::leave, "b").add(other_kind);
  waited.view(3, "ab", ViewCause::join, "b");
  EXPECT_TRUE(check_membership(waited.history()).empty());
}

TEST(Checkers, Names) {
  Writer writer;
  writer.at('a').since(1s).another('a').since(2s);
  EXPECT_EQ(check_names(writer.history()).size(), 2u) << "two are open, and one came while the other was there";
  writer.closes();
  EXPECT_EQ(check_names(writer.history()).size(), 1u) << "the first one was there all the time";
  writer.since(1s).at('a').since(2s);
  EXPECT_TRUE(check_names(writer.history()).empty()) << "who is gone was there first";
}

TEST(Checkers, ANameThatIsTakenOverIsAnotherClient) {
  Writer writer;
  writer.at('a').sends(1, Service::fifo).sends(2, Service::fifo).closes();
  writer.another('a').sends(3, Service::fifo);
  writer.at('b').gets('a', 1, Service::fifo).gets('a', 2, Service::fifo).gets('a', 3, Service::fifo);
  EXPECT_TRUE(check_fifo(writer.history()).empty());
}

TEST(Checkers, FarewellsThatComeLate) {
  Writer joined_meanwhile;
  joined_meanwhile.at('a').joins().leaves().view(1, "a", ViewCause::join, "a").view(2, "", ViewCause::leave, "a");
  EXPECT_TRUE(check_views(joined_meanwhile.history()).empty());

  // The leave takes effect behind a view of the network, and what comes until the client is back is not for it.
  Writer w;
  w.at('a').joins().view(1, "ab").leaves().view(2, "ab", ViewCause::network, "", "ab");
  w.at('a').view(3, "", ViewCause::leave, "a").joins().view(4, "ba", ViewCause::join, "a");
  w.at('a').view(5, "ab", ViewCause::network, "", "ab");
  w.at('b').joins().view(1, "ab").view(2, "ab", ViewCause::network, "", "ab").view(3, "b", ViewCause::leave, "a");
  w.at('b').sends(1, Service::fifo).gets('b', 1, Service::fifo).view(4, "ba", ViewCause::join, "a");
  w.at('b').view(5, "ab", ViewCause::network, "", "ab");
  EXPECT_EQ(to_text(check_virtual_synchrony(w.history())), "");
}

}  // namespace
}  // namespace spindled::checkers
