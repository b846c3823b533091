// Groups whose members are told of changes, and not of all members.
#include "tests/sim/scenario.h"

#include <algorithm>
#include <set>

namespace spindled::sim {
namespace {

using spindle::ViewForm;

class LargeGroup : public Scenario {
 protected:
  static NodeConfig config(std::size_t full_view_members) {
    NodeConfig config;
    config.session.full_view_members = full_view_members;
    return config;
  }
  std::vector<SimHost*> hosts(std::size_t from, std::size_t to) {
    std::vector<SimHost*> some;
    for (std::size_t i = from; i < to; ++i) some.push_back(&sim().host(i));
    return some;
  }
  SimClient* add_member(std::size_t host) {
    SimClient& client = sim().add_client(sim().host(host), fmt::format("c{}", sim().client_count()));
    client.join("g");
    return &client;
  }
  static std::vector<SimClient*> at(const std::vector<SimClient*>& clients, const std::vector<SimHost*>& hosts) {
    std::vector<SimClient*> some = clients;
    std::erase_if(some, [&](SimClient* client) {
      return std::none_of(hosts.begin(), hosts.end(), [&](SimHost* host) { return host == &client->host(); });
    });
    return some;
  }
  static void expect_views(const SimClient& client, std::size_t full, std::size_t change) {
    EXPECT_EQ(client.views_of(ViewForm::full), full) << client.private_name();
    EXPECT_EQ(client.views_of(ViewForm::change), change) << client.private_name();
  }
  /// Lets some member or other do something.
  void stir(const std::vector<SimClient*>& clients) {
    SimClient& client = *clients[sim().random().below(clients.size())];
    if (client.view("g") == nullptr) leaving_.erase(&client);
    switch (sim().random().below(5)) {
      case 0:
        client.join("g");  // refused where it is a member
        break;
      case 1:
        if (client.view("g") != nullptr && leaving_.insert(&client).second) client.leave("g");
        break;
      case 2:
        client.request_view("g");
        break;
      default:
        client.multicast({"g"});
        break;
    }
  }

