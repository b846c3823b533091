#include "daemon/link/imposed_partition.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/check.h"

namespace spindled {

void ImposedPartition::adopt(Time now, PartitionOrder order) {
  SPINDLE_CHECK(is_news(order));
  order_ = std::move(order);
  side_of_.clear();
  for (std::size_t i = 0; i < order_.sides.size(); ++i) {
    for (const std::string& daemon : order_.sides[i]) side_of_[daemon] = i + 1;
  }
  expires_at_ = is_imposed() ? now + order_.left : kNever;
}

bool ImposedPartition::expire(Time now) {
  if (now < expires_at_) return false;
  end();
  return true;
}

void ImposedPartition::end() {
  order_.sides.clear();
  order_.left = Duration::zero();
  side_of_.clear();
  expires_at_ = kNever;
}

PartitionOrder ImposedPartition::order(Time now) const {
  PartitionOrder order = order_;
  // One whose time has come, and that `expire` has yet to end, lasts for this moment still.
  if (is_imposed()) order.left = std::max<Duration>(expires_at_ - now, 1ms);
  return order;
}

std::string ImposedPartition::explain(std::string_view peer) const {
  const auto [first, second] = std::minmax({std::string_view(self_), peer});
  return fmt::format("partition {}, imposed for a field test, holds {} and {} apart: {}", to_string(order_.id), first,
                     second, to_string(order_.sides));
}

std::size_t ImposedPartition::side_of(std::string_view daemon) const {
  const auto found = side_of_.find(daemon);
  return found == side_of_.end() ? 0 : found->second;
}

}  // namespace spindled
