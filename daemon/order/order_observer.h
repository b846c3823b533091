// Watching the order layer from outside: for tests that hold daemons to what they promise one another.
#pragma once

#include "daemon/order/message.h"

namespace spindled {

/// Told of all that one daemon's order layer does for the layers above it; messages of class `order`, its own business,
/// left out. Calls come in the order in which things happen.
class OrderObserver {
 public:
  virtual ~OrderObserver() = default;

  /// This daemon has given `message` its place in its stream; `destinations` are members of the view.
  virtual void originated(const Delivery& message, const MemberSet& destinations) = 0;
  /// These are told when a message has reached its place or a view its end, before the layer above hears of it
  /// (OrderedMessages): that may have to wait until the layer above is not busy.
  virtual void delivered(const Delivery& message) = 0;
  virtual void transitional(const MemberSet& transitional) = 0;
  virtual void view_installed(const View& view, const MemberSet& came_along) = 0;
};

}  // namespace spindled
