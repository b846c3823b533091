// Clients that join and leave without end: what that costs others is bounded, whatever the group.
#include <algorithm>

#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class MembershipStorm : public Scenario {
 protected:
  void start(std::uint64_t seed, std::size_t members, const NodeConfig& node = {}) {
    simulate_cluster(seed, Shape::line, 2, node);
    for (std::size_t i = 0; i < members; ++i) {
      members_.push_back(&sim().add_client(sim().host(1)));
      members_.back()->join("g");
    }
    await(
        [&] {
          return std::all_of(members_.begin(), members_.end(), [&](SimClient* each) { return has_joined(*each); });
        },
        10s, "the members have joined");
  }
  static bool has_joined(const SimClient& client, const std::string& group = "g") {
    const GroupView* view = client.view(group);
    return view != nullptr;
  }
  SimClient& add_storm(HostIndex host, std::size_t rounds) {
    SimClient& storm = sim().add_client(sim().host(host));
    for (std::size_t i = 0; i < rounds; ++i) {
      storm.join("g");
      storm.leave("g");
    }
    return storm;
  }
  std::uint64_t views_told() { return sim().host(1).node().counters().value(Counter::group_views); }
  /// Runs for a span of virtual time; the most that waited for any client of the members' daemon meanwhile.
  std::size_t longest_queue(Duration span) {
    std::size_t longest = 0;
    (void)sim().run_until(
        [&] {
          longest = std::max(longest, sim().host(1).node().memory().session_queue);
          return false;
        },
        span);
    return longest;
  }
  bool any_member_closed() const {
    return std::any_of(members_.begin(), members_.end(), [](const SimClient* each) { return each->is_closed(); });
  }

  std::vector<SimClient*> members_;
};

TEST_F(MembershipStorm, TellsOnlySoManyMembersInATime) {
  start(601, 300);
  if (HasFatalFailure()) return;
  for (int i = 0; i < 3; ++i) add_storm(0, 2'000);
  const std::uint64_t before = views_told();
  const std::size_t longest = longest_queue(500ms);
  // 300 x (256 + about 80) bytes a view; all clients of a daemon have 16 MiB a second and 2 MiB at once.
  EXPECT_LT(views_told() - before, 40'000u);
  EXPECT_GT(views_told() - before, 10'000u);
  EXPECT_LT(longest, 64u << 10);
  EXPECT_FALSE(any_member_closed());
}

TEST_F(MembershipStorm, OfASmallGroupCutsNobodyOff) {
  start(602, 20);
  if (HasFatalFailure()) return;
  add_storm(0, 20'000);
  const std::size_t longest = longest_queue(2s);
  EXPECT_LT(longest, 256u << 10);
  EXPECT_FALSE(any_member_closed());
}

TEST_F(MembershipStorm, WaitsForAMemberThatReadsSlowly) {
  NodeConfig node;
  node.session.queue_hard_bytes = 4u << 20;
  start(603, 3, node);
  if (HasFatalFailure()) return;
  members_[0]->set_read_rate(20'000);
  add_storm(0, 100'000);
  const std::size_t longest = longest_queue(40s);
  EXPECT_LT(longest, 2u << 20);
  EXPECT_FALSE(any_member_closed());
}

TEST_F(MembershipStorm, LeavesOthersTheirTurn) {
  start(604, 100);
  if (HasFatalFailure()) return;
  for (int i = 0; i < 5; ++i) add_storm(0, 20'000);
  sim().run_for(500ms);
  SimClient& late = sim().add_client(sim().host(0));
  for (int i = 0; i < 10; ++i) late.join("h" + std::to_string(i));
  await([&] { return has_joined(late, "h9"); }, 500ms, "somebody else's joins");
  SimClient& pair = sim().add_client(sim().host(1));
  pair.join("p");
  await([&] { return has_joined(pair, "p"); }, 500ms, "a join at the other daemon");
  const std::size_t before = pair.messages();
  late.multicast({"p"});
  await([&] { return pair.messages() == before + 1; }, 50ms, "a message");
}

TEST_F(MembershipStorm, ThatConnectsAnewEachTimeIsHeldToWhatAllClientsHave) {
  start(605, 300);
  if (HasFatalFailure()) return;
  const std::uint64_t before = views_told();
  for (int i = 0; i < 300; ++i) {
    SimClient& client = sim().add_client(sim().host(0));
    client.join("g");
    sim().run_for(1ms);
    client.kill();
  }
  EXPECT_LT(views_told() - before, 50'000u);
}

}  // namespace
}  // namespace spindled::sim
