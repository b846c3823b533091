// Participants that send symbols to each other over the flows of a topology, step by step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/bulk/mesh/symbol_id.h"
#include "tests/sim/underlay/flows.h"

namespace spindled::sim::underlay {

using mesh::SymbolId;

/// What participants do: a way to disseminate content.
class Dissemination {
 public:
  virtual ~Dissemination() = default;
  /// A symbol arrives.
  virtual void received(Time now, Participant at, Participant from, SymbolId symbol) = 0;
  /// Once a step, behind all that arrives in it.
  virtual void step(Time now) = 0;
  /// A connection has room for a symbol beyond those that were sent: which one. Nothing: none.
  virtual std::optional<SymbolId> next(Time now, Participant from, Participant to) = 0;
};

/// What arrived, second by second.
class Meter {
 public:
  explicit Meter(std::size_t participants) : participants_(participants) {}

  void count(Time now, Participant at, bool is_useful, bool is_from_parent);
  std::size_t seconds() const { return raw_.size(); }
  /// Symbols of that second: useful ones of one participant, and sums of all.
  std::uint32_t useful(std::size_t second, Participant at) const { return useful_[second * participants_ + at]; }
  std::uint64_t raw(std::size_t second) const { return raw_[second]; }
  std::uint64_t from_parents(std::size_t second) const { return from_parents_[second]; }

 private:
  std::size_t participants_;
  std::vector<std::uint32_t> useful_;
  std::vector<std::uint64_t> raw_, from_parents_;
};

/// How often the same goes over a link: of some symbols, the copies on each pipe; of some blocks, all symbols.
class StressTrace {
 public:
  explicit StressTrace(std::size_t pipes) : pipes_(pipes) {}

  void sent(SymbolId symbol, const std::vector<Pipe>& way);
  /// Over the pipes that a symbol takes: of each symbol the mean, and the most of any.
  double mean() const;
  std::uint32_t most() const;
  /// Of each block and pipe that carries some of it, the symbols over those of the block, or one where they are fewer.
  double mean_of_blocks(std::uint32_t symbols_per_block) const;

 private:
  static constexpr std::uint32_t kSymbolEvery = 401, kBlockEvery = 4;

  std::size_t pipes_;
  std::unordered_map<std::uint64_t, std::unordered_map<Pipe, std::uint32_t>> symbols_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> blocks_;
};

/// Time goes in steps. What is sent in one arrives in the next.
class OverlayNet {
 public:
  static constexpr Duration kStep = 100ms;

  OverlayNet(const Topology& topology, double symbol_bytes, Transport transport, std::uint64_t seed = 1);

  Time now() const { return now_; }
  double symbol_bytes() const { return symbol_bytes_; }
  void step(Dissemination& system);
  void run_until(Time end, Dissemination& system) {
    while (now_ < end) step(system);
  }

  /// Opens a flow, where there is none.
  void open(Participant from, Participant to);
  void close(Participant from, Participant to);
  bool is_open(Participant from, Participant to) const { return find(from, to) != kNoFlow; }
  /// False where the connection takes nothing now.
  bool send(Participant from, Participant to, SymbolId symbol);
  bool has_room(Participant from, Participant to) const;
  /// Takes its part of the links of both.
  void count_control(Participant from, Participant to, double bytes);

  /// What it sends and receives is nothing from now on.
  void kill(Participant participant);
  bool is_dead(Participant participant) const { return dead_[participant]; }

  Meter& meter() { return meter_; }
  StressTrace& stress() { return stress_; }
  /// Bytes that a participant has sent which are no symbols.
  double control_bytes(Participant from) const { return control_bytes_[from]; }
  std::size_t open_flows() const { return flows_.open_flows(); }

 private:
  struct Peer {
    Participant to;
    FlowId flow;
  };
  struct InFlight {
    Participant from, to;
    SymbolId symbol;
  };

  FlowId find(Participant from, Participant to) const;
  void put(Participant from, const Peer& peer, SymbolId symbol);

  static constexpr int kStepsPerShare = 5;

  const double symbol_bytes_;
  Flows flows_;
  std::vector<std::vector<Peer>> peers_;  // of each participant, those that it sends to
  std::vector<bool> dead_;
  std::vector<InFlight> in_flight_, arriving_;
  std::vector<double> control_bytes_;
  Meter meter_;
  StressTrace stress_;
  Random losses_;
  Time now_{};
  int steps_ = 0;
};

}  // namespace spindled::sim::underlay
