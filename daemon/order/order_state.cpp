#include "daemon/order/order_state.h"

namespace spindled {

void OrderState::open(const View& next) {
  view = next;
  ++epoch;
  const std::uint64_t start = context.config.first_number;
  own = OwnStream(view.size(), view.self, start);
  incoming.clear();
  while (incoming.size() < view.size()) incoming.emplace_back(start);
  retention.restart(view.size());
  order = OrderLog(start);
  phase = Phase::open;
}

void OrderState::deliver(Time now, const Delivery& message) {
  if (!held_up.must_wait()) return deliver_at_once(now, message);
  if (observer != nullptr) observer->delivered(message);
  held_up.add(message, *handler_of(message.message_class));
}

}  // namespace spindled
