// The checker of programs that go on in a new session, on histories that are right and on ones that are not.
#include <gtest/gtest.h>

#include <memory>

#include "daemon/base/result.h"
#include "tests/unit/checkers_writer.h"

namespace spindled::checkers {
namespace {

using spindle::ViewCause;

/// Sessions of one program: "#a#d", "#b#d", ... ; "#w#d" is somebody else.
class Writer : public HistoryWriter<Writer> {
 public:
  /// The next one of the program, which waits for those before it.
  Writer& session(char name, bool follows = true) {
    another(name);
    current().program = 1;
    current().session = sessions_++;
    current().follows = follows;
    return *this;
  }
  Writer& joins(const std::string& group = "g") { return add(JoinRequested{group}); }
  Writer& leaves_group(const std::string& group) { return add(LeaveRequested{group}); }
  Writer& is_refused(Errc code) { return add(Refused{"g", static_cast<std::uint16_t>(code)}); }
  Writer& view(std::uint64_t position, const std::string& members, const std::string& group = "g",
               ViewCause cause = ViewCause::join) {
    return add(GroupView{group, {1, "d", 0, position}, cause, names(members), {}, {}});
  }
  Writer& network_view(std::uint64_t position, const std::string& members) {
    return view(position, members, "g", ViewCause::network);
  }
  Writer& sends(std::uint64_t number, Service service = Service::agreed) {
    return add(Sent{message(current().name, number, service), false});
  }
  Writer& gets(char sender, std::uint64_t number, Service service = Service::agreed) {
    return add(Delivered{message(name_of(sender), number, service)});
  }
  std::size_t violations() const { return check_moves(history()).size(); }

 private:
  static MessageRecord message(const std::string& sender, std::uint64_t number, Service service) {
    return {sender, number, 10, service, 0, {"g"}};
  }

