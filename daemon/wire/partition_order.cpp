#include "daemon/wire/partition_order.h"

#include <fmt/format.h>

#include <set>

#include "libclient/common/names.h"

namespace spindled {

std::string to_string(const PartitionId& id) { return fmt::format("{}@{}", id.number, id.author.name); }

std::string to_string(const PartitionSides& sides, std::size_t bytes_max) {
  std::string text;
  for (const std::vector<std::string>& side : sides) {
    if (!text.empty()) text += " / ";
    for (std::size_t i = 0; i < side.size(); ++i) {
      if (text.size() > bytes_max) return text + "...";
      if (i != 0) text += ',';
      text += side[i];
    }
  }
  return text;
}

std::string_view find_fault(const PartitionOrder& order) {
  if (order.id.number == 0 || order.id.number > kPartitionNumberMax) return "a partition's number is out of range";
  if (order.sides.empty()) return order.left == Duration::zero() ? "" : "no sides are to last for some time";
  if (order.left <= Duration::zero() || order.left > kPartitionTimeMax) {
    return "a partition lasts no time, or more than an hour";
  }
  if (order.sides.size() > kPartitionSidesMax) return "a partition has too many sides";
  std::set<std::string_view> names;
  std::size_t bytes = 0;
  for (const std::vector<std::string>& side : order.sides) {
    if (side.empty()) return "a side of a partition is empty";
    for (const std::string& name : side) {
      if (!spindle::is_daemon_name(name)) return "a daemon's name is not valid";
      if (!names.insert(name).second) return "a partition names a daemon twice";
      bytes += name.size() + kPartitionNameOverhead;
      if (names.size() > kPartitionDaemonsMax || bytes > kPartitionNamesBytesMax) {
        return "a partition names too many daemons";
      }
    }
  }
  return "";
}

}  // namespace spindled
