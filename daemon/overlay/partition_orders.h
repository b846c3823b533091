// Partitions for field tests: how orders are given, and how they spread.
#pragma once

#include <optional>

#include "daemon/base/context.h"
#include "daemon/link/links.h"
#include "daemon/overlay/control_channel.h"
#include "daemon/overlay/link_state_flooding.h"

namespace spindled {

/// An order is flooded like link state, and the link layer follows it (ImposedPartition).
class PartitionOrders {
 public:
  PartitionOrders(Context& context, Links& links, ControlChannel& channel, const LinkStateFlooding& link_state)
      : context_(context),
        links_(links),
        channel_(channel),
        link_state_(link_state),
        log_(context.log_sink, "overlay") {}

  /// Has all daemons keep to the sides that are named, and those that are not named on one more, for that time. An
  /// error where the order makes no sense: nothing has happened then.
  Result<void> impose(Time now, PartitionSides sides, Duration duration);
  /// Ends, everywhere, what is imposed.
  Result<void> heal(Time now);

  /// The configuration has changed.
  void reconsider(Time now);
  /// The neighbour may have missed the order that is followed here.
  void link_up(Time now, LinkId link);
  /// Follows an order and passes it on, if it is news.
  void received(Time now, const PartitionOrder& order, std::optional<LinkId> from);

 private:
  PartitionOrder next() const;
  /// bad_argument where this daemon may give no orders.
  Result<void> may_give() const;

  Context& context_;
  Links& links_;
  ControlChannel& channel_;
  const LinkStateFlooding& link_state_;
  const Log log_;
  bool complained_ = false;
};

}  // namespace spindled