  std::uint32_t sessions_ = 0;
};

/// The former session has sent message 1.
Writer former() {
  Writer w;
  w.session('a', false).joins().view(1, "aw").sends(1).closes();
  return w;
}

/// The later one has sent message 2, and a witness gets that one first.
std::size_t overtaken(Writer w) {
  w.sends(2).at('w').joins().view(1, "aw").gets('b', 2).gets('a', 1);
  return w.violations();
}

TEST(CheckMoves, ALaterSessionSendsBehindTheFormerOne) {
  const auto make = [](Service former_service, Service service, bool follows, bool in_order, bool is_cut) {
    Writer w;
    w.session('a', false).joins().view(1, "aw").sends(1, former_service).closes();
    w.session('b', follows).joins().view(2, "abw").view(3, "bw").sends(2, service).at('w').view(1, "aw");
    if (in_order) w.gets('a', 1, former_service);
    w.gets('b', 2, service);
    if (is_cut) w.network_view(4, "abw");
    if (!in_order) w.gets('a', 1, former_service);
    return w.violations();
  };
  EXPECT_EQ(make(Service::agreed, Service::agreed, true, true, false), 0u);
  EXPECT_EQ(make(Service::agreed, Service::agreed, true, false, false), 1u);
  EXPECT_EQ(make(Service::fifo, Service::safe, true, false, false), 1u);
  EXPECT_EQ(make(Service::agreed, Service::fifo, true, false, false), 0u) << "fifo may overtake";
  EXPECT_EQ(make(Service::reliable, Service::agreed, true, false, false), 0u) << "reliable may be overtaken";
  EXPECT_EQ(make(Service::agreed, Service::agreed, false, false, false), 0u) << "it waits for nothing";
  EXPECT_EQ(make(Service::agreed, Service::agreed, true, false, true), 0u) << "the former one was out of reach";
}

TEST(CheckMoves, NothingIsSentTwice) {
  Writer w = former();
  w.session('b').joins().view(2, "bw").sends(1).at('w').view(1, "aw").gets('a', 1).gets('b', 1);
  EXPECT_EQ(w.violations(), 1u);
}

TEST(CheckMoves, WhoLeavesTheGroupByWhichItWaitsWaitsNoMore) {
  EXPECT_EQ(overtaken(former().session('b').joins().view(2, "abw").leaves()), 0u);
  EXPECT_EQ(overtaken(former().session('b').joins().view(2, "abw").view(3, "bw").leaves()), 1u) << "it has seen it";
  EXPECT_EQ(overtaken(former().session('b').joins().view(2, "bw").leaves_group("h")), 1u) << "another group";
}

TEST(CheckMoves, OneOfSeveralGroupsIsEnoughToWait) {
  const auto make = [](bool is_seen) {
    Writer w;
    w.session('a', false).joins().joins("h").view(1, "aw").view(1, "aw", "h").sends(1).closes();
    w.session('b').joins().joins("h").view(2, "abw").leaves().view(2, "abw", "h");
    is_seen ? w.view(3, "bw", "h") : w.leaves_group("h");
    return overtaken(w);
  };
  EXPECT_EQ(make(true), 1u);
  EXPECT_EQ(make(false), 0u);
}

/// It may not be in the group, and there nevertheless.
TEST(CheckMoves, AGroupThatTheFormerSessionAskedToLeaveDoesNotTellThatItIsGone) {
  const auto make = [](bool leaves) {
    Writer w;
    w.session('a', false).joins().joins("h").view(1, "aw").view(1, "aw", "h");
    if (leaves) w.leaves();
    w.sends(1).closes();
    w.session('b').joins().joins("h").view(2, "bw").leaves_group("h");
    return overtaken(w);
  };
  EXPECT_EQ(make(false), 1u) << "it has seen it by one of the two";
  EXPECT_EQ(make(true), 0u);
}

TEST(CheckMoves, AGroupThatTheFormerSessionLeftAndJoinedAgainTellsThatItIsGone) {
  enum class Answer { none, farewell, refusal };
  const auto make = [](Answer to_leave, bool is_back) {
    Writer w;
    w.session('a', false).joins().view(1, "aw").leaves();
    if (to_leave == Answer::farewell) w.view(2, "w");
    if (to_leave == Answer::refusal) w.is_refused(Errc::not_a_member);
    w.joins().view(3, "aw").sends(1).closes();
    w.session('b').joins().view(4, "bw");
    if (is_back) w.network_view(5, "abw");
    return overtaken(w);
  };
  EXPECT_EQ(make(Answer::farewell, false), 1u);
  EXPECT_EQ(make(Answer::farewell, true), 0u) << "it was out of reach, and is back";
  EXPECT_EQ(make(Answer::refusal, true), 0u) << "likewise";
  EXPECT_EQ(make(Answer::none, true), 1u) << "the view may be one of before it left";
}

TEST(CheckMoves, WhoMayNotJoinAgainWaitsNoMore) {
  EXPECT_EQ(overtaken(former().session('b').joins().is_refused(Errc::mode_mismatch)), 0u);
  EXPECT_EQ(overtaken(former().session('b').joins().is_refused(Errc::already_a_member).view(2, "bw")), 1u);
}

TEST(CheckMoves, WhoWasOutOfReachMayBeOvertaken) {
  EXPECT_EQ(overtaken(former().session('b').joins().view(2, "b").network_view(3, "abw")), 0u);
  EXPECT_EQ(overtaken(former().session('b').joins().view(2, "b").network_view(3, "bw")), 1u);
  EXPECT_EQ(overtaken(former().session('b').joins().network_view(2, "abw").view(3, "bw")), 1u) << "it has waited";
}

TEST(CheckMoves, WhoWasOutsideTheViewMayBeOvertaken) {
  for (const bool is_outside : {true, false}) {
    Writer w = former().session('b').joins().view(2, "bw");
    const std::vector<DaemonId> members{{is_outside ? "e" : "d", 7}};
    DaemonHistory& daemon = w.history().daemons.emplace_back();
    daemon.events.push_back(
        {{}, ViewInstalled{{1, "d", 0}, std::make_shared<const std::vector<DaemonId>>(members), {}}});
    EXPECT_EQ(overtaken(w), is_outside ? 0u : 1u);
  }
}

/// It may still be in others, and send.
TEST(CheckMoves, WhoWasTakenOutOfThatGroupAloneMayBeOvertaken) {
  const auto make = [](const std::string& client, const std::string& group, Duration at) {
    Writer w = former().session('b').joins().view(2, "bw");
    DaemonHistory& daemon = w.history().daemons.emplace_back();
    daemon.events.push_back({Time{at}, LeftGroup{client, group}});
    return overtaken(w);
  };
  EXPECT_EQ(make("#a#d", "g", 1s), 0u);
  EXPECT_EQ(make("#a#d", "h", 1s), 1u) << "it says nothing of this group";
  EXPECT_EQ(make("#w#d", "g", 1s), 1u) << "somebody else";
  Writer w;
  w.session('a', false).joins().joins("h").view(1, "aw").view(1, "aw", "h").leaves_group("g").sends(1).closes();
  w.session('b').joins().joins("h").view(2, "bw").view(2, "bw", "h");
  DaemonHistory& daemon = w.history().daemons.emplace_back();
  daemon.events.push_back({Time{1s}, LeftGroup{"#a#d", "g"}});
  EXPECT_EQ(overtaken(w), 1u) << "it had asked to leave, and has left the other one by its end";
}

TEST(CheckMoves, ASessionOfTheSameNameNeedNotWait) {
  Writer w = former();
  w.session('a').joins().leaves().sends(2).at('w').view(1, "aw").gets('a', 2).gets('a', 1);
  EXPECT_EQ(w.violations(), 1u) << "the former one was gone before";
}

/// Where one waits for nobody, that is so for all that come behind it, too.
TEST(CheckMoves, ALineOfSessionsIsHeldToItsParts) {
  const auto make = [](char first, std::uint64_t of_first) {
    Writer w = former();
    w.session('b').joins().is_refused(Errc::mode_mismatch).joins("h").view(2, "bw", "h").sends(2).closes();
    w.session('c').joins("h").view(3, "cw", "h").sends(3).at('w').view(1, "aw").gets('c', 3).gets(first, of_first);
    return w.violations();
  };
  EXPECT_EQ(make('a', 1), 0u);
  EXPECT_EQ(make('b', 2), 1u);
}

}  // namespace
}  // namespace spindled::checkers
