// A set of daemons and the links between them.
#pragma once

#include <vector>

#include "daemon/wire/control.h"

namespace spindled {

struct Topology {
  std::vector<DaemonId> members;  // sorted by name; one incarnation of each
  std::vector<Edge> edges;        // sorted by (a, b)

  bool operator==(const Topology&) const = default;
};

}  // namespace spindled
