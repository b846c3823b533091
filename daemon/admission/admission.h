// What enters the network, and when.
#pragma once

#include "daemon/base/context.h"
#include "daemon/group/groups.h"
#include "daemon/order/order.h"

namespace spindled {

/// Decides for each message of a local client whether it may enter now; a message that may not waits with its sender,
/// whose socket is read no further. The present rule is a window for each daemon: its own messages that some
/// destination may lack are bounded, what it retains of all is bounded, and nothing is sent to a daemon that asked to
/// hold back.
class Admission {
 public:
  Admission(const Context& context, const Order& order, const Groups& groups)
      : config_(context.config), order_(order), groups_(groups) {}

  /// Begins a turn: what is costly to know is looked up once.
  void start_turn() { retention_full_ = order_.retained_bytes() >= config_.order.retention_bytes_max; }

  /// `to` is brought up to date with the group table.
  bool may_enter(DestinationSet& to) const;
  /// Joins and leaves are messages to all daemons; they wait like others, but for no slow receiver.
  bool may_change_membership() const { return has_room(); }

 private:
  bool has_room() const;

  const NodeConfig& config_;
  const Order& order_;
  const Groups& groups_;
  bool retention_full_ = false;
};

}  // namespace spindled