  std::set<SimClient*> leaving_;  // who has been told to leave while it had a view
};

TEST_F(LargeGroup, KeepsItsOrderThroughAViewThatIsNotTold) {
  simulate_cluster(207, Shape::line, 3, config(0));
  // Whoever joins last is at the first daemon.
  std::vector<SimClient*> members;
  for (const std::size_t host : {1u, 0u, 1u, 0u}) {
    members.push_back(add_member(host));
    await_group_view(members, "g");
  }
  const GroupView before = *members[0]->view("g");
  sim().host(2).crash();
  await([this] { return have_one_view(hosts(0, 2)); }, 10s, "a view without a daemon that has no member");
  await_rest();
  EXPECT_EQ(members[0]->view("g")->id, before.id) << "nothing has changed for the group";

  members.push_back(add_member(1));
  await_group_view(members, "g");
  EXPECT_EQ(members[0]->view("g")->members,
            (std::vector<std::string>{"#c1#d000", "#c3#d000", "#c0#d001", "#c2#d001", "#c4#d001"}));
  expect_views(*members[0], 1, 4);
  await_rest();
  check();
}

TEST_F(LargeGroup, TellsAllMembersOnceAndChangesFromThenOn) {
  simulate_cluster(201, Shape::line, 3, config(3));
  std::vector<SimClient*> members;
  for (std::size_t i = 0; i < 5; ++i) {
    members.push_back(add_member(i % 3));
    await_group_view(members, "g");
    if (HasFatalFailure()) return;
  }
  expect_views(*members[0], 3, 2);
  expect_views(*members[2], 1, 2);
  expect_views(*members[3], 1, 1);
  expect_views(*members[4], 1, 0);
  // Back over the threshold: from three members on all are listed again.
  for (std::size_t i = 0; i < 2; ++i) {
    members.back()->leave("g");
    members.pop_back();
    await_group_view(members, "g");
    if (HasFatalFailure()) return;
  }
  expect_views(*members[0], 4, 3);
  expect_views(*members[2], 2, 3);
  EXPECT_EQ(sim().client(4).views_of(ViewForm::farewell), 1u);
  await_rest();
  check();
}

TEST_F(LargeGroup, ADisconnectedMemberIsAChange) {
  simulate_cluster(202, Shape::line, 2, config(1));
  std::vector<SimClient*> members = add_members(4, "g");
  await_group_view(members, "g");
  if (HasFatalFailure()) return;
  const std::size_t full = members[0]->views_of(ViewForm::full);
  members[3]->kill();
  members.pop_back();
  await_group_view(members, "g");
  EXPECT_EQ(members[0]->view("g")->cause, spindle::ViewCause::disconnect);
  EXPECT_EQ(members[0]->views_of(ViewForm::full), full);
  check();
}

TEST_F(LargeGroup, ARequestIsAnsweredInItsPlace) {
  simulate_cluster(203, Shape::ring, 3, config(2));
  const std::vector<SimClient*> members = add_members(6, "g");
  await_group_view(members, "g");
  if (HasFatalFailure()) return;
  // While members come and go: each answer is held against what the client knows at that point.
  std::size_t asked = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    SimClient* passing = add_member(i % 3);
    members[i % 6]->request_view("g");
    ++asked;
    sim().run_for(std::chrono::microseconds(sim().random().below(3'000)));
    passing->view("g") != nullptr ? passing->leave("g") : passing->kill();
  }
  await_rest();
  check();
  std::size_t answers = 0;
  for (const SimClient* member : members) answers += member->views_of(ViewForm::answer);
  EXPECT_EQ(answers, asked);
}

TEST_F(LargeGroup, WhoIsNoMemberIsToldNothing) {
  simulate_cluster(204, Shape::line, 2, config(1));
  const std::vector<SimClient*> members = add_members(3, "g");
  await_group_view(members, "g");
  SimClient& outsider = sim().add_client(sim().host(0), "outsider");
  outsider.request_view("g");
  outsider.request_view("unheard-of");
  outsider.join("g");
  outsider.request_view("g");  // a member by the time it is answered
  members[0]->leave("g");
  await([&] { return outsider.view("g") != nullptr && outsider.view("g")->members.size() == 3; }, 5s, "the join");
  members[0]->request_view("g");
  await_rest();
  EXPECT_EQ(outsider.refused_requests(), 2u);
  EXPECT_EQ(outsider.views_of(ViewForm::answer), 1u);
  EXPECT_EQ(members[0]->refused_requests(), 1u);
  check();
}

TEST_F(LargeGroup, WhoAsksWithoutReadingWaitsAndHoldsUpNobody) {
  NodeConfig node = config(10);
  node.session.queue_soft_bytes = 128u << 10;
  node.session.queue_hard_bytes = 256u << 10;
  simulate_cluster(205, Shape::line, 2, node);
  const std::vector<SimClient*> members = add_members(40, "g");
  await_group_view(members, "g");
  if (HasFatalFailure()) return;
  SimClient& asker = *members[0];
  const Counters& counters = sim().host(0).node().counters();
  const std::uint64_t before = counters.value(Counter::group_views);
  asker.set_read_rate(0);
  constexpr std::size_t kRequests = 20'000;  // some 8 MB of answers
  for (std::size_t i = 0; i < kRequests; ++i) asker.request_view("g");
  sim().run_for(2s);
  EXPECT_FALSE(asker.is_closed());
  EXPECT_LT(counters.value(Counter::group_views) - before, kRequests / 4);
  EXPECT_GT(counters.value(Counter::group_views) - before, 100u);
  members[1]->multicast({"g"});
  await([&] { return members[2]->messages() == 1 && members[3]->messages() == 1; }, 1s, "others go on");
  asker.set_read_rate(std::nullopt);
  await([&] { return asker.views_of(ViewForm::answer) == kRequests; }, 10s, "all answers");
  await_rest();
  check();
}

/// The client reads what comes as fast as it comes: nothing but the end of writing tells the daemon to go on.
TEST_F(LargeGroup, ManyRequestsAtOnceAreAllAnswered) {
  NodeConfig node = config(1);
  node.session.queue_soft_bytes = 64u << 10;
  simulate_cluster(206, Shape::line, 1, node);
  const std::vector<SimClient*> members = add_members(100, "g");
  await_group_view(members, "g");
  if (HasFatalFailure()) return;
  for (std::size_t i = 0; i < 1'000; ++i) members[0]->request_view("g");
  await([&] { return members[0]->views_of(ViewForm::answer) == 1'000; }, 10s, "all answers");
  EXPECT_FALSE(members[0]->is_closed());
}

TEST_F(LargeGroup, PartitionAndHealLarge) {
  simulate_cluster(207, Shape::line, 4, config(100));
  const std::vector<SimClient*> members = add_members(240, "g");
  await_group_view(members, "g", 30s);
  if (HasFatalFailure()) return;
  for (std::size_t i = 0; i < 50; ++i) members[sim().random().below(members.size())]->multicast({"g"});
  sim().network().partition({{0, 1}, {2, 3}});
  for (std::size_t i = 0; i < 50; ++i) members[sim().random().below(members.size())]->multicast({"g"});
  await([&] { return have_one_view(hosts(0, 2)) && have_one_view(hosts(2, 4)); }, 5s, "a view on each side");
  for (std::size_t side = 0; side < 2; ++side) await_group_view(at(members, hosts(2 * side, 2 * side + 2)), "g");
  if (HasFatalFailure()) return;
  const std::size_t full = members[0]->views_of(ViewForm::full);
  EXPECT_EQ(members[0]->view("g")->vs_set.size(), 120u);
  EXPECT_EQ(members[0]->view("g")->changed.size(), 120u);
  for (SimClient* member : members) member->request_view("g");
  for (std::size_t i = 0; i < 50; ++i) members[sim().random().below(members.size())]->multicast({"g"});
  await_rest();

  sim().network().heal();
  await([&] { return have_one_view(sim().hosts()); }, 15s, "one view after the heal");
  await_group_view(members, "g");
  if (HasFatalFailure()) return;
  EXPECT_EQ(members[0]->view("g")->cause, spindle::ViewCause::network);
  EXPECT_EQ(members[0]->view("g")->vs_set.size(), 120u);
  EXPECT_EQ(members[0]->views_of(ViewForm::full), full) << "the network's views were changes, too";
  for (const SimClient* member : members) EXPECT_EQ(member->views_of(ViewForm::answer), 1u);
  await_rest();
  check();
}

/// Members that leave, join again and ask, while the network splits and heals.
TEST_F(LargeGroup, ChangesAreRightWhateverHappens) {
  std::size_t answers = 0, changes = 0;
  for (std::uint64_t seed = 210; seed < 222; ++seed) {
    SCOPED_TRACE(seed);
    simulate_cluster(seed, Shape::ring, 4, config(seed % 2 == 0 ? 0 : 6));
    const std::vector<SimClient*> clients = add_members(16, "g");
    await_group_view(clients, "g");
    if (HasFatalFailure()) return;
    leaving_.clear();
    for (std::size_t round = 0; round < 400; ++round) {
      stir(clients);
      if (round % 40 == 10) sim().network().partition({{0, static_cast<HostIndex>(1 + round / 40 % 3)}});
      if (round % 40 == 30) sim().network().heal(sim().random().chance(0.3));
      sim().run_for(std::chrono::microseconds(sim().random().below(30'000)));
    }
    sim().network().heal();
    await([&] { return have_one_view(sim().hosts()); }, 30s, "one view of all daemons");
    await_rest();
    check();
    if (HasFailure()) return;
    for (const SimClient* client : clients) {
      answers += client->views_of(ViewForm::answer);
      changes += client->views_of(ViewForm::change);
    }
  }
  EXPECT_GT(answers, 100u);
  EXPECT_GT(changes, 1'000u);
}

}  // namespace
}  // namespace spindled::sim
