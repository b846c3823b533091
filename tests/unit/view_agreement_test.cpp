// View agreement among daemons in memory: merging, splitting, failures at each step, and random faults.
#include "tests/unit/view_cluster.h"

namespace spindled::view_test {
namespace {

void line(Cluster& cluster, std::size_t size) {
  for (std::size_t i = 0; i + 1 < size; ++i) cluster.connect(i, i + 1);
}

void ring(Cluster& cluster, std::size_t size) {
  line(cluster, size);
  cluster.connect(size - 1, 0);
}

TEST(ViewAgreement, ADaemonBeginsAloneAndStaysSo) {
  Cluster cluster(1);
  cluster.start_all();
  EXPECT_EQ(cluster.view(0).id.coordinator, "d00");
  EXPECT_EQ(cluster.view(0).members.size(), 1u);
  EXPECT_EQ(cluster.host(0)->agreement().phase(), MemberPhase::steady);
  cluster.run(60s);
  EXPECT_EQ(cluster.installations().size(), 1u);
  EXPECT_EQ(cluster.host(0)->agreement().next_deadline(), kNever);
}

TEST(ViewAgreement, TwoMergeOnceTheLinkHasHeld) {
  Cluster cluster(2);
  cluster.start_all();
  cluster.connect(0, 1);
  cluster.run(190ms);
  EXPECT_EQ(cluster.view(0).size(), 1u);
  EXPECT_TRUE(cluster.run_until([&] { return cluster.all_agree(); }, 300ms));
  EXPECT_EQ(cluster.view(1).id.coordinator, "d00");
  EXPECT_EQ(cluster.installations().size(), 4u);
  cluster.run(60s);
  EXPECT_EQ(cluster.installations().size(), 4u) << "nothing more happens";
  EXPECT_EQ(cluster.host(0)->counters().value(Counter::views_installed), 2u);
  EXPECT_EQ(cluster.host(1)->counters().value(Counter::views_proposed), 0u);
  cluster.check_history();
}

class Merging : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Merging, ALineBecomesOneView) {
  Cluster cluster(GetParam());
  cluster.start_all();
  line(cluster, GetParam());
  EXPECT_TRUE(cluster.run_until([&] { return cluster.all_agree(); }, 1s));
  EXPECT_EQ(cluster.view(0).edges.size(), GetParam() - 1);
  EXPECT_EQ(cluster.installations().size(), 2 * GetParam()) << "in one change";
  cluster.run(10s);
  EXPECT_EQ(cluster.installations().size(), 2 * GetParam());
  cluster.check_history();
}
INSTANTIATE_TEST_SUITE_P(Sizes, Merging, ::testing::Values(2, 3, 16, 48));

TEST(ViewAgreement, TheViewAloneHasAnotherNumberInEachLife) {
  Cluster cluster(1);
  cluster.start_all();
  const ViewId before = cluster.view(0).id;
  cluster.crash(0);
  cluster.start(0);
  EXPECT_NE(cluster.view(0).id, before);
}

TEST(ViewAgreement, NumbersStartWhereTheConfigurationSays) {
  Cluster cluster(2);
  cluster.first_number = std::uint64_t{1} << 63;
  cluster.start(0);
  EXPECT_GT(cluster.view(0).id.number, std::uint64_t{1} << 63);
  cluster.first_number = 0;
  cluster.start(1);
  cluster.connect(0, 1);
  ASSERT_TRUE(cluster.run_until([&] { return cluster.all_agree(); }, 1s));
  EXPECT_GT(cluster.view(1).id.number, std::uint64_t{1} << 63);
}

/// A cluster of `size` in one view.
class Formed : public ::testing::Test {
 protected:
  void form(std::size_t size, bool as_ring = true) {
    cluster = std::make_unique<Cluster>(size);
    cluster->start_all();
    if (as_ring) {
      ring(*cluster, size);
    } else {
      line(*cluster, size);
    }
    ASSERT_TRUE(cluster->run_until([&] { return cluster->all_agree(); }, 1s));
    cluster->run(1s);
  }
  bool agree_within(std::vector<std::size_t> daemons, Duration limit) {
    return cluster->run_until([&] { return cluster->agree(daemons); }, limit);
  }
  bool all_agree_within(Duration limit) {
    return cluster->run_until([&] { return cluster->all_agree(); }, limit);
  }
  void TearDown() override { cluster->check_history(); }

