// Partitions for field tests: how orders are given, and how they spread.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "daemon/overlay/overlay.h"

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

std::vector<std::string> Overlay::known_daemons() const {
  std::set<std::string> names{database_.self().name};
  for (const auto& [id, entry] : database_.entries()) names.insert(id.name);
  return {names.begin(), names.end()};
}

PartitionOrder Overlay::next_partition() const {
  PartitionOrder order;
  order.id = {links_.partition().id().number + 1, database_.self()};
  return order;
}

Result<void> Overlay::may_give_partitions() const {
  if (context_.config.admin.allow_partition) return {};
  return fail(Errc::bad_argument, "admin.allow_partition is false in this daemon's configuration");
}

Result<void> Overlay::impose_partition(Time now, PartitionSides sides, Duration duration) {
  if (Result<void> allowed = may_give_partitions(); !allowed) return allowed;
  if (sides.empty()) return fail(Errc::bad_argument, "no side is named");
  PartitionOrder order = next_partition();
  order.sides = std::move(sides);
  order.left = duration;
  if (Result<void> sound = check(order); !sound) return sound;
  const std::vector<std::string> known = known_daemons();
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
  partition_received(now, order, std::nullopt);
  return {};
}

Result<void> Overlay::heal_partition(Time now) {
  if (Result<void> allowed = may_give_partitions(); !allowed) return allowed;
  const PartitionOrder order = next_partition();
  if (Result<void> sound = check(order); !sound) return sound;
  partition_received(now, order, std::nullopt);
  return {};
}

void Overlay::partition_learned(Time now, const PartitionOrder& order) { partition_received(now, order, std::nullopt); }

void Overlay::partition_received(Time now, const PartitionOrder& order, std::optional<LinkId> from) {
  const ImposedPartition& known = links_.partition();
  if (!known.is_news(order)) {
    if (order.id != known.id()) {
      log_.debug("partition order {} is dropped: {} is newer", to_string(order.id), to_string(known.id()));
    }
    return;
  }
  if (!context_.config.admin.allow_partition) {
    if (std::exchange(complained_of_partition_, true)) return;
    log_.warning("partition order {} is dropped, as will be others: admin.allow_partition is false",
                 to_string(order.id));
    return;
  }
  flood(order, from);
  links_.impose(now, order);
}

}  // namespace spindled
