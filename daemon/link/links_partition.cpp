// What an imposed partition does to links.
#include <fmt/format.h>

#include "daemon/link/link_limits.h"
#include "daemon/link/links_entry.h"

namespace spindled {

void Links::impose(Time now, const PartitionOrder& order) {
  const bool was_imposed = partition_.is_imposed();
  const std::string before = to_string(partition_.id());
  partition_.adopt(now, order);
  if (partition_.is_imposed()) {
    log_.warning("partition {} is imposed for a field test, for {:.1f} s: {}; daemons not named are together",
                 to_string(order.id), to_seconds(order.left), to_string(order.sides));
    // Links to the other sides are closed in the next turn, behind what this one still has to say on them.
    enforce_at_ = now;
  } else if (was_imposed) {
    log_.warning("partition {} is healed by order {}", before, to_string(order.id));
  }
  // Whom the partition before held apart may meet now; others are refused again.
  if (was_imposed && !stopping_) neighbours_.retry_now(now, Errc::partitioned);
}

void Links::handle_partition_time(Time now) {
  if (partition_.expire(now)) {
    log_.warning("partition {} is over: its time has passed", to_string(partition_.id()));
    if (!stopping_) neighbours_.retry_now(now, Errc::partitioned);
  }
  if (now < enforce_at_) return;
  enforce_at_ = kNever;
  std::vector<ConnectionId> across;
  for (const auto& [connection, entry] : entries_) {
    const LinkPhase phase = entry->link.phase();
    const bool in_use = phase == LinkPhase::established || phase == LinkPhase::waiting;
    if (in_use && partition_.separates(entry->link.peer().name)) across.push_back(connection);
  }
  for (const ConnectionId connection : across) {
    Entry* entry = find(connection);
    if (entry == nullptr || entry->link.phase() == LinkPhase::closing) continue;
    end(now, *entry, {Errc::partitioned, partition_.explain(entry->link.peer().name)}, Ending::here);
  }
}

}  // namespace spindled
