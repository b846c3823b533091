#include "daemon/group/table_exchange.h"

#include <utility>

namespace spindled {

void TableExchange::add(MemberIndex origin, const TableState& state) {
  tables_[{state.groups, state.next_id, state.digest}].insert(origin);
  if (!state.more) told_all_.insert(origin);
}

std::vector<std::pair<MemberIndex, Delivery>> TableExchange::take_parts() {
  std::vector<std::pair<MemberIndex, Delivery>> parts;
  for (const bool of_keepers : {true, false}) {
    for (auto& [origin, all] : parts_) {
      if (keepers().contains(origin) != of_keepers) continue;
      for (Delivery& part : all) parts.emplace_back(origin, std::move(part));
    }
  }
  parts_.clear();
  return parts;
}

}  // namespace spindled
