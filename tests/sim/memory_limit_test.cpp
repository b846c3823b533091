// A daemon near the limit of its memory: what is given up, and what is not.
#include <fmt/format.h>

#include "daemon/base/memory_budget.h"
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

constexpr std::size_t kMiB = 1u << 20;

class MemoryLimit : public Scenario {
 protected:
  void simulate_line(std::uint64_t seed, NodeConfig node) { simulate_cluster(seed, Shape::line, 2, node); }
  SimClient& add(HostIndex host, ClientOptions options = {}) {
    SimClient& client = sim().add_client(sim().host(host), {}, options);
    await([&] { return client.is_welcome() || client.is_closed(); }, 1s, "the client is welcome");
    return client;
  }
  SimClient& add_member(HostIndex host, const std::string& group, ClientOptions options = {}) {
    SimClient& client = add(host, options);
    client.join(group);
    await([&] { return client.view(group) != nullptr; }, 10s, "the client is a member");
    return client;
  }
  NodeMemory memory(HostIndex host) { return sim().host(host).node().memory(); }
  /// Runs, and says what most of the limit was used meanwhile.
  std::size_t run(
      HostIndex host, Duration span, const Simulator::Predicate& until = [] { return false; }) {
    std::size_t most = 0;
    (void)sim().run_until([&] { return most = std::max(most, memory(host).used), until(); }, span);
    return most;
  }
  std::uint64_t views(HostIndex host) { return sim().host(host).node().counters().value(Counter::views_installed); }
};

TEST_F(MemoryLimit, LargeMessagesOfManyGoOnOneAfterTheOther) {
  NodeConfig node;
  node.memory_bytes_max = 64 * kMiB;
  node.link.liveness_timeout = 10s;
  simulate_line(711, node);
  SimClient& member = add_member(0, "g");
  std::vector<SimClient*> senders;
  for (int i = 0; i < 12; ++i) senders.push_back(&add(1));
  for (SimClient* sender : senders) {
    for (int i = 0; i < 2; ++i) sender->multicast({"g"}, {.service = Service::fifo, .size = 10 * kMiB});
  }
  const std::size_t most = run(1, 120s, [&] { return member.messages() == 24; });
  EXPECT_EQ(member.messages(), 24u);
  EXPECT_LE(most, node.memory_bytes_max / 100 * MemoryBudget::kFull);
  EXPECT_GT(most, node.memory_bytes_max / 2) << "there is no need";
  for (const SimClient* sender : senders) EXPECT_FALSE(sender->is_closed());
  EXPECT_FALSE(member.is_closed());
}

