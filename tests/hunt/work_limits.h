// Holds what daemons do in a turn to what they were configured with.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/node/node.h"
#include "tests/hunt/outcome.h"

namespace spindled::hunt {

class WorkLimits {
 public:
  /// `clients` is how many there are in all, `largest_turn` the most that any daemon is to do in a turn: who announces
  /// its groups in parts goes by its own. No message has more than `message_bytes`.
  /// Of `feeds` listeners may be told at once.
  WorkLimits(std::size_t clients, std::size_t largest_turn, std::size_t message_bytes, std::size_t feeds = 0)
      : clients_(clients), largest_turn_(largest_turn), message_bytes_(message_bytes), feeds_(feeds) {}

  /// What daemon `name`, whose turns may do `max`, has done so far.
  void check(const std::string& name, std::size_t max, const NodeWork& work);

  /// One for each daemon that did too much in a step or a turn.
  std::vector<Finding> findings() const { return findings_; }
  const NodeWork& most() const { return most_; }

 private:
  void hold(const std::string& name, const char* what, std::size_t units, std::size_t limit);

  std::size_t clients_;
  std::size_t largest_turn_;
  std::size_t message_bytes_;
  std::size_t feeds_;
  NodeWork most_;
  std::map<std::string, const char*> found_;
  std::vector<Finding> findings_;
};

}  // namespace spindled::hunt