  std::unique_ptr<Cluster> cluster;
};

TEST_F(Formed, ALostMemberIsLeftBehindAtOnce) {
  form(3);
  cluster->crash(1);
  EXPECT_TRUE(agree_within({0, 2}, 100ms));
}

TEST_F(Formed, TheCoordinatorIsLeftBehindAtOnce) {
  form(3);
  cluster->crash(0);
  EXPECT_TRUE(agree_within({1, 2}, 100ms));
  EXPECT_EQ(cluster->view(1).id.coordinator, "d01");
}

TEST_F(Formed, ARestartedDaemonIsBackWithinASecond) {
  form(3, false);
  cluster->crash(0);
  ASSERT_TRUE(agree_within({1, 2}, 100ms));
  cluster->start(0);
  cluster->connect(0, 1);
  EXPECT_TRUE(all_agree_within(500ms));
}

TEST_F(Formed, ALostLinkChangesTheViewThoughAllStay) {
  form(4);
  const ViewId before = cluster->view(0).id;
  cluster->cut(2, 3);
  EXPECT_TRUE(cluster->run_until([&] { return cluster->all_agree() && cluster->view(0).id != before; }, 100ms));
  EXPECT_EQ(cluster->view(0).edges.size(), 3u);
}

TEST_F(Formed, ASplitMakesTwoViewsAndAHealOne) {
  form(6);
  cluster->cut(2, 3);
  cluster->cut(5, 0);
  EXPECT_TRUE(cluster->run_until([&] { return cluster->agree({0, 1, 2}) && cluster->agree({3, 4, 5}); }, 300ms));
  cluster->run(1s);
  cluster->connect(2, 3);
  EXPECT_TRUE(all_agree_within(500ms));
}

TEST_F(Formed, BetterPathsChangeTheViewOnceTheyLast) {
  form(3);
  const ViewId before = cluster->view(0).id;
  cluster->host(0)->reweigh(1, 50);
  cluster->run(25s);
  EXPECT_EQ(cluster->view(0).id, before);
  cluster->run(6s);
  EXPECT_NE(cluster->view(0).id, before);
  EXPECT_TRUE(cluster->all_agree());
  EXPECT_EQ(cluster->view(0).edges[0].weight, 50u);
}

TEST_F(Formed, NumbersThatNobodyCanHaveComeToAreLeftAlone) {
  form(3);
  const View view = cluster->view(1);
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  ViewAgreement& agreement = cluster->host(1)->agreement();
  agreement.control_received(cluster->now(), LinkId{0}, Refuse{view.id, view.members[0], last});
  agreement.control_received(cluster->now(), LinkId{0}, Refuse{{last, "d00", 1}, view.members[0], 1});
  const ViewId made_up{last, view.members[0].name, view.members[0].incarnation};
  agreement.control_received(cluster->now(), LinkId{0}, Propose{made_up, view.members});
  agreement.control_received(cluster->now(), LinkId{0}, Commit{made_up, view.members, view.edges, 0, {}});
  EXPECT_FALSE(agreement.is_frozen());
  cluster->crash(0);
  EXPECT_TRUE(agree_within({1, 2}, 1s));
  EXPECT_LT(cluster->view(1).id.number, view.id.number + (1u << 20));
  cluster->start(0);
  cluster->connect(0, 1);
  EXPECT_TRUE(all_agree_within(2s));
}

TEST(ViewAgreement, ADaemonAloneBelievesHowFarOthersHaveCome) {
  Cluster cluster(3);
  cluster.first_number = std::uint64_t{1} << 50;
  cluster.start(0);
  cluster.start(1);
  cluster.connect(0, 1);
  cluster.run(1s);
  cluster.first_number = 0;
  cluster.start(2);
  cluster.connect(1, 2);
  EXPECT_TRUE(cluster.run_until([&] { return cluster.all_agree(); }, 2s));
}

TEST_F(Formed, MessagesThatSomeLackAreRecovered) {
  form(5);
  cluster->notice_delay_max = 2ms;  // data is under way for up to 5 ms
  std::uint64_t recovered = 0;
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < 5; ++i) {
      for (int k = 0; k < 10; ++k) cluster->host(i)->originate();
    }
    cluster->cut(1, 2);
    cluster->run(300ms);
    cluster->connect(1, 2);
    ASSERT_TRUE(cluster->run_until([&] { return cluster->all_agree() && cluster->view(0).edges.size() == 5; }, 20s));
    cluster->check_history();
  }
  std::uint64_t pushed = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    recovered += cluster->host(i)->counters().value(Counter::messages_recovered);
    pushed += cluster->host(i)->counters().value(Counter::messages_pushed);
  }
  EXPECT_GT(recovered, 0u);
  EXPECT_GE(pushed, recovered);
}

