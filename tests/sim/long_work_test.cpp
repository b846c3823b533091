// What takes long is done in the shares of turns: the links live on, and nobody changes views for it.
#include <algorithm>

#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class LongWork : public Scenario {
 protected:
  static NodeConfig config(std::size_t turn_work_max) {
    NodeConfig config;
    config.turn_work_max = turn_work_max;
    // Joins are not what is measured.
    config.session.membership_rate_bytes = 16u << 30;
    config.session.membership_burst_bytes = 1u << 30;
    return config;
  }
  SimClient& add_member_of_many(std::size_t groups) {
    SimClient& client = sim().add_client(sim().host(0));
    for (std::size_t i = 0; i < groups; ++i) client.join(fmt::format("g{}", i));
    const std::string last = fmt::format("g{}", groups - 1);
    await([&] { return client.view(last) != nullptr; }, 120s, "the client is in all groups");
    return client;
  }
  std::uint64_t count(std::size_t host, Counter counter) { return sim().host(host).node().counters().value(counter); }
  std::uint64_t views_of(std::size_t host) { return count(host, Counter::views_installed); }
  /// No turn was longer than it may be, by `step` units that cannot be divided, and some was as long as it may be.
  void expect_turns_within(std::size_t max, std::size_t step) {
    std::size_t longest = 0;
    for (SimHost* host : sim().running_hosts()) {
      EXPECT_LE(host->node().work().largest_step, step) << host->name();
      EXPECT_LT(host->node().work().largest_turn, max + step) << host->name();
      longest = std::max(longest, host->node().work().largest_turn);
    }
    EXPECT_GE(longest, max) << "there was nothing to divide";
  }
  bool all_have_groups(std::size_t count) {
    const std::string line = fmt::format(", {} in the table", count);
    const std::vector<SimHost*> hosts = sim().hosts();
    return std::all_of(hosts.begin(), hosts.end(),
                       [&](const SimHost* host) { return host->node().dump().find(line) != std::string::npos; });
  }
};

constexpr std::size_t kMax = 1000;

/// An announcement's part is the largest step where groups are small.
constexpr std::size_t kLargestPart = 1010;

