#include "daemon/overlay/partition_orders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace spindled {

namespace {

/// How many names an error lists.
constexpr std::size_t kNamesListedMax = 50;

std::string list(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kNamesListedMax);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), " "));
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

Result<void> check(const PartitionOrder& order) {
  const std::string_view fault = find_fault(order);
  if (fault.empty()) return {};
  return fail(Errc::bad_argument, std::string(fault));
}

}  // namespace

PartitionOrder PartitionOrders::next() const {
  PartitionOrder order;
  order.id = {links_.partition().id().number + 1, link_state_.database().self()};
  return order;
}

Result<void> PartitionOrders::may_give() const {
  if (context_.config.admin.allow_partition) return {};
  return fail(Errc::bad_argument, "admin.allow_partition is false in this daemon's configuration");
}

Result<void> PartitionOrders::impose(Time now, PartitionSides sides, Duration duration) {
  if (Result<void> allowed = may_give(); !allowed) return allowed;
  if (sides.empty()) return fail(Errc::bad_argument, "no side is named");
  PartitionOrder order = next();
  order.sides = std::move(sides);
  order.left = duration;
  if (Result<void> sound = check(order); !sound) return sound;
  const std::vector<std::string> known = link_state_.known_daemons();
  std::size_t named = 0;
  for (const std::vector<std::string>& side : order.sides) {
    for (const std::string& name : side) {
      if (!std::binary_search(known.begin(), known.end(), name)) {
        return fail(Errc::bad_argument, fmt::format("there is no daemon {}; known are {}", name, list(known)));
      }
      ++named;
    }
  }
  if (order.sides.size() == 1 && named == known.size()) {
    return fail(Errc::bad_argument, "one side of all daemons is no partition");
  }
  received(now, order, std::nullopt);
  return {};
}

Result<void> PartitionOrders::heal(Time now) {
  if (Result<void> allowed = may_give(); !allowed) return allowed;
  const PartitionOrder order = next();
  if (Result<void> sound = check(order); !sound) return sound;
  received(now, order, std::nullopt);
  return {};
}

void PartitionOrders::reconsider(Time now) {
  if (context_.config.admin.allow_partition) return;
  links_.give_up_partition(now);
}

void PartitionOrders::link_up(Time now, LinkId link) {
  if (!context_.config.admin.allow_partition) return;
  if (links_.partition().id().number != 0) channel_.send(link, links_.partition().order(now));
}

void PartitionOrders::received(Time now, const PartitionOrder& order, std::optional<LinkId> from) {
  const ImposedPartition& known = links_.partition();
  if (!known.is_news(order)) {
    if (order.id != known.id()) {
      log_.debug("partition order {} is dropped: {} is newer", to_string(order.id), to_string(known.id()));
    }
    return;
  }
  if (!context_.config.admin.allow_partition) {
    if (std::exchange(complained_, true)) return;
    log_.warning("partition order {} is dropped, as will be others: admin.allow_partition is false",
                 to_string(order.id));
    return;
  }
  channel_.flood(order, from);
  links_.impose(now, order);
}

}  // namespace spindled