/// Where the coordinator dies: what it was just sending, and over how many of its links it still went.
struct Death {
  const char* name;
  std::size_t kind;
  std::size_t links;
};

class DyingCoordinator : public Formed, public ::testing::WithParamInterface<Death> {};

TEST_P(DyingCoordinator, TheOthersGoOn) {
  form(5);
  cluster->connect(1, 3);
  ASSERT_TRUE(cluster->run_until([&] { return cluster->all_agree() && cluster->view(0).edges.size() == 6; }, 1s));
  for (std::size_t i = 0; i < 5; ++i) {
    for (int k = 0; k < 10; ++k) cluster->host(i)->originate();
  }
  cluster->notice_delay_max = 2ms;  // data is under way for up to 5 ms, and so has to be recovered
  cluster->host(0)->crash_point = {GetParam().kind, GetParam().links};
  cluster->cut(2, 3);
  EXPECT_TRUE(agree_within({1, 2, 3, 4}, 1s));
  EXPECT_EQ(cluster->host(0), nullptr) << "it did not come to that";
}
INSTANTIATE_TEST_SUITE_P(
    Steps, DyingCoordinator,
    ::testing::Values(Death{"BeforePropose", kind_of<Propose>(), 0}, Death{"AmidPropose", kind_of<Propose>(), 1},
                      Death{"AfterStates", kind_of<Commit>(), 0}, Death{"AmidCommit", kind_of<Commit>(), 1},
                      Death{"AfterDone", kind_of<Counts>(), 0}, Death{"AmidCounts", kind_of<Counts>(), 1},
                      Death{"AfterReceived", kind_of<Install>(), 0}, Death{"AmidInstall", kind_of<Install>(), 1}),
    [](const auto& death) { return death.param.name; });

TEST_F(Formed, ASilentMemberIsExcludedAndComesBack) {
  form(4);
  cluster->host(2)->is_mute = true;
  cluster->cut(0, 3);
  EXPECT_TRUE(agree_within({0, 1}, 2s)) << "what lies behind the silent one is out of reach too";
  cluster->host(2)->is_mute = false;
  EXPECT_TRUE(all_agree_within(20s));
}

TEST_F(Formed, ASilentCoordinatorIsReplaced) {
  form(4);
  cluster->host(0)->is_mute = true;
  cluster->cut(2, 3);
  EXPECT_TRUE(cluster->run_until([&] { return cluster->view(1).size() == 2 && cluster->agree({1, 2}); }, 10s));
  cluster->host(0)->is_mute = false;
  EXPECT_TRUE(all_agree_within(30s));
}

TEST_F(Formed, AFurtherChangeReplacesTheProposal) {
  form(8);
  cluster->crash(7);
  cluster->run(2ms);
  for (const std::size_t next : {6u, 5u, 4u}) {
    cluster->crash(next);
    cluster->run(Duration(static_cast<Duration::rep>(cluster->random.below(30'000'000))));
  }
  EXPECT_TRUE(agree_within({0, 1, 2, 3}, 1s));
}

