#include "daemon/order/order_state.h"

namespace spindled {

void OrderState::open(const View& next) {
  view = next;
  ++epoch;
  const std::uint64_t start = context.config.first_number;
  own = OwnStream(view.size(), view.self, start);
  incoming.clear();
  while (incoming.size() < view.size()) incoming.emplace_back(start);
  order = OrderLog(start);
  phase = Phase::open;
}

}  // namespace spindled
