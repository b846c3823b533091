// The checker of synchronous groups, on histories that are right and on ones that are not.
#include <gtest/gtest.h>

#include "daemon/base/result.h"
#include "tests/unit/checkers_writer.h"

namespace spindled::checkers {
namespace {

/// The group "g" is synchronous.
class Writer : public HistoryWriter<Writer> {
 public:
  Writer& joins() { return add(JoinRequested{"g", true}); }
  Writer& is_refused(Errc code) { return add(Refused{"g", static_cast<std::uint16_t>(code)}); }
  Writer& view(std::uint64_t position, const std::string& letters, bool synchronous = true) {
    GroupView view{"g", {1, "d", 0, position}, spindle::ViewCause::join, names(letters), {}, {}};
    view.synchronous = synchronous;
    return add(view);
  }
  Writer& network_view(std::uint64_t position, const std::string& letters, const std::string& vs_set) {
    GroupView view{"g", {1, "d", 0, position}, spindle::ViewCause::network, names(letters), names(vs_set), {}};
    view.synchronous = true;
    return add(view);
  }
  Writer& signal() { return add(Transitional{"g"}); }
  Writer& flushes() { return add(FlushRequested{"g"}).add(FlushAnswered{"g"}); }
  Writer& sends(std::uint64_t number, const Names& groups = {"g"}) {
    return add(Sent{message(current().name, number, groups), false});
  }
  Writer& gets(char sender, std::uint64_t number, const Names& groups = {"g"}) {
    return add(Delivered{message(name_of(sender), number, groups)});
  }
  std::size_t violations() const { return check_synchrony(history()).size(); }