TEST(ViewAgreement, TwoCoordinatorsMeet) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Cluster cluster(6, seed);
    cluster.start_all();
    cluster.connect(0, 2);
    cluster.connect(2, 4);
    cluster.connect(1, 3);
    cluster.connect(3, 5);
    ASSERT_TRUE(cluster.run_until([&] { return cluster.agree({0, 2, 4}) && cluster.agree({1, 3, 5}); }, 1s));
    cluster.run(1s);
    // Both sides are amid a change of their own as they meet.
    cluster.cut(0, 2);
    cluster.cut(1, 3);
    cluster.run(Duration(static_cast<Duration::rep>(cluster.random.below(60'000'000))));
    cluster.connect(4, 5);
    cluster.connect(0, 1);
    cluster.connect(1, 2);
    EXPECT_TRUE(cluster.run_until([&] { return cluster.all_agree(); }, 3s)) << "seed " << seed;
    cluster.check_history();
  }
}

TEST(ViewAgreement, AStaleProposalIsRefused) {
  Cluster cluster(3);
  cluster.start_all();
  line(cluster, 3);
  ASSERT_TRUE(cluster.run_until([&] { return cluster.all_agree(); }, 1s));
  // A coordinator that has just started knows no numbers: its first proposal is refused, its second succeeds.
  for (int i = 0; i < 10; ++i) {
    cluster.cut(1, 2);
    cluster.run(300ms);
    cluster.connect(1, 2);
    ASSERT_TRUE(cluster.run_until([&] { return cluster.all_agree(); }, 20s));
  }
  cluster.crash(0);
  cluster.run(1s);
  cluster.start(0);
  cluster.connect(0, 1);
  ASSERT_TRUE(cluster.run_until([&] { return cluster.all_agree(); }, 1s));
  EXPECT_EQ(cluster.host(0)->counters().value(Counter::views_proposed), 2u);
  cluster.check_history();
}

TEST(ViewAgreement, MessagesOutOfPlaceChangeNothing) {
  Cluster cluster(2);
  cluster.start_all();
  cluster.connect(0, 1);
  ASSERT_TRUE(cluster.run_until([&] { return cluster.all_agree(); }, 1s));
  const View view = cluster.view(1);
  const std::size_t installations = cluster.installations().size();
  ViewAgreement& agreement = cluster.host(1)->agreement();
  const LinkId from{0};
  const ViewId unknown{view.id.number + 9, "d00"};
  agreement.control_received(cluster.now(), from, Commit{unknown, view.members, view.edges, 0, {}});
  agreement.control_received(cluster.now(), from, Install{unknown});
  agreement.control_received(cluster.now(), from, Install{view.id});
  agreement.control_received(cluster.now(), from, Counts{unknown, {0, 0}});
  agreement.control_received(cluster.now(), from, Counts{view.id, {0, 0}});
  agreement.control_received(cluster.now(), from, Received{unknown, view.members[0]});
  agreement.control_received(cluster.now(), from, Done{unknown, view.members[0], {{7, 1}}});
  agreement.control_received(cluster.now(), from, MemberState{unknown, view.members[0], view.id, {0, 0}, 0});
  agreement.control_received(cluster.now(), from, Refuse{view.id, view.members[0], 5});
  agreement.control_received(cluster.now(), from, Propose{unknown, {view.members[0]}});
  agreement.control_received(cluster.now(), from, Propose{unknown, {view.members[0], {"d01", 99}}});
  agreement.control_received(cluster.now(), from, Propose{view.id, view.members});
  agreement.control_received(cluster.now(), from, LinkHello{});
  agreement.push_received(cluster.now(), Push{unknown, view.id}, Slice());
  agreement.push_received(cluster.now(), Push{view.id, view.id}, Slice());
  EXPECT_FALSE(agreement.is_frozen());
  EXPECT_EQ(cluster.installations().size(), installations);
}

