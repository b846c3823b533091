// The contents of bulk channels in a run, and the clients that send and receive them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/hunt/outcome.h"
#include "tests/hunt/plan.h"
#include "tests/sim/bulk_client.h"
#include "tests/sim/simulator.h"

namespace spindled::hunt {

class Contents {
 public:
  /// Both outlive it.
  Contents(const Plan& plan, sim::Simulator& sim);

  bool empty() const { return clients_.empty(); }
  /// Nothing of the plan fails.
  bool is_undisturbed() const { return !is_disturbed_; }
  void add(const Step& connect, sim::SimClient& client);
  void offer(const Step& step);
  /// Its connection for content breaks.
  void detach(std::uint32_t client);
  void set_reading(std::uint32_t client, bool on);
  /// Of all that it offers, from now on.
  void set_cap(std::uint32_t client, std::uint64_t bytes_per_second);

  /// Whether all have what anybody has.
  bool are_received() const;
  /// Of each receiver that has not all blocks of what it is to get, though its daemon and that of the source run and
  /// are not paused: what it lacks.
  std::vector<std::string> lacks() const;
  std::vector<checkers::ContentHistory> histories() const;
  void count(Tally& tally) const;

 private:
  /// What the client with that number has, or had, on its disk. None where it, or whoever had the disk since, still
  /// runs: a program has its disk for itself.
  std::shared_ptr<sim::ContentDisk> take_disk(std::uint32_t client);

  sim::Simulator& sim_;
  bool is_disturbed_;
  std::map<std::uint32_t, std::unique_ptr<sim::BulkClient>> clients_;
};

}  // namespace spindled::hunt
