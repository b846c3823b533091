// The checker of synchronous groups, on histories that are right and on ones that are not.
#include <gtest/gtest.h>

#include "tests/checkers/checkers.h"

namespace spindled::checkers {
namespace {

using Names = std::vector<std::string>;

/// Histories written down by hand: clients "#a#d" and "#b#d" of the synchronous group "g".
class Writer {
 public:
  Writer& at(char client) {
    const std::string name = std::string("#") + client + "#d";
    for (ClientHistory& each : history_.clients) {
      if (each.name == name) return current_ = &each, *this;
    }
    history_.clients.push_back({name, {}});
    current_ = &history_.clients.back();
    return *this;
  }
  Writer& joins() { return add(JoinRequested{"g", true}); }
  Writer& leaves(bool is_taken_out = false) { return add(LeaveRequested{"g", is_taken_out}); }
  Writer& view(std::uint64_t position, const std::string& letters, bool synchronous = true) {
    GroupView view{"g", {1, "d", 0, position}, spindle::ViewCause::join, {}, {}, {}};
    for (const char letter : letters) view.members.push_back(std::string("#") + letter + "#d");
    view.synchronous = synchronous;
    return add(view);
  }
  Writer& flushes() { return add(FlushRequested{"g"}).add(FlushAnswered{"g"}); }
  Writer& sends(std::uint64_t number, const Names& groups = {"g"}) {
    return add(Sent{message(current_->name, number, groups), false});
  }
  Writer& gets(char sender, std::uint64_t number, const Names& groups = {"g"}) {
    return add(Delivered{message(std::string("#") + sender + "#d", number, groups)});
  }
  std::size_t violations() const { return check_synchrony(history_).size(); }

 private:
  Writer& add(decltype(Event::what) what) {
    current_->events.push_back({Time{}, std::move(what)});
    return *this;
  }
  static MessageRecord message(const std::string& sender, std::uint64_t number, const Names& groups) {
    return {sender, number, 10, Service::fifo, 0, groups};
  }

  History history_;
  ClientHistory* current_ = nullptr;
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

}  // namespace
}  // namespace spindled::checkers
