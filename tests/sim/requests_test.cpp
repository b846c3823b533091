// Requests to all members of a group, while the network parts and members come and go.
#include "daemon/base/result.h"
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

constexpr const char* kGroup = "g";

class RequestsToAll : public Scenario {
 protected:
  /// Every request has ended, each with an answer of everybody who could give one.
  void expect_all_ended(const std::vector<SimClient*>& clients) {
    for (const SimClient* client : clients) {
      EXPECT_EQ(client->outcomes().size(), client->asked());
      for (const spindle::Answers& answers : client->outcomes()) {
        EXPECT_FALSE(answers.error) << answers.error.message();
        EXPECT_TRUE(answers.missing.empty());
      }
    }
  }
};

TEST_F(RequestsToAll, EndWithTheAnswersOfAllWhereNobodyGoes) {
  simulate_cluster(1, Shape::ring, 3);
  const std::vector<SimClient*> members = add_members(6, kGroup);
  await_group_view(members, kGroup);
  for (int i = 0; i < 20; ++i) {
    for (SimClient* member : members) member->ask_all(kGroup);
    sim().run_for(5ms);
  }
  await_rest();
  expect_all_ended(members);
  for (const SimClient* member : members) {
    EXPECT_EQ(member->asked(), 20u);
    for (const spindle::Answers& answers : member->outcomes()) EXPECT_EQ(answers.messages.size(), 5u);
  }
  check();
}

// An answer may be lost with its sender's way, but then its sender is gone from a view.
TEST_F(RequestsToAll, EndHoweverTheNetworkPartsAndMembersGo) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    simulate_cluster(seed, kShapes[seed % std::size(kShapes)], 4);
    if (HasFatalFailure()) return;
    const std::vector<SimClient*> members = add_members(8, kGroup);
    await_group_view(members, kGroup);
    if (HasFatalFailure()) return;
    Random random(seed);
    for (int i = 0; i < 150; ++i) {
      members[random.below(7)]->ask_all(kGroup);
      members[random.below(7)]->multicast({kGroup}, {.service = static_cast<Service>(1 + random.below(5))});
      if (random.chance(0.03)) sim().network().partition({{0, 1}, {2, 3}});
      if (random.chance(0.03)) sim().network().partition({{0}, {1, 2, 3}});
      if (random.chance(0.08)) sim().network().heal(random.chance(0.5));
      if (i == 75) members[7]->leave(kGroup);
      if (i == 90) members[7]->join(kGroup);
      if (i == 110) members[7]->kill();
      sim().run_for(std::chrono::microseconds(random.below(random.chance(0.1) ? 900'000 : 9'000)));
    }
    sim().network().heal();
    await_group_view({members.begin(), members.end() - 1}, kGroup, 60s);
    await_rest();
    expect_all_ended({members.begin(), members.end() - 1});
    check();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace spindled::sim
