// What a plan has its clients ask for, in sum: more than that no daemon can come to hold, whatever goes wrong.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "tests/hunt/plan.h"

namespace spindled::hunt {

struct PlanBounds {
  struct OfDaemon {
    std::size_t messages = 0;      // bytes of all that its clients send, with what comes around it
    std::size_t changes = 0;       // and of all their joins and leaves
    std::size_t sessions = 0;      // clients that connect to it
    std::size_t definitions = 0;   // of sets of destinations, as a daemon counts them
    std::size_t feeds = 0;         // that its clients open
    std::size_t feed_packets = 0;  // that they send to these
    std::size_t listens = 0;       // groups of each client that listens
  };

  /// Of all daemons.
  std::size_t sessions() const { return sum(&OfDaemon::sessions); }
  std::size_t sum(std::size_t OfDaemon::*what) const {
    return std::accumulate(daemons.begin(), daemons.end(), std::size_t{0},
                           [&](std::size_t sum, const OfDaemon& each) { return sum + each.*what; });
  }

  std::vector<OfDaemon> daemons;
  std::size_t message = 0;      // the largest payload
  std::size_t messages = 0;     // how many there are in all
  std::size_t groups = 0;       // that anybody joins
  std::size_t memberships = 0;  // of a client in a group
};

/// With the fresh members of the end (Run::await_fresh_members).
PlanBounds bounds_of(const Plan& plan);

}  // namespace spindled::hunt
