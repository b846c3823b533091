// Daemons that are reachable, by what links report, and yet do not take part in a view change.
#pragma once

#include <map>

#include "daemon/base/time.h"
#include "daemon/wire/control.h"

namespace spindled {

/// A daemon that fails to answer once is given another chance, for its answer may have been lost with a link that came
/// back at once. From the second time on it is excluded: for 1 s, doubling up to 10 s, until it takes part in a view.
class Suspicions {
 public:
  static constexpr Duration kExclusionMin = 1s;
  static constexpr Duration kExclusionMax = 10s;

  void suspect(Time now, const DaemonId& daemon);
  void clear(const DaemonId& daemon) { records_.erase(daemon); }

  bool is_excluded(Time now, const DaemonId& daemon) const;
  /// When the next exclusion ends; kNever if there is none.
  Time next_end(Time now) const;

 private:
  /// A daemon that has not been suspected for this long starts afresh.
  static constexpr Duration kMemory = 60s;

  struct Record {
    Time suspected_at{};
    Time excluded_until = Time::min();
    Duration next_exclusion{};  // zero: the next silence is the first
  };

  std::map<DaemonId, Record> records_;
};

}  // namespace spindled
