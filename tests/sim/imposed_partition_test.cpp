// Partitions that `spmonitor` imposes, for which the network stays whole.
#include <optional>

#include "tests/sim/ask_admin.h"
#include "tests/sim/scenario.h"
#include "tests/sim/stranger.h"

namespace spindled::sim {
namespace {

namespace proto = spindle::admin;

using Sides = std::vector<std::vector<std::string>>;

class ImposedPartitionScenario : public Scenario {
 protected:
  proto::Reply ask(std::size_t host, const proto::Request& request) { return ask_admin(sim(), host, request); }
  static proto::Request partition_request(const Sides& sides, Duration duration) {
    proto::Request request;
    for (const std::vector<std::string>& side : sides) {
      proto::Side& added = *request.mutable_partition()->add_sides();
      for (const std::string& daemon : side) added.add_daemons(daemon);
    }
    request.mutable_partition()->set_milliseconds(static_cast<std::uint64_t>(duration / 1ms));
    return request;
  }
  proto::Partition impose(std::size_t host, const Sides& sides, Duration duration) {
    return ask(host, partition_request(sides, duration)).partition().partition();
  }
  void heal(std::size_t host) {
    proto::Request request;
    request.mutable_heal();
    EXPECT_TRUE(ask(host, request).has_heal());
  }
  proto::StatusReply status(std::size_t host) {
    proto::Request request;
    request.mutable_status();
    return ask(host, request).status();
  }
  std::vector<SimHost*> hosts(std::initializer_list<std::size_t> indices) {
    std::vector<SimHost*> some;
    for (const std::size_t index : indices) some.push_back(&sim().host(index));
    return some;
  }
  void send_some(const std::vector<SimClient*>& clients, std::size_t messages) {
    for (std::size_t i = 0; i < messages; ++i) {
      SimClient& sender = *clients[sim().random().below(clients.size())];
      const Service service = sim().random().chance(0.3) ? Service::safe : Service::agreed;
      if (!sender.is_closed()) sender.multicast({"g"}, {.service = service, .size = sim().random().below(500)});
      if (sim().random().chance(0.3)) sim().run_for(500us);
    }
  }
  static std::size_t signals(const SimClient& client) { return events_of<Transitional>(client.history()).size(); }
};

TEST_F(ImposedPartitionScenario, SplitsLikeARealOneAndEndsByItself) {
  for (const std::uint64_t seed : {301u, 302u, 303u, 304u}) {
    SCOPED_TRACE(seed);
    simulate_cluster(seed, Shape::ring, 5);
    const std::vector<SimClient*> clients = add_members(5, "g");
    await_group_view(clients, "g");
    if (HasFatalFailure()) return;
    send_some(clients, 40);

    // At one daemon, in the midst of traffic. The sides are not connected within: d000 and d003 have d004 in between.
    const proto::Partition imposed = impose(1, {{"d001", "d002"}}, 10s);
    const Time begin = sim().now();
    EXPECT_EQ(imposed.id(), "1@d001");
    EXPECT_EQ(imposed.others_size(), 3);
    send_some(clients, 40);
    await([&] { return have_one_view(hosts({1, 2})) && have_one_view(hosts({0, 3, 4})); }, 3s, "a view on each side");
    await_group_view({clients[1], clients[2]}, "g");
    await_group_view({clients[0], clients[3], clients[4]}, "g");
    if (HasFatalFailure()) return;
    for (const SimClient* client : clients) {
      EXPECT_EQ(client->view("g")->cause, spindle::ViewCause::network);
      EXPECT_EQ(client->view("g")->vs_set.size(), client->view("g")->members.size());
      EXPECT_GE(signals(*client), 1u);
    }
    const proto::StatusReply there = status(4);
    EXPECT_EQ(there.partition().id(), "1@d001");
    EXPECT_GT(there.partition().seconds_left(), 5);
    EXPECT_LE(there.partition().seconds_left(), 10);
    send_some(clients, 40);
    await_rest();

    sim().run_for(begin + 9s - sim().now());
    EXPECT_TRUE(have_one_view(hosts({1, 2}))) << "for as long as it lasts";
    await([&] { return have_one_view(sim().hosts()); }, 5s, "one view when its time has passed");
    EXPECT_FALSE(status(4).has_partition());
    await_group_view(clients, "g");
    if (HasFatalFailure()) return;
    send_some(clients, 40);
    await_rest();
    check();
    if (HasFailure()) return;
  }
}

TEST_F(ImposedPartitionScenario, IsHealedFromTheOtherSide) {
  for (const std::uint64_t seed : {311u, 312u, 313u, 314u}) {
    SCOPED_TRACE(seed);
    simulate_cluster(seed, Shape::line, 5);
    const std::vector<SimClient*> clients = add_members(5, "g");
    await_group_view(clients, "g");
    if (HasFatalFailure()) return;
    impose(0, {{"d000"}, {"d001", "d002"}}, 10min);
    send_some(clients, 30);
    await(
        [&] {
          return have_one_view(hosts({0})) && have_one_view(hosts({1, 2})) && have_one_view(hosts({3, 4}));
        },
        3s, "a view on each side");
    if (HasFatalFailure()) return;
    sim().run_for(20s);
    EXPECT_TRUE(have_one_view(hosts({0})));
    heal(4);
    await([&] { return have_one_view(sim().hosts()); }, 3s, "one view after the heal");
    for (std::size_t i = 0; i < 5; ++i) EXPECT_FALSE(status(i).has_partition()) << i;
    await_group_view(clients, "g");
    if (HasFatalFailure()) return;
    send_some(clients, 30);
    await_rest();
    check();
    if (HasFailure()) return;
  }
}

TEST_F(ImposedPartitionScenario, ADaemonThatRestartsMeanwhileKeepsToItsSide) {
  for (const std::uint64_t seed : {321u, 322u, 323u}) {
    SCOPED_TRACE(seed);
    simulate_cluster(seed, Shape::ring, 5);
    const std::vector<SimClient*> clients = add_members(5, "g");
    await_group_view(clients, "g");
    if (HasFatalFailure()) return;
    impose(0, {{"d000", "d001"}}, 30s);
    await([&] { return have_one_view(hosts({0, 1})) && have_one_view(hosts({2, 3, 4})); }, 3s, "a view on each side");
    sim().host(2).crash();
    sim().run_for(1s);
    sim().host(2).start();
    await([&] { return have_one_view(hosts({2, 3, 4})); }, 10s, "the restarted daemon on its side");
    EXPECT_TRUE(status(2).has_partition());
    send_some({clients[0], clients[1], clients[3], clients[4]}, 30);
    sim().run_for(3s);
    EXPECT_TRUE(have_one_view(hosts({0, 1})));
    EXPECT_TRUE(have_one_view(hosts({2, 3, 4})));
    // It gives the next order, which is newer than what it missed.
    heal(2);
    await([&] { return have_one_view(sim().hosts()); }, 3s, "one view after the heal");
    await_rest();
    check();
    if (HasFailure()) return;
  }
}

TEST_F(ImposedPartitionScenario, OfTwoContradictingOrdersAtOnceOneHoldsEverywhere) {
  for (const std::uint64_t seed : {331u, 332u, 333u, 334u}) {
    SCOPED_TRACE(seed);
    simulate_cluster(seed, Shape::random, 5);
    const std::vector<SimClient*> clients = add_members(5, "g");
    await_group_view(clients, "g");
    if (HasFatalFailure()) return;
    Stranger one(sim().world(), sim().host(0), Port::admin);
    Stranger other(sim().world(), sim().host(4), Port::admin);
    one.send(admin_frame_of(partition_request({{"d000", "d001"}, {"d002"}}, 20s)));
    other.send(admin_frame_of(partition_request({{"d000", "d002", "d004"}}, 20s)));
    send_some(clients, 30);
    sim().run_for(2s);
    // Neither knew of the other when it was given.
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(status(i).partition().id(), "1@d004") << i;
    heal(3);
    await([&] { return have_one_view(sim().hosts()); }, 5s, "one view after the heal");
    await_group_view(clients, "g");
    if (HasFatalFailure()) return;
    send_some(clients, 30);
    await_rest();
    check();
    if (HasFailure()) return;
  }
}

TEST_F(ImposedPartitionScenario, AClusterThatRestartsHasNone) {
  simulate_cluster(341, Shape::line, 3);
  impose(0, {{"d000"}}, 1h);
  await([&] { return have_one_view(hosts({0})) && have_one_view(hosts({1, 2})); }, 3s, "a view on each side");
  for (SimHost* host : sim().hosts()) host->crash();
  sim().run_for(1s);
  for (SimHost* host : sim().hosts()) host->start();
  await([&] { return have_one_view(sim().hosts()); }, 10s, "one view of all");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(status(i).has_partition());
}

}  // namespace
}  // namespace spindled::sim
