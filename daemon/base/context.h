// What every layer of a node shares.
#pragma once

#include "daemon/base/check.h"
#include "daemon/base/counters.h"
#include "daemon/base/log.h"
#include "daemon/base/memory_budget.h"
#include "daemon/base/node_config.h"
#include "daemon/base/random.h"
#include "daemon/base/slab.h"
#include "daemon/base/turn_work.h"

namespace spindled {

/// Owned by the Node, which makes it first and destroys it last.
struct Context {
  Context(NodeConfig node_config, LogSink& sink, std::uint64_t seed)
      : config_(std::move(node_config)),
        config(config_),
        log_sink(sink),
        random(seed),
        turn(config.turn_work_max),
        memory(config, slabs),
        arena(slabs),
        read_arena(slabs) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Whoever reads `config` when it needs a value goes by the new one from then on. Name, cluster and incarnation stay.
  void reconfigure(const NodeConfig& next) {
    SPINDLE_CHECK(next.name == config_.name && next.cluster == config_.cluster);
    SPINDLE_CHECK(next.incarnation == config_.incarnation);
    config_ = next;
    ++config_version_;
  }
  /// How often that was so, and one: answers that depend on `config` stay as long as this does.
  const std::uint64_t& config_version() const { return config_version_; }

 private:
  NodeConfig config_;
  std::uint64_t config_version_ = 1;

 public:
  const NodeConfig& config;
  LogSink& log_sink;
  Counters counters;
  Random random;
  TurnWork turn;
  SlabPool slabs;
  MemoryBudget memory;
  SlabWriter arena;       // for what this node encodes
  SlabWriter read_arena;  // for what it reads: see InputBuffer
};

}  // namespace spindled