TEST(ViewAgreement, AProposalOfSomebodyWhoVanishesDoesNotFreezeForEver) {
  Cluster cluster(2);
  cluster.start_all();
  cluster.connect(0, 1);
  ASSERT_TRUE(cluster.run_until([&] { return cluster.all_agree(); }, 1s));
  // Seemingly from the other, who knows nothing of it and will not commit it.
  ViewAgreement& agreement = cluster.host(1)->agreement();
  const View view = cluster.view(1);
  agreement.control_received(cluster.now(), LinkId{0},
                             Propose{{view.id.number + 5, "d00", view.members[0].incarnation}, view.members});
  EXPECT_TRUE(agreement.is_frozen());
  EXPECT_EQ(agreement.phase(), MemberPhase::answered);
  EXPECT_TRUE(cluster.run_until([&] { return cluster.all_agree(); }, 5s));
  cluster.check_history();
}

/// One random step of trouble, or of relief.
void disturb(Cluster& cluster, std::size_t size, const std::set<std::pair<std::size_t, std::size_t>>& wires) {
  const std::size_t daemon = cluster.random.below(size);
  auto wire = wires.begin();
  std::advance(wire, cluster.random.below(wires.size()));
  switch (cluster.random.below(8)) {
    case 0:
      cluster.crash(daemon);
      break;
    case 1:
    case 2:
      if (cluster.host(daemon) == nullptr) cluster.start(daemon);
      break;
    case 3:
      cluster.cut(wire->first, wire->second);
      break;
    case 4:
    case 5:
      cluster.connect(wire->first, wire->second);
      break;
    case 6:
      if (cluster.host(daemon) != nullptr) cluster.host(daemon)->is_mute = cluster.random.chance(0.3);
      break;
    case 7:
      if (cluster.host(daemon) != nullptr) {
        const std::size_t kinds[] = {kind_of<Propose>(), kind_of<Commit>(), kind_of<Counts>(), kind_of<Install>(),
                                     std::variant_npos};
        cluster.host(daemon)->crash_point = {kinds[cluster.random.below(5)], cluster.random.below(3)};
      }
      break;
  }
}

void heal(Cluster& cluster, std::size_t size, const std::set<std::pair<std::size_t, std::size_t>>& wires) {
  for (std::size_t i = 0; i < size; ++i) {
    if (cluster.host(i) == nullptr) cluster.start(i);
    cluster.host(i)->is_mute = false;
    cluster.host(i)->crash_point = {};
  }
  for (const auto& [a, b] : wires) cluster.connect(a, b);
}

void random_faults(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random shape(seed);
  const std::size_t size = 2 + shape.below(9);
  std::set<std::pair<std::size_t, std::size_t>> wires;
  for (std::size_t i = 1; i < size; ++i) wires.emplace(shape.below(i), i);
  for (std::size_t i = shape.below(size + 1); i > 0; --i) {
    const std::size_t a = shape.below(size), b = shape.below(size);
    if (a != b) wires.insert(std::minmax(a, b));
  }
  Cluster cluster(size, seed);
  cluster.start_all();
  for (const auto& [a, b] : wires) cluster.connect(a, b);
  const Duration pause_max = std::vector<Duration>{5ms, 50ms, 500ms, 3s}[shape.below(4)];
  for (std::uint64_t step = shape.below(80); step > 0; --step) {
    for (std::size_t i = 0; i < size; ++i) {
      for (std::uint64_t k = cluster.random.below(4); k > 0 && cluster.host(i) != nullptr; --k) {
        cluster.host(i)->originate();
      }
    }
    disturb(cluster, size, wires);
    cluster.run(
        Duration(static_cast<Duration::rep>(cluster.random.below(static_cast<std::uint64_t>(pause_max.count())))));
  }
  heal(cluster, size, wires);
  cluster.run(1s);  // what was cut last is noticed
  ASSERT_TRUE(
      cluster.run_until([&] { return cluster.all_agree() && cluster.view(0).edges.size() == wires.size(); }, 60s));
  const std::size_t installations = cluster.installations().size();
  cluster.run(30s);
  ASSERT_EQ(cluster.installations().size(), installations) << "views go on changing though nothing else does";
  cluster.check_history();
}

class RandomFaults : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomFaults, EndInOneViewAfterTheHeal) {
  for (std::uint64_t i = 0; i < 50 && !HasFatalFailure(); ++i) random_faults(GetParam() * 50 + i);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomFaults, ::testing::Range<std::uint64_t>(0, 10));

}  // namespace
}  // namespace spindled::view_test
