// What an imposed partition does to links.
#pragma once

#include <algorithm>

#include "daemon/link/imposed_partition.h"
#include "daemon/link/teardown.h"

namespace spindled {

/// Ends the links to other sides when an order comes, and has them dialled again when it no longer holds. Those that
/// are dialled or accepted meanwhile are refused in their handshake.
class PartitionEnforcement {
 public:
  PartitionEnforcement(LinkLayer& layer, Teardown& teardown)
      : layer_(layer), teardown_(teardown), partition_(layer.context.config.name) {}

  const ImposedPartition& partition() const { return partition_; }
  /// The order is news.
  void impose(Time now, const PartitionOrder& order);
  /// What is imposed is not followed any more, by this daemon alone.
  void give_up(Time now);
  void handle_time(Time now);
  Time next_deadline() const { return std::min(enforce_at_, partition_.expires_at()); }

 private:
  /// Whom the partition before held apart may meet now; others are refused again.
  void let_meet(Time now);

  LinkLayer& layer_;
  Teardown& teardown_;
  ImposedPartition partition_;
  Time enforce_at_ = kNever;  // when links across the partition are looked for
};

}  // namespace spindled
