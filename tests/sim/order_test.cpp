// One order everywhere, under concurrent senders, joins and leaves.
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class Order : public Scenario {
 protected:
  /// Members that stay, clients that come and go, and senders that are no members, all busy at once.
  void run_busy_group(Shape shape, std::size_t daemons, Service strongest) {
    const std::vector<SimClient*> members = add_members(daemons, "g");
    await_group_view(members, "g");
    if (HasFatalFailure()) return;
    std::vector<SimClient*> guests;
    for (std::size_t i = 0; i < daemons; ++i) {
      guests.push_back(&sim().add_client(sim().host(sim().random().below(daemons)), fmt::format("guest{}", i)));
    }
    await([&] { return std::all_of(guests.begin(), guests.end(), [](auto* each) { return each->is_welcome(); }); }, 2s,
          "guests are connected");
    std::vector<bool> is_in(guests.size());
    for (std::size_t round = 0; round < 150; ++round) {
      act(members, guests, is_in, strongest);
      sim().run_for(std::chrono::microseconds(sim().random().below(3000)));
    }
    await_rest();
    compare(members, shape);
    check();
  }

 private:
  void act(const std::vector<SimClient*>& members, const std::vector<SimClient*>& guests, std::vector<bool>& is_in,
           Service strongest) {
    Random& random = sim().random();
    const auto lowest = static_cast<std::uint64_t>(Service::fifo);
    const auto service = static_cast<Service>(random.between(lowest, static_cast<std::uint64_t>(strongest)));
    SimClient& sender =
        random.chance(0.8) ? *members[random.below(members.size())] : *guests[random.below(guests.size())];
    for (std::uint64_t burst = random.below(8); burst > 0; --burst) {
      sender.multicast({"g"}, {.service = service, .size = random.below(2000)});
    }
    if (!random.chance(0.3)) return;
    const std::size_t who = random.below(guests.size());
    if (is_in[who]) {
      guests[who]->leave("g");
    } else {
      guests[who]->join("g");
    }
    is_in[who] = !is_in[who];
    // A client may not ask again while its last request is on its way; the daemon would refuse it.
    ASSERT_TRUE(sim().run_until([&] { return (guests[who]->view("g") != nullptr) == is_in[who]; }, 5s));
  }

  void compare(const std::vector<SimClient*>& members, Shape shape) {
    std::size_t sent = 0;
    for (std::size_t i = 0; i < sim().client_count(); ++i) sent += events_of<Sent>(sim().client(i).history()).size();
    EXPECT_GT(sent, 200u);
    const std::vector<std::uint64_t> expected = digests_of(*members.front(), Service::causal);
    for (const SimClient* member : members) {
      EXPECT_EQ(member->messages(), sent) << member->private_name() << " on a " << to_string(shape);
      EXPECT_EQ(digests_of(*member, Service::causal), expected) << member->private_name();
    }
  }
};

TEST_F(Order, IsTheSameEverywhereOnEveryShape) {
  for (const Shape shape : kShapes) {
    SCOPED_TRACE(to_string(shape));
    simulate_cluster(21, shape, 6);
    if (HasFatalFailure()) return;
    run_busy_group(shape, 6, Service::agreed);
    if (HasFailure()) return;
  }
}

TEST_F(Order, HoldsForSafeMessagesToo) {
  simulate_cluster(22, Shape::random, 5);
  run_busy_group(Shape::random, 5, Service::safe);
}

TEST_F(Order, HoldsWhereNumbersStartHigh) {
  NodeConfig config;
  config.first_number = (std::uint64_t{1} << 32) - 20;
  simulate_cluster(23, Shape::ring, 4, config);
  run_busy_group(Shape::ring, 4, Service::safe);
}

TEST_F(Order, HoldsOnSlowLinks) {
  simulate(24);
  ClusterOptions options;
  options.shape = Shape::line;
  options.size = 4;
  options.path = {.bytes_per_second = 2'000'000, .delay = 20ms, .jitter = 5ms};
  build_cluster(sim(), options);
  await([this] { return have_one_view(sim().hosts()); }, 30s, "one view of all daemons");
  run_busy_group(Shape::line, 4, Service::agreed);
}

TEST_F(Order, SpansGroupsWithCommonMembers) {
  simulate_cluster(25, Shape::grid, 6);
  std::vector<SimClient*> members;
  const std::vector<std::vector<std::string>> joined = {{"x", "y"}, {"y", "z"}, {"x", "z"}, {"x", "y", "z"}};
  for (std::size_t i = 0; i < 12; ++i) {
    members.push_back(&sim().add_client(sim().host(i % 6), fmt::format("c{}", i)));
    for (const std::string& group : joined[i % joined.size()]) members.back()->join(group);
  }
  sim().run_for(1s);
  const std::vector<std::vector<std::string>> targets = {{"x"}, {"y"}, {"z"}, {"x", "y"}, {"z", "x"}, {"x", "y", "z"}};
  for (std::size_t i = 0; i < 400; ++i) {
    members[sim().random().below(12)]->multicast(targets[sim().random().below(targets.size())], {.size = 50});
    if (i % 10 == 0) sim().run_for(1ms);
  }
  await_rest();
  check();
  // Those who are in all three groups get everything, in one sequence.
  EXPECT_EQ(members[3]->messages(), 400u);
  EXPECT_EQ(digests_of(*members[3]), digests_of(*members[7]));
  EXPECT_EQ(digests_of(*members[3]), digests_of(*members[11]));
}

}  // namespace
}  // namespace spindled::sim
