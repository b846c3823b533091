// A whole simulation: hosts, their clients, the network between them, one clock and one seed. Read this class first.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/sim_client.h"
#include "tests/sim/sim_host.h"

namespace spindled::sim {

struct SimOptions {
  std::uint64_t seed = 1;
  LogLevel log_level = LogLevel::info;
  bool log_echo = false;       // every line to standard error as it is written
  bool keep_histories = true;  // of daemons: what the checkers need, and what fills memory in long runs
};

/// Nothing happens but in `run_for` and `run_until`. Two simulations with the same seed that are told the same go the
/// same way, to the bit: `digest` says so.
class Simulator {
 public:
  using Predicate = std::function<bool()>;

  explicit Simulator(SimOptions options);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // Building. References stay valid as long as the simulator.

  /// Not started. Its address, for neighbours, is `address_of(config.name)`.
  SimHost& add_host(NodeConfig config);
  /// The same at another address, where a host of that name exists already.
  SimHost& add_host(NodeConfig config, std::string address);
  SimClient& add_client(SimHost& host, std::string name = "", ClientOptions options = {});
  static std::string address_of(std::string_view host_name) { return std::string(host_name) + ":4803"; }

  SimHost& host(std::size_t index) { return *hosts_.at(index); }
  std::size_t host_count() const { return hosts_.size(); }
  std::vector<SimHost*> hosts();
  /// Those whose daemon runs, in order.
  std::vector<SimHost*> running_hosts();
  SimClient& client(std::size_t index) { return *clients_.at(index); }
  std::size_t client_count() const { return clients_.size(); }

  // Running.

  void run_for(Duration duration);
  /// Whether `predicate` came true within `bound` of virtual time. It is looked at every millisecond of it.
  [[nodiscard]] bool run_until(const Predicate& predicate, Duration bound);
  Time now() const { return events_.now(); }
  /// Has `action` happen while the simulation runs.
  void after(Duration delay, EventQueue::Action action) { events_.after(delay, std::move(action)); }

  // Watching.

  std::uint64_t seed() const { return options_.seed; }
  std::uint64_t digest() const { return trace_.digest(); }
  std::uint64_t events_happened() const { return events_.happened(); }
  /// What all clients saw and all daemons did.
  History history() const;
  /// For a person whose scenario has failed: the seed, the hosts' views, the last log lines.
  std::string explain() const;

  Network& network() { return network_; }
  SimLog& log() { return log_; }
  /// For what a scenario draws itself.
  Random& random() { return random_; }
  World world() { return {events_, network_, trace_, log_, member_lists_, options_.keep_histories}; }

 private:
  static constexpr Duration kPredicateInterval = 1ms;

  SimOptions options_;
  Random seeds_;  // for the parts; what a scenario draws from random_ shifts none of them
  Random random_;
  EventQueue events_;
  Trace trace_;
  SimLog log_;
  Network network_;
  MemberLists member_lists_;
  std::vector<std::unique_ptr<SimHost>> hosts_;
  std::vector<std::unique_ptr<SimClient>> clients_;
};

/// Whether all of `hosts` have installed one view, of exactly them, and are at work in it.
bool have_one_view(const std::vector<SimHost*>& hosts);

/// Whether all of `clients` are connected and have the same view of `group`, of exactly them.
bool have_one_group_view(const std::vector<SimClient*>& clients, const std::string& group);

}  // namespace spindled::sim