TEST_F(LongWork, AClientInManyGroupsGoesAwayLarge) {
  constexpr std::size_t kGroups = 100'000;
  NodeConfig node = config(10'000);
  simulate_cluster(701, Shape::line, 3, node);
  if (HasFatalFailure()) return;
  SimClient& other = sim().add_client(sim().host(2));
  other.join("other");
  SimClient& many = add_member_of_many(kGroups);
  if (HasFatalFailure()) return;
  const std::uint64_t before = views_of(0) + views_of(1) + views_of(2);
  many.kill();
  await([&] { return all_have_groups(1); }, 60s, "the end of its memberships");
  EXPECT_EQ(views_of(0) + views_of(1) + views_of(2), before);
  expect_turns_within(10'000, kLargestPart);
  other.multicast({"other"});
  await([&] { return other.messages() == 1; }, 5s, "a message of somebody else");
}

TEST_F(LongWork, WhoSharesAllGroupsIsToldOfEach) {
  constexpr std::size_t kGroups = 3'000;
  simulate_cluster(702, Shape::line, 2, config(kMax));
  if (HasFatalFailure()) return;
  SimClient& many = add_member_of_many(kGroups);
  SimClient& sharing = sim().add_client(sim().host(1));
  for (std::size_t i = 0; i < kGroups; ++i) sharing.join(fmt::format("g{}", i));
  await([&] { return sharing.view(fmt::format("g{}", kGroups - 1)) != nullptr; }, 60s, "it has joined too");
  if (HasFatalFailure()) return;
  many.kill();
  // What it sends meanwhile to the last group comes before or behind the end of the membership, as everywhere.
  sharing.multicast({fmt::format("g{}", kGroups - 1)});
  await(
      [&] {
        for (std::size_t i = 0; i < kGroups; ++i) {
          if (sharing.view(fmt::format("g{}", i))->members.size() != 1) return false;
        }
        return true;
      },
      60s, "all groups without the other");
  await_rest();
  EXPECT_EQ(sharing.messages(), 1u);
  check();
  expect_turns_within(kMax, kLargestPart);
}

TEST_F(LongWork, AViewChangeWithManyGroupsLeavesTheLinksAlone) {
  constexpr std::size_t kGroups = 20'000;
  simulate_cluster(703, Shape::ring, 3, config(kMax));
  if (HasFatalFailure()) return;
  SimClient& many = add_member_of_many(kGroups);
  SimClient& there = sim().add_client(sim().host(2));
  there.join("g17");
  await([&] { return there.view("g17") != nullptr && there.view("g17")->members.size() == 2; }, 10s, "two members");
  if (HasFatalFailure()) return;
  const auto lost = [&] { return count(0, Counter::links_down) + count(2, Counter::links_down); };
  const std::uint64_t before = lost();
  sim().host(1).crash();
  await([&] { return sim().host(0).node().is_settled() && sim().host(0).node().view().size() == 2; }, 30s,
        "a view of two");
  sim().host(1).start();
  await([&] { return have_one_view(sim().hosts()); }, 60s, "a view of all");
  await([&] { return all_have_groups(kGroups); }, 60s, "all groups everywhere");
  EXPECT_EQ(lost(), before + 2) << "to the one that crashed, of each";
  many.multicast({"g17"});
  await([&] { return there.messages() == 1; }, 5s, "a message");
  await_rest();
  check();
  expect_turns_within(kMax, kLargestPart);
}

TEST_F(LongWork, WhereNothingDiffersNoGroupTravels) {
  constexpr std::size_t kGroups = 5'000;
  simulate_cluster(704, Shape::line, 4, config(kMax));
  if (HasFatalFailure()) return;
  SimClient& many = add_member_of_many(kGroups);
  SimClient& there = sim().add_client(sim().host(2));
  SimClient& lost = sim().add_client(sim().host(3));
  for (SimClient* each : {&there, &lost}) each->join("g17");
  await([&] { return there.view("g17") != nullptr && there.view("g17")->members.size() == 3; }, 10s, "three members");
  if (HasFatalFailure()) return;
  const auto sent = [&] { return count(0, Counter::link_bytes_out); };
  const std::uint64_t before = sent();
  const std::size_t told = many.views_of(spindle::ViewForm::full);
  sim().host(3).crash();
  await([&] { return there.view("g17")->members.size() == 2; }, 30s, "a view of two members");
  await_rest();
  EXPECT_LT(sent() - before, kGroups) << "not a byte for each group";
  EXPECT_EQ(many.views_of(spindle::ViewForm::full), told + 1);
  many.multicast({"g17"});
  many.multicast({"g18"});
  there.join("g18");
  await([&] { return there.messages() == 1 && there.view("g18") != nullptr; }, 5s, "a message, and a view");
  // Who comes with nothing gets all; the others have it.
  sim().host(3).start();
  await([&] { return have_one_view(sim().hosts()) && all_have_groups(kGroups); }, 60s, "all groups everywhere");
  EXPECT_EQ(many.views_of(spindle::ViewForm::full), told + 2) << "of g18, which was joined";
  SimClient& late = sim().add_client(sim().host(3));
  late.join("g17");
  late.multicast({"g18"});
  await([&] { return there.messages() == 2 && late.view("g17") != nullptr; }, 5s, "a message, and a view");
  await_rest();
  check();
}

TEST_F(LongWork, ManyReceiversGetTheirMessagesInTheSharesOfTurns) {
  constexpr std::size_t kReceivers = 60, kMessages = 400;
  simulate_cluster(705, Shape::line, 3, config(100));
  if (HasFatalFailure()) return;
  std::vector<SimClient*> members;
  for (std::size_t i = 0; i < kReceivers; ++i) {
    members.push_back(&sim().add_client(sim().host(1)));
    members.back()->join("g");
  }
  await_group_view(members, "g");
  SimClient& sender = sim().add_client(sim().host(0));
  SimClient& other = sim().add_client(sim().host(2));
  other.join("other");
  await([&] { return other.view("other") != nullptr; }, 5s, "another group");
  const auto lost = [&] { return count(1, Counter::links_down); };
  const std::uint64_t before = lost();
  constexpr Service kServices[] = {Service::fifo, Service::agreed, Service::reliable, Service::safe, Service::causal};
  for (std::size_t i = 0; i < kMessages; ++i) sender.multicast({"g"}, {.service = kServices[i % 5], .size = 1000});
  sim().run_for(5ms);
  other.multicast({"other"});
  await([&] { return other.messages() == 1; }, 2s, "a message between others");
  const auto has_all = [](const SimClient* member) { return member->messages() == kMessages; };
  await([&] { return std::all_of(members.begin(), members.end(), has_all); }, 60s, "all messages everywhere");
  await_rest();
  EXPECT_EQ(lost(), before);
  check();
  expect_turns_within(100, 4 * kReceivers + 4);
}

TEST_F(LongWork, WhatManySendAtOnceIsTakenInTheSharesOfTurns) {
  constexpr std::size_t kClients = 40, kMessages = 20;
  // A turn has room for no message, or for one of those who have waited.
  simulate_cluster(707, Shape::line, 2, config(4));
  if (HasFatalFailure()) return;
  std::vector<SimClient*> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    SimClient& client = *clients.emplace_back(&sim().add_client(sim().host(0)));
    client.join("g");
    for (std::size_t sent = 0; sent < kMessages; ++sent) {
      std::vector<std::string> to;
      for (std::size_t name = 0; name <= sent; ++name) to.push_back(fmt::format("g{}", name));
      to.emplace_back("g");
      client.multicast(to, {.service = sent % 2 == 0 ? Service::fifo : Service::agreed, .size = 100});
    }
  }
  const auto has_sent_all = [](const SimClient* client) { return client->is_welcome() && client->messages() != 0; };
  await([&] { return std::all_of(clients.begin(), clients.end(), has_sent_all); }, 60s, "all clients are let in");
  await([&] { return count(0, Counter::messages_sent) == kClients * kMessages; }, 60s, "all messages have entered");
  await_rest();
  check();
  const std::size_t largest = sim().host(0).node().work().largest_input;
  EXPECT_GT(largest, 0u);
  EXPECT_LE(largest, 4 / 2 + 2 * 60) << "a frame that has come, and one that waited";
}

TEST_F(LongWork, ViewsOfALargeGroupAreAnsweredInTheSharesOfTurns) {
  constexpr std::size_t kMembers = 80, kRequests = 200;
  simulate_cluster(706, Shape::line, 2, config(100));
  if (HasFatalFailure()) return;
  const std::vector<SimClient*> members = add_members(kMembers, "g");
  await_group_view(members, "g");
  if (HasFatalFailure()) return;
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t request = 0; request < kRequests / 10; ++request) members[2 * i]->request_view("g");
  }
  const auto answers = [&] {
    std::size_t count = 0;
    for (const SimClient* member : members) count += member->views_of(spindle::ViewForm::answer);
    return count;
  };
  await([&] { return answers() == kRequests; }, 10s, "all answers");
  await_rest();
  check();
  // Each of those who joined was told with all names, too.
  expect_turns_within(100, 4 * kMembers + 4);
}