 private:
  static MessageRecord message(const std::string& sender, std::uint64_t number, const Names& groups) {
    return {sender, number, 10, Service::fifo, 0, groups};
  }
};

/// Two members in their second view, which they have flushed the first one for.
Writer two_members() {
  Writer w;
  for (const char client : {'a', 'b'}) w.at(client).joins().view(1, "ab").flushes().view(2, "abc");
  return w;
}

TEST(CheckSynchrony, AMessageIsOfTheViewInWhichItWasSent) {
  EXPECT_EQ(two_members().at('a').sends(1).at('b').gets('a', 1).violations(), 0u);
  Writer early;
  early.at('a').joins().view(1, "ab").sends(1).flushes().view(2, "abc");
  early.at('b').joins().view(1, "ab").flushes().view(2, "abc").gets('a', 1);
  EXPECT_EQ(early.violations(), 1u);
}

TEST(CheckSynchrony, WhatIsSentBehindAnAnswerIsOfTheNextView) {
  for (const bool in_time : {false, true}) {
    Writer w;
    w.at('a').joins().view(1, "ab").flushes().sends(1).view(2, "abc");
    w.at('b').joins().view(1, "ab").flushes();
    if (!in_time) w.gets('a', 1);
    w.view(2, "abc");
    if (in_time) w.gets('a', 1);
    EXPECT_EQ(w.violations(), in_time ? 0u : 1u);
  }
}

TEST(CheckSynchrony, WhoJoinsSendsInItsFirstView) {
  Writer w;
  w.at('a').joins().sends(1).view(2, "ab");
  w.at('b').joins().view(1, "b").gets('a', 1);
  EXPECT_EQ(w.violations(), 1u);
}

TEST(CheckSynchrony, AViewComesToWhoHasFlushed) {
  Writer w;
  w.at('a').joins().view(1, "a").view(2, "ab");
  EXPECT_EQ(w.violations(), 1u);
  Writer rejoins;
  rejoins.at('a').joins().view(1, "a").leaves().joins().view(2, "ab").view(3, "").view(4, "a");
  EXPECT_EQ(rejoins.violations(), 0u) << "of the membership that it asked to end";
}

TEST(CheckSynchrony, NothingIsAskedOfWhoIsNoMemberOrOfAnOrdinaryGroup) {
  Writer outsider = two_members();
  outsider.at('c').sends(1).at('a').gets('c', 1);
  EXPECT_EQ(outsider.violations(), 0u);
  Writer left = two_members();
  left.at('a').leaves().sends(1).at('b').flushes().view(3, "bc").gets('a', 1);
  EXPECT_EQ(left.violations(), 0u);
  Writer ordinary = two_members();
  ordinary.at('a').sends(1).at('b').view(3, "abcd", false).gets('a', 1);
  EXPECT_EQ(ordinary.violations(), 0u) << "that view comes without a flush";
}

TEST(CheckSynchrony, AMessageMayComeUnderAnotherName) {
  const Names both = {"g", "#b#d"};
  Writer w;
  w.at('a').joins().view(1, "a").sends(1, both).sends(2, {"g", "#c#d"});
  w.at('b').joins().view(2, "b").gets('a', 1, both);
  EXPECT_EQ(w.violations(), 0u);
  w.gets('a', 2, {"g", "#c#d"});
  EXPECT_EQ(w.violations(), 1u);
}

/// A member that takes itself for none asks to join: the message behind that is of the view that it has, unless it was
/// put out before its daemon came to read the request.
TEST(CheckSynchrony, WhoAsksToJoinAgainAndWasPutOutSendsInItsNextMembership) {
  for (const bool is_next : {false, true}) {
    Writer put_out;
    put_out.at('a').joins().view(1, "ab").joins().sends(1).add(FlushRequested{"g"}).has_to_leave().view(2, "");
    put_out.view(3, "ab");
    put_out.at('b').joins().view(1, "ab");
    if (!is_next) put_out.gets('a', 1);
    put_out.flushes().view(3, "ab");
    if (is_next) put_out.gets('a', 1);
    EXPECT_EQ(put_out.violations(), is_next ? 0u : 1u) << "its daemon read the request behind that";

    Writer before;
    before.at('a').joins().view(1, "ab").joins().sends(1).is_refused(Errc::already_a_member);
    before.joins().has_to_leave().view(2, "").view(3, "ab");
    before.at('b').joins().view(1, "ab");
    if (!is_next) before.gets('a', 1);
    before.flushes().view(3, "ab");
    if (is_next) before.gets('a', 1);
    EXPECT_EQ(before.violations(), is_next ? 1u : 0u) << "its daemon read the message before that";
  }
  Writer earlier;
  earlier.at('a').joins().view(1, "ab").sends(1).joins().has_to_leave().view(2, "").view(3, "ab");
  earlier.at('b').joins().view(1, "ab").flushes().view(3, "ab").gets('a', 1);
  EXPECT_EQ(earlier.violations(), 1u) << "it stands before the request";
}

TEST(CheckSynchrony, TheNextMembershipIsHeldToItsViewsAsTheFirst) {
  Writer w;
  w.at('a').joins().view(1, "ab").joins().has_to_leave().view(2, "").view(3, "ab").sends(1).flushes().view(4, "abc");
  w.at('b').joins().view(1, "ab").flushes().view(3, "ab").flushes().view(4, "abc").gets('a', 1);
  EXPECT_EQ(w.violations(), 1u);
  Writer unanswered;
  unanswered.at('a').joins().view(1, "ab").joins().has_to_leave().view(2, "").view(3, "ab").view(4, "abc");
  EXPECT_EQ(unanswered.violations(), 1u);
}

TEST(CheckSynchrony, TheJoinBehindARefusedOneCounts) {
  Writer w;
  w.at('a').add(JoinRequested{"g"}).joins().is_refused(Errc::mode_mismatch).view(1, "ab");
  w.joins().sends(1).is_refused(Errc::already_a_member).flushes().view(2, "abc");
  w.at('b').joins().view(1, "ab").flushes().view(2, "abc").gets('a', 1);
  EXPECT_EQ(w.violations(), 1u) << "it was sent in the view before";
  Writer in_time;
  in_time.at('a').joins().sends(1).joins().sends(2).is_refused(Errc::mode_mismatch).view(2, "ab");
  in_time.at('b').joins().view(1, "b").gets('a', 1);
  EXPECT_EQ(in_time.violations(), 0u) << "it came as from who is no member";
  in_time.gets('a', 2);
  EXPECT_EQ(in_time.violations(), 1u);
}

TEST(CheckSynchrony, AJoinMayEndInAFarewell) {
  Writer w;
  w.at('a').joins().leaves().sends(1).add(JoinRequested{"g"}).joins().sends(2).view(2, "");
  w.is_refused(Errc::mode_mismatch).view(3, "ab");
  w.at('b').joins().view(1, "b").gets('a', 1);
  EXPECT_EQ(w.violations(), 0u) << "it came as from who is no member";
  w.gets('a', 2);
  EXPECT_EQ(w.violations(), 1u);
}

TEST(CheckSynchrony, WhatStandsBeforeALeaveIsNotOfTheMembershipBehindIt) {
  Writer w;
  w.at('a').joins().joins().sends(1).leaves().joins().is_refused(Errc::mode_mismatch);
  w.view(1, "ab").view(2, "").view(3, "ab");
  w.at('b').joins().view(1, "ab").gets('a', 1);
  EXPECT_EQ(w.violations(), 0u);
}

TEST(CheckSynchrony, ARefusedSecondJoinDoesNotEndWhatTheFirstIsHeldTo) {
  Writer w;
  w.at('a').joins().joins().is_refused(Errc::already_a_member).view(1, "ab").sends(1).flushes().view(2, "abc");
  w.at('b').joins().view(1, "ab").flushes().view(2, "abc").gets('a', 1);
  EXPECT_EQ(w.violations(), 1u);
}

TEST(CheckSynchrony, WhoAsksToLeaveBehindThatMayHaveSentInEither) {
  for (const bool is_put_out : {true, false}) {
    Writer w;
    w.at('a').joins().view(1, "ab").joins().sends(1).leaves();
    if (is_put_out) w.has_to_leave().view(2, "");
    if (!is_put_out) w.is_refused(Errc::already_a_member);
    w.view(3, "ab").view(4, "");
    w.at('b').joins().view(1, "ab").flushes().view(3, "ab").gets('a', 1);
    EXPECT_EQ(w.violations(), is_put_out ? 0u : 1u);
  }
}

/// A view that stands as the view of the daemons ends comes between two signals, and the next one says who parted.
TEST(CheckVirtualSynchrony, AViewBetweenTwoSignalsDoesNotSayWhoMovedTogether) {
  const auto make = [](const std::string& behind, bool part) {
    Writer w;
    w.at('a').joins().network_view(1, "ab", "a").sends(1).gets('a', 1).network_view(2, "ab", "ab").signal();
    part ? w.network_view(3, "a", "a") : w.network_view(3, "ab", "ab");
    w.at('b').joins().network_view(1, "ab", "b").signal().network_view(2, "ab", "ab");
    if (behind == "request") w.add(FlushRequested{"g"});
    if (behind == "message") w.at('c').sends(2).at('b').gets('c', 2);
    if (behind != "nothing") w.signal();
    part ? w.network_view(4, "b", "b") : w.network_view(3, "ab", "ab");
    std::size_t found = 0;
    for (const std::string& each : check_virtual_synchrony(w.history())) {
      if (each.find("between views 1@d:0/1") != std::string::npos) ++found;
    }
    return found;
  };
  EXPECT_EQ(make("signal", true), 0u);
  EXPECT_EQ(make("signal", false), 1u);
  EXPECT_EQ(make("nothing", true), 1u);
  EXPECT_EQ(make("request", true), 1u);
  EXPECT_EQ(make("message", true), 1u);
}

TEST(CheckVirtualSynchrony, WhoIsNotInTheVsSetOfAViewBetweenTwoSignalsHadPartedBefore) {
  const auto make = [](const std::string& of_a, const std::string& of_b) {
    Writer w;
    w.at('a').joins().network_view(1, "ab", "ab").signal().sends(1).gets('a', 1);
    w.network_view(2, "ab", of_a).signal().network_view(3, "ab", "ab").signal().network_view(4, "ab", "ab");
    w.at('b').joins().network_view(1, "ab", "ab").signal();
    w.network_view(2, "ab", of_b).signal().network_view(3, "ab", "ab").signal().network_view(4, "ab", "ab");
    return check_virtual_synchrony(w.history()).size();
  };
  EXPECT_EQ(make("a", "b"), 0u);
  EXPECT_EQ(make("ab", "ab"), 1u);
}

TEST(CheckVirtualSynchrony, WhatIsUnorderedOfOneThatRulesTookOutIsOfNoView) {
  const auto make = [](bool is_taken_out, bool has_rules) {
    Writer w;
    w.at('a').joins().network_view(1, "abc", "abc").gets('c', 1).flushes().network_view(2, "ab", "ab");
    w.at('b').joins().network_view(1, "abc", "abc").flushes().network_view(2, "ab", "ab").gets('c', 1);
    w.at('c').joins().network_view(1, "abc", "abc").sends(1);
    is_taken_out ? w.has_to_leave() : w.flushes();
    if (has_rules) w.history().rules.emplace_back();
    return check_virtual_synchrony(w.history()).size();
  };
  EXPECT_EQ(make(true, true), 0u);
  EXPECT_EQ(make(false, true), 1u);
  EXPECT_EQ(make(true, false), 1u) << "for not flushing: what waits of it is refused";
}

TEST(CheckSynchrony, WhereItClosesBeforeItIsToldNobodyKnows) {
  for (const bool is_told : {false, true}) {
    Writer w;
    w.at('a').joins().view(1, "ab").joins().sends(1);
    if (is_told) w.has_to_leave().view(2, "");
    w.closes();
    w.at('b').joins().view(1, "ab").flushes().view(3, "ab").gets('a', 1);
    EXPECT_EQ(w.violations(), 0u);
  }
}

}  // namespace
}  // namespace spindled::checkers
