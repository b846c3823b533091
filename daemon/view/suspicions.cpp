#include "daemon/view/suspicions.h"

#include <algorithm>

namespace spindled {

void Suspicions::suspect(Time now, const DaemonId& daemon) {
  std::erase_if(records_, [&](const auto& entry) { return entry.second.suspected_at + kMemory < now; });
  Record& record = records_[daemon];
  record.suspected_at = now;
  if (record.next_exclusion == Duration::zero()) {
    record.next_exclusion = kExclusionMin;
    return;
  }
  record.excluded_until = now + record.next_exclusion;
  record.next_exclusion = std::min(2 * record.next_exclusion, kExclusionMax);
}

bool Suspicions::is_excluded(Time now, const DaemonId& daemon) const {
  const auto at = records_.find(daemon);
  return at != records_.end() && now < at->second.excluded_until;
}

Time Suspicions::next_end(Time now) const {
  Time next = kNever;
  for (const auto& [daemon, record] : records_) {
    if (now < record.excluded_until) next = std::min(next, record.excluded_until);
  }
  return next;
}

}  // namespace spindled
