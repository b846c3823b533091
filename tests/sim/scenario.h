// What scenario tests share: a seed that the environment can replace, and an explanation of what went wrong.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "daemon/overlay/view.h"
#include "tests/checkers/checkers.h"
#include "tests/sim/cluster.h"
#include "tests/sim/simulator.h"

namespace spindled::sim {

/// Base of scenario tests. SPINDLE_SIM_SEED replaces the seeds of all tests that run; SPINDLE_SIM_LOG=debug writes
/// every log line to standard error as it happens.
class Scenario : public testing::Test {
 protected:
  /// Starts a fresh simulation.
  Simulator& simulate(std::uint64_t seed);
  /// A fresh simulation of a cluster whose daemons have one view; fails the test where they do not get there.
  Simulator& simulate_cluster(std::uint64_t seed, Shape shape, std::size_t size, const NodeConfig& node = {});
  Simulator& sim() { return *simulator_; }

  /// Adds a client to each host, in turn, until there are `count`, and lets them all join `group`.
  std::vector<SimClient*> add_members(std::size_t count, const std::string& group);
  /// Runs until the clients have one view of the group.
  void await_group_view(const std::vector<SimClient*>& clients, const std::string& group, Duration bound = 10s);
  void await(const Simulator::Predicate& predicate, Duration bound, std::string_view what);
  /// Runs until nothing new has come to any client for a second of virtual time, and those that are told know that all
  /// their messages were taken.
  void await_rest(Duration bound = 60s);
  void check(bool at_rest = true);

  void TearDown() override;

 private:
  void check_spins();

  std::unique_ptr<Simulator> simulator_;
};

/// The digests of the messages of `service` and of what is stronger that a client got, in its order.
std::vector<std::uint64_t> digests_of(const SimClient& client, Service at_least = Service::unreliable);

}  // namespace spindled::sim
