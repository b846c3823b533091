// The shared parts of scenario tests (in a test's file, for they use GoogleTest), and tests of the simulation as a
// whole.
#include "tests/sim/scenario.h"

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace spindled::sim {

Simulator& Scenario::simulate(std::uint64_t seed) {
  SimOptions options{.seed = seed};
  // NOLINTBEGIN(concurrency-mt-unsafe): tests have one thread
  if (const char* text = std::getenv("SPINDLE_SIM_SEED"); text != nullptr)
    options.seed = std::strtoull(text, nullptr, 0);
  if (const char* text = std::getenv("SPINDLE_SIM_LOG"); text != nullptr) {
    options.log_echo = true;
    if (std::string_view(text) == "debug") options.log_level = LogLevel::debug;
  }
  // NOLINTEND(concurrency-mt-unsafe)
  if (simulator_ != nullptr) check_spins();
  simulator_ = std::make_unique<Simulator>(options);
  return *simulator_;
}

Simulator& Scenario::simulate_cluster(std::uint64_t seed, Shape shape, std::size_t size, const NodeConfig& node) {
  simulate(seed);
  ClusterOptions options;
  options.shape = shape;
  options.size = size;
  options.node = node;
  build_cluster(*simulator_, options);
  await([this] { return have_one_view(simulator_->hosts()); }, 30s, "one view of all daemons");
  return *simulator_;
}

std::vector<SimClient*> Scenario::add_members(std::size_t count, const std::string& group) {
  std::vector<SimClient*> clients;
  for (std::size_t i = 0; i < count; ++i) {
    clients.push_back(&sim().add_client(sim().host(i % sim().host_count()), fmt::format("c{}", sim().client_count())));
    clients.back()->join(group);
  }
  return clients;
}

void Scenario::await_group_view(const std::vector<SimClient*>& clients, const std::string& group, Duration bound) {
  await([&] { return have_one_group_view(clients, group); }, bound, "one view of the group at all its members");
}

void Scenario::await(const Simulator::Predicate& predicate, Duration bound, std::string_view what) {
  if (HasFatalFailure()) return;
  const auto give_up = [&] { FAIL() << "not within " << to_seconds(bound) << " s: " << what; };
  if (!simulator_->run_until(predicate, bound)) give_up();
}

void Scenario::await_rest(Duration bound) {
  const auto count = [this] {
    std::size_t events = 0;
    for (std::size_t i = 0; i < sim().client_count(); ++i) events += sim().client(i).history().events.size();
    return events;
  };
  const auto any_is_untaken = [this] {
    for (std::size_t i = 0; i < sim().client_count(); ++i) {
      if (!sim().client(i).is_closed() && sim().client(i).untaken_messages() > 0) return true;
    }
    return false;
  };
  std::size_t last = count();
  Time since = sim().now();
  await(
      [&] {
        if (const std::size_t now = count(); now != last || any_is_untaken()) {
          last = now;
          since = sim().now();
        }
        return sim().now() - since >= 1s;
      },
      bound, "clients at rest");
}

void Scenario::check(bool at_rest) {
  const Violations violations = check_all(sim().history(), at_rest);
  EXPECT_TRUE(violations.empty()) << to_text(violations);
}

void Scenario::check_spins() {
  for (const SimHost* host : sim().hosts()) {
    EXPECT_LE(host->longest_spin(), SimHost::kSpinMax) << host->name() << " was awake, and did nothing";
  }
}

void Scenario::TearDown() {
  if (simulator_ == nullptr) return;
  check_spins();
  if (!HasFailure()) return;
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  std::cerr << "To replay: SPINDLE_SIM_SEED=" << simulator_->seed()
            << " sim_tests --gtest_filter=" << test.test_suite_name() << "." << test.name() << "\n"
            << simulator_->explain();
}

std::vector<std::uint64_t> digests_of(const SimClient& client, Service at_least) {
  std::vector<std::uint64_t> digests;
  for (const Delivered* delivered : events_of<Delivered>(client.history())) {
    if (delivered->message.service >= at_least) digests.push_back(delivered->message.digest);
  }
  return digests;
}

namespace {

/// A run with daemons, clients, traffic, a crash and a partition; its fingerprint.
std::uint64_t eventful_run(std::uint64_t seed) {
  Simulator simulator({.seed = seed});
  ClusterOptions options;
  options.shape = Shape::random;
  options.size = 6;
  build_cluster(simulator, options);
  simulator.run_for(2s);
  for (std::size_t i = 0; i < 6; ++i) simulator.add_client(simulator.host(i), fmt::format("c{}", i)).join("g");
  simulator.run_for(500ms);
  for (std::size_t round = 0; round < 20; ++round) {
    const std::size_t who = simulator.random().below(6);
    simulator.client(who).multicast({"g"}, {.size = simulator.random().below(3000)});
    simulator.run_for(5ms);
  }
  simulator.network().partition({{0, 1, 2}});
  simulator.run_for(3s);
  simulator.host(5).crash();
  simulator.network().heal();
  simulator.run_for(3s);
  simulator.host(5).start();
  simulator.run_for(3s);
  return simulator.digest();
}

TEST(Determinism, SameSeedSameTrace) {
  for (const std::uint64_t seed : {1u, 2u}) EXPECT_EQ(eventful_run(seed), eventful_run(seed)) << "seed " << seed;
}

TEST(Determinism, AnotherSeedAnotherTrace) { EXPECT_NE(eventful_run(1), eventful_run(2)); }

TEST(ClusterShapes, AreConnectedAndAsAsked) {
  Random random(7);
  for (const Shape shape : kShapes) {
    for (const std::size_t size : {1u, 2u, 3u, 10u, 50u}) {
      const auto edges = edges_of(shape, size, random);
      std::vector<std::size_t> component(size);
      for (std::size_t i = 0; i < size; ++i) component[i] = i;
      for (const auto& [a, b] : edges) {
        ASSERT_LT(a, b);
        ASSERT_LT(b, size);
        const std::size_t from = component[b], to = component[a];
        for (std::size_t& each : component) each = each == from ? to : each;
      }
      for (const std::size_t each : component) EXPECT_EQ(each, component[0]) << to_string(shape) << " " << size;
      EXPECT_GE(edges.size(), size - 1);
    }
  }
  EXPECT_EQ(edges_of(Shape::ring, 5, random).size(), 5u);
  EXPECT_EQ(edges_of(Shape::grid, 9, random).size(), 12u);
}

}  // namespace

}  // namespace spindled::sim