TEST_F(LongWork, ViewsOfManySynchronousGroupsComeInTheSharesOfTurns) {
  constexpr std::size_t kGroups = 20'000;
  NodeConfig node = config(kMax);
  node.session.flush_timeout = 60s;
  simulate_cluster(707, Shape::ring, 3, node);
  if (HasFatalFailure()) return;
  SimClient& many = sim().add_client(sim().host(0));
  SimClient& gone = sim().add_client(sim().host(1));
  for (SimClient* each : {&many, &gone}) {
    for (std::size_t i = 0; i < kGroups; ++i) each->join(fmt::format("g{}", i), true);
  }
  const std::string last = fmt::format("g{}", kGroups - 1);
  await([&] { return many.view(last) != nullptr && many.view(last)->members.size() == 2; }, 120s, "two members");
  if (HasFatalFailure()) return;
  sim().host(1).crash();
  await([&] { return many.view(last)->members.size() == 1; }, 60s, "a view of one");
  await_rest();
  check();
  expect_turns_within(kMax, kLargestPart);
}

TEST_F(LongWork, RequestsThatWaitForAViewEnterInTheSharesOfTurns) {
  constexpr std::size_t kGroups = 3'000;
  simulate_cluster(708, Shape::ring, 3, config(kMax));
  if (HasFatalFailure()) return;
  SimClient& many = sim().add_client(sim().host(1));
  many.multicast({"nobody"});
  sim().run_for(100ms);
  sim().host(0).crash();
  sim().run_for(10ms);
  for (std::size_t i = 0; i < kGroups; ++i) many.join(fmt::format("g{}", i));
  const std::string last = fmt::format("g{}", kGroups - 1);
  await([&] { return many.view(last) != nullptr; }, 60s, "the client is in all groups");
  await_rest();
  check();
  expect_turns_within(kMax, kLargestPart);
}

TEST_F(LongWork, ViewsThatFollowEachOtherWhileGroupsAreToldAgree) {
  for (std::uint64_t seed = 710; seed < 720; ++seed) {
    simulate_cluster(seed, Shape::ring, 4, config(20));
    if (HasFatalFailure()) return;
    std::vector<SimClient*> members;
    for (std::size_t i = 0; i < 8; ++i) {
      members.push_back(&sim().add_client(sim().host(i % 4)));
      for (std::size_t group = 0; group < 60; ++group) {
        if (sim().random().chance(0.5)) members.back()->join(fmt::format("g{}", group));
      }
    }
    sim().run_for(1s);
    for (int round = 0; round < 6; ++round) {
      const std::size_t host = sim().random().below(4);
      sim().network().partition({{static_cast<HostIndex>(host)}});
      for (SimClient* each : members) {
        if (each->is_closed() || !each->is_welcome()) continue;
        const std::string group = fmt::format("g{}", sim().random().below(60));
        if (sim().random().chance(0.5))
          each->multicast({group}, {.service = static_cast<Service>(sim().random().between(1, 5))});
        if (sim().random().chance(0.3)) each->request_view(group);
        if (sim().random().chance(0.3)) each->leave(group);
        if (sim().random().chance(0.3)) each->join(group);
      }
      sim().run_for(std::chrono::milliseconds(sim().random().between(100, 1500)));
      sim().network().heal(sim().random().chance(0.5));
      sim().run_for(std::chrono::milliseconds(sim().random().between(50, 600)));
    }
    sim().network().heal();
    await([&] { return have_one_view(sim().hosts()); }, 60s, "one view");
    await_rest();
    check();
    expect_turns_within(20, 4 * 8 + 20 + 4);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace spindled::sim
