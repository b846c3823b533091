#include "daemon/link/partition_enforcement.h"

#include <fmt/format.h>

#include <string>

namespace spindled {

void PartitionEnforcement::impose(Time now, const PartitionOrder& order) {
  const bool was_imposed = partition_.is_imposed();
  const std::string before = to_string(partition_.id());
  partition_.adopt(now, order);
  if (partition_.is_imposed()) {
    layer_.log.warning("partition {} is imposed for a field test, for {:.1f} s: {}; daemons not named are together",
                       to_string(order.id), to_seconds(order.left), to_string(order.sides));
    // Links to the other sides are closed in the next turn, behind what this one still has to say on them.
    enforce_at_ = now;
  } else if (was_imposed) {
    layer_.log.warning("partition {} is healed by order {}", before, to_string(order.id));
  }
  if (was_imposed) let_meet(now);
}

void PartitionEnforcement::give_up(Time now) {
  if (!partition_.is_imposed()) return;
  layer_.log.warning("partition {} is not followed any more: admin.allow_partition is false",
                     to_string(partition_.id()));
  partition_.end();
  let_meet(now);
}

void PartitionEnforcement::handle_time(Time now) {
  if (partition_.expire(now)) {
    layer_.log.warning("partition {} is over: its time has passed", to_string(partition_.id()));
    let_meet(now);
  }
  if (now < enforce_at_) return;
  enforce_at_ = kNever;
  layer_.table.for_each_of_now([&](Link& link) {
    const bool in_use = link.is_established() || link.phase() == LinkPhase::waiting;
    const std::string& peer = link.peer().name;
    if (in_use && partition_.separates(peer)) {
      teardown_.end(now, link, {Errc::partitioned, partition_.explain(peer)});
    }
  });
}

void PartitionEnforcement::let_meet(Time now) {
  if (!layer_.stopping) layer_.neighbours.retry_now(now, Errc::partitioned);
}

}  // namespace spindled
