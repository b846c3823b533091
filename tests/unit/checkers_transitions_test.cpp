// Who came along, as clients are told, and the transitional signal: on what daemons did, and with each thing wrong.
#include <gtest/gtest.h>

#include "tests/checkers/checkers.h"
#include "tests/checkers/daemon_index.h"
#include "tests/unit/checkers_daemon_writer.h"

namespace spindled::checkers {
namespace {

using spindle::ViewCause;

/// Client x is at daemon a, y at b, z at c; all are members of g in the daemons' view 1.
std::string client_at(char letter) { return std::string("#") + letter + "#" + static_cast<char>(letter - 'x' + 'a'); }

std::vector<std::string> names(std::string_view letters) {
  std::vector<std::string> result;
  for (const char letter : letters) result.push_back(client_at(letter));
  return result;
}

class Clients {
 public:
  explicit Clients(const History& daemons) : history(daemons) {}

  Clients& at(char letter) {
    for (ClientHistory& each : history.clients) {
      current = static_cast<std::size_t>(&each - history.clients.data());
      if (each.name == client_at(letter)) return *this;
    }
    current = history.clients.size();
    history.clients.push_back({client_at(letter), {}});
    return *this;
  }
  Clients& view(std::uint64_t number, std::string_view coordinator, std::string_view members, ViewCause cause,
                std::string_view vs_set = "", std::string_view changed = "", bool synchronous = false) {
    return add(GroupView{"g",
                         {number, std::string(coordinator), 1, 1},
                         cause,
                         names(members),
                         names(vs_set),
                         names(changed),
                         true,
                         synchronous});
  }
  Clients& signal() { return add(Transitional{"g"}); }
  Clients& add(decltype(Event::what) what) {
    history.clients[current].events.push_back({Time{}, std::move(what)});
    return *this;
  }
  std::string violations(bool at_rest = true) const {
    return to_text(check_transitions(history, DaemonIndex(history), at_rest));
  }

  History history;