TEST_F(MemoryLimit, ThoseWhoReadNothingCostMoreAndThenGoAndNobodyElseDoes) {
  for (const SlowPolicy policy : {SlowPolicy::price, SlowPolicy::drop, SlowPolicy::disconnect}) {
    NodeConfig node;
    node.memory_bytes_max = 24 * kMiB;
    simulate_line(712, node);
    SimClient& reader = add_member(1, "read");
    std::vector<SimClient*> stalled;
    for (int i = 0; i < 120; ++i) {
      stalled.push_back(&add_member(1, fmt::format("stalled {}", i), {.policy = policy}));
      stalled.back()->set_read_rate(0);
    }
    SimClient& steady = add(0);
    std::vector<SimClient*> flooding;
    for (int i = 0; i < 120; ++i) flooding.push_back(&add(0));
    const std::uint64_t before = views(1);
    std::size_t sent = 0;
    std::size_t most = 0;
    for (; sent < 500; ++sent) {
      steady.multicast({"read"});
      for (std::size_t i = 0; i < flooding.size(); ++i) {
        if (flooding[i]->unsent_bytes() > 100'000) continue;
        for (int k = 0; k < 2; ++k) {
          flooding[i]->multicast({fmt::format("stalled {}", i)}, {.service = Service::fifo, .size = 3000});
        }
      }
      most = std::max(most, run(1, 20ms));
    }
    EXPECT_LE(most, node.memory_bytes_max / 100 * 110) << "policy " << static_cast<int>(policy);
    EXPECT_GT(most, node.memory_bytes_max / 2);
    EXPECT_GE(reader.messages(), sent - 5);
    EXPECT_FALSE(reader.is_closed());
    EXPECT_FALSE(steady.is_closed());
    for (const SimClient* client : flooding) EXPECT_FALSE(client->is_closed());
    EXPECT_EQ(views(1), before) << "links stay";
  }
}

// Safe messages wait for a daemon that has not been heard of, and then come all at once.
TEST_F(MemoryLimit, WhatOneTurnBringsToMembersWhoReadIsNotHeldAgainstThem) {
  for (const bool returns : {false, true}) {
    NodeConfig node;
    node.memory_bytes_max = 2 * kMiB;
    node.admission.enabled = false;
    simulate_cluster(716, Shape::line, 3, node);
    std::vector<SimClient*> members;
    for (int i = 0; i < 60; ++i) members.push_back(&add_member(0, "g", {.returns = returns}));
    add_member(2, "g");
    SimClient& sender = add(0);
    sim().network().set_stalled(2, 1, true);
    for (int i = 0; i < 500; ++i) sender.multicast({"g"}, {.service = Service::safe, .size = 1'000});
    sim().run_for(300ms);
    EXPECT_EQ(members[0]->messages(), 0u);
    sim().network().set_stalled(2, 1, false);
    sim().run_for(5s);
    for (const SimClient* member : members) {
      EXPECT_FALSE(member->is_closed()) << returns;
      EXPECT_EQ(member->messages(), 500u) << returns;
    }
    EXPECT_FALSE(sender.is_closed()) << returns;
  }
}

// No other daemon gets these messages, so they are stable at once; but they wait for one that is far.
TEST_F(MemoryLimit, WhatADaemonsClientsSendEachOtherWaitsForItsPlaceWithinTheWindow) {
  NodeConfig node;
  node.session.send_window_bytes = kMiB / 8;
  simulate_cluster(714, Shape::line, 3, node);
  sim().network().set_path(1, 2, {.delay = 100ms});
  SimClient& sender = add_member(0, "g");
  SimClient& member = add_member(0, "g");
  for (std::uint32_t i = 0; i < 2000; ++i) {
    sender.multicast({"g"}, {.service = i % 2 == 0 ? Service::safe : Service::fifo, .size = 1000});
  }
  std::size_t most = 0;
  await([&] { return most = std::max(most, memory(0).unordered), member.messages() == 2000; }, 60s, "all");
  EXPECT_LE(most, node.session.send_window_bytes + kMiB / 16);
  EXPECT_EQ(sender.messages(), 2000u);
  await_rest();
  check();
}

// What one client sends to many is much to do, and waits with its sender, not in the order, where what others send
// would wait behind it.
TEST_F(MemoryLimit, LittleWaitsForItsPlaceWhereTurnsAreFull) {
  NodeConfig node;
  node.session.send_window_bytes = kMiB;
  node.turn_work_max = 100;
  simulate_cluster(715, Shape::line, 3, node);
  std::vector<SimClient*> members;
  for (int i = 0; i < 60; ++i) members.push_back(&add_member(0, "g"));
  SimClient& sender = add(0);
  for (int i = 0; i < 2'000; ++i) sender.multicast({"g"}, {.service = Service::agreed, .size = 1'000});
  std::size_t most = 0;
  await([&] { return most = std::max(most, memory(0).own_unordered), members[0]->messages() == 2'000; }, 60s, "all");
  EXPECT_LE(most, node.session.send_window_bytes / 4);
  for (const SimClient* member : members) EXPECT_EQ(member->messages(), 2'000u);
  await_rest();
  check();
}

TEST_F(MemoryLimit, NewcomersAndNewGroupsWaitForRoom) {
  NodeConfig node;
  node.memory_bytes_max = 4 * kMiB;
  simulate_line(713, node);
  SimClient& old = add_member(1, "old");
  SimClient& filling = add(1);
  const std::size_t full = node.memory_bytes_max / 100 * MemoryBudget::kFull;
  for (std::size_t i = 0; memory(1).used <= full; ++i) {
    ASSERT_LT(i, 100u);
    for (int k = 0; k < 500; ++k) filling.join(fmt::format("group {} {}", i, k));
    (void)run(1, 500ms);
  }
  EXPECT_GT(memory(1).groups, 1000u);
  SimClient& newcomer = add(1);
  EXPECT_EQ(newcomer.close_code(), Errc::limit_exceeded);
  old.join("new");
  (void)run(1, 1s);
  EXPECT_EQ(old.view("new"), nullptr);
  EXPECT_FALSE(old.is_closed());
  EXPECT_FALSE(filling.is_closed());
  filling.kill();
  (void)run(1, 5s);
  EXPECT_TRUE(add(1).is_welcome());
  old.join("new");
  await([&] { return old.view("new") != nullptr; }, 1s, "there is room");
}

TEST_F(MemoryLimit, DefinitionsTakeAQuarterAtMost) {
  NodeConfig node;
  node.memory_bytes_max = 24 * kMiB;
  simulate_line(715, node);
  SimClient& old = add_member(1, "old");
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back(std::string(200, 'n') + std::to_string(i));
  std::vector<std::uint8_t> bytes;
  spindle::protocol::write_define(bytes, {9, std::vector<std::string_view>(names.begin(), names.end())});
  std::vector<SimClient*> defining;
  for (int i = 0; i < 30; ++i) {
    defining.push_back(&add(1));
    defining.back()->send_raw(bytes);
    (void)run(1, 20ms);
    EXPECT_LE(memory(1).sessions_definitions, node.memory_bytes_max / 4);
  }
  EXPECT_GT(memory(1).sessions_definitions, node.memory_bytes_max / 5);
  std::size_t cut_off = 0;
  for (const SimClient* client : defining) {
    if (!client->is_closed()) continue;
    ++cut_off;
    EXPECT_EQ(client->close_code(), Errc::limit_exceeded);
  }
  EXPECT_GT(cut_off, 0u);
  EXPECT_FALSE(old.is_closed());
}

TEST_F(MemoryLimit, TheSmallestInTheViewBoundsWhatIsOnItsWay) {
  simulate(714);
  NodeConfig node;
  node.admission.enabled = false;  // prices would keep less on its way
  node.name = "alpha";
  sim().add_host(node).start();
  node.name = "beta";
  node.memory_bytes_max = 4 * kMiB;
  node.link.neighbours.push_back({Simulator::address_of("alpha"), 0});
  sim().add_host(node).start();
  await([&] { return sim().host(0).node().view().size() == 2 && sim().host(0).node().is_settled(); }, 10s, "a view");
  SimClient& member = add_member(1, "g");
  sim().network().set_stalled(0, 1, true);
  SimClient& sender = add(0);
  sender.keep_sending({"g"}, {.service = Service::fifo, .size = 10'000}, 4 * kMiB);
  (void)run(0, 300ms);
  const std::size_t most = memory(0).own_stream;
  sim().network().set_stalled(0, 1, false);
  EXPECT_GT(most, kMiB / 2);
  EXPECT_LE(most, MemoryBudget::window(4 * kMiB, 2) + 20'000);
  EXPECT_FALSE(member.is_closed());
}

}  // namespace
}  // namespace spindled::sim
