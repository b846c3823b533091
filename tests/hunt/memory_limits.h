// Holds what daemons keep in memory to what they were configured with.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/node_config.h"
#include "daemon/node/node.h"
#include "tests/hunt/outcome.h"

namespace spindled::hunt {

class MemoryLimits {
 public:
  /// `message_bytes` is the largest message that any client sends.
  MemoryLimits(const NodeConfig& config, std::size_t message_bytes);

  /// What daemon `name` keeps between two turns.
  void check(const std::string& name, const NodeMemory& memory);

  /// One for each limit and daemon that was exceeded, as far as it went.
  std::vector<Finding> findings() const;
  const NodeMemory& most() const { return most_; }

 private:
  struct Excess {
    std::size_t bytes = 0;
    std::size_t limit = 0;
  };

  void hold(const std::string& name, const char* what, std::size_t bytes, std::size_t limit);

  std::size_t own_limit_;
  std::size_t foreign_limit_;
  std::size_t queue_limit_;
  std::size_t clients_limit_;
  NodeMemory most_;
  std::map<std::pair<std::string, std::string>, Excess> excesses_;
};

}  // namespace spindled::hunt