 private:
  std::size_t current = 0;
};

/// Daemons a, b and c in view 1; a and b go on to view 3 of all three together, c from a view of its own.
Clients c_comes_back(bool signals = true) {
  DaemonWriter w;
  for (const char daemon : {'a', 'b', 'c'}) w.at(daemon).view(1, "abc", "abc");
  for (const char daemon : {'a', 'b'}) w.at(daemon).signal("ab").view(3, "abc", "ab");
  w.at('c').signal("c").view(2, "c", "c").view(3, "abc", "c");
  Clients clients{w.history()};
  for (const char client : {'x', 'y', 'z'}) {
    clients.at(client).view(1, "a", "xyz", ViewCause::join);
    if (signals) clients.signal();
  }
  return clients;
}

/// All as it should be, but for the transitional sets given. In between z has got a view of itself alone.
Clients with_sets(std::string_view of_x, std::string_view of_y, std::string_view of_z = "z") {
  Clients clients = c_comes_back();
  clients.at('x').view(3, "a", "xyz", ViewCause::network, of_x);
  clients.at('y').view(3, "a", "xyz", ViewCause::network, of_y);
  clients.at('z').view(2, "c", "z", ViewCause::network, "z").view(3, "a", "xyz", ViewCause::network, of_z);
  return clients;
}

TEST(CheckersTransitions, SetsAreExactlyWhoCameAlong) {
  EXPECT_EQ(with_sets("xy", "xy").violations(), "");
  EXPECT_NE(with_sets("xyz", "xyz").violations().find("has #z#c, who did not come along"), std::string::npos);
  EXPECT_NE(with_sets("x", "y").violations().find("lacks #y#b, who came along"), std::string::npos);
  EXPECT_NE(with_sets("y", "xy").violations().find("lacks the receiver"), std::string::npos);
  EXPECT_NE(with_sets("xy", "xy", "xz").violations().find("who was not in the last view"), std::string::npos);
}

TEST(CheckersTransitions, SetsAreSymmetric) {
  const std::string violations = with_sets("xy", "y").violations();
  EXPECT_NE(violations.find("not the other way round"), std::string::npos) << violations;
}

TEST(CheckersTransitions, WhoLeftAndCameBackNeedNotBeInIt) {
  Clients clients = with_sets("x", "y");
  for (const char client : {'x', 'y'}) clients.at(client).add(LeaveRequested{"g"});
  EXPECT_EQ(clients.violations(), "");
}

TEST(CheckersTransitions, ASetHasOnlyMembers) {
  Clients clients = c_comes_back();
  clients.at('x').view(3, "a", "xz", ViewCause::network, "xy");
  EXPECT_NE(clients.violations(false).find("who is no member"), std::string::npos);
}

TEST(CheckersTransitions, AFirstViewIsOfNobodyElse) {
  const auto run = [](std::string_view vs_set) {
    DaemonWriter w;
    for (const char daemon : {'a', 'b'}) w.at(daemon).view(1, "ab", "ab").view(2, "ab", "ab");
    Clients clients{w.history()};
    clients.at('x').view(2, "a", "xy", ViewCause::network, vs_set, "x");
    return clients.violations();
  };
  EXPECT_EQ(run("x"), "");
  EXPECT_NE(run("xy").find("the first there, has others"), std::string::npos);
  EXPECT_NE(run("").find("lacks the receiver"), std::string::npos);
}

TEST(CheckersTransitions, WhoIsSeparatedGetsTheSignal) {
  const auto run = [](bool signals) {
    Clients clients = c_comes_back(signals);
    clients.at('x').view(3, "a", "xyz", ViewCause::network, "xy");
    return clients.violations(false);
  };
  EXPECT_EQ(run(true), "");
  EXPECT_NE(run(false).find("came without one, and #z#c was separated"), std::string::npos);
}

TEST(CheckersTransitions, WhatHappensInAViewThatNobodyWasToldOfCounts) {
  // Together into view 2, of which nobody is told, and apart from there.
  const auto run = [](bool signal) {
    DaemonWriter w;
    for (const char daemon : {'a', 'b'}) w.at(daemon).view(1, "ab", "ab").view(2, "ab", "ab");
    w.at('a').signal("a").view(3, "a", "a");
    Clients clients{w.history()};
    clients.at('x').view(1, "a", "xy", ViewCause::join);
    if (signal) clients.signal();
    clients.view(3, "a", "x", ViewCause::network, "x");
    return clients.violations();
  };
  EXPECT_EQ(run(true), "");
  EXPECT_NE(run(false).find("came without one"), std::string::npos);
}

TEST(CheckersTransitions, ASignalHasAReason) {
  const auto run = [](bool safe, bool gap) {
    DaemonWriter w;
    for (const char daemon : {'a', 'b'}) w.at(daemon).view(1, "ab", "ab").view(2, "ab", "ab");
    Clients clients{w.history()};
    clients.at('x').view(1, "a", "xy", ViewCause::join).signal();
    if (safe) clients.add(Delivered{{client_at('y'), 1, 10, Service::safe, 0, {"g"}}});
    if (gap) clients.add(Gapped{1, {{"g", 1}}, 0});
    clients.view(2, "a", "xy", ViewCause::network, "xy");
    return clients.violations();
  };
  EXPECT_EQ(run(true, false), "");
  EXPECT_EQ(run(false, true), "") << "the safe message may be in the gap";
  EXPECT_NE(run(false, false).find("for no reason"), std::string::npos);
}

/// A view of a synchronous group that stands as the view of the daemons ends, behind the signal, is of that view.
TEST(CheckersTransitions, WhoIsSeparatedMayHaveLeftWithAViewBehindTheSignal) {
  const auto run = [](bool parts, bool leaves, bool synchronous) {
    DaemonWriter w;
    for (const char daemon : {'a', 'b'}) w.at(daemon).view(1, "ab", "ab").view(2, "ab", "ab");
    w.at('a').view(3, parts ? "a" : "ab", parts ? "a" : "ab");
    Clients clients{w.history()};
    clients.at('x').view(1, "a", "xy", ViewCause::join).signal();
    const std::string_view members = leaves ? "x" : "xy";
    return clients.view(2, "a", members, ViewCause::network, members, "", synchronous).violations();
  };
  EXPECT_EQ(run(true, true, true), "");
  EXPECT_NE(run(false, true, true).find("for no reason"), std::string::npos) << "nobody was separated";
  EXPECT_NE(run(true, false, true).find("for no reason"), std::string::npos) << "who is a member is told again";
  EXPECT_NE(run(true, true, false).find("for no reason"), std::string::npos) << "no view stands behind the signal";
}

TEST(CheckersTransitions, ASignalHasAnEnd) {
  Clients clients = c_comes_back();
  EXPECT_EQ(clients.violations(false), "");
  EXPECT_NE(clients.violations(true).find("never the view that ends it"), std::string::npos);
}

TEST(CheckersTransitions, ASignalIsForMembers) {
  Clients clients = c_comes_back();
  clients.history.clients.clear();
  clients.at('x').signal();
  EXPECT_NE(clients.violations(false).find("of which it has had no view"), std::string::npos);
}

}  // namespace
}  // namespace spindled::checkers
