#include "daemon/group/table_exchange.h"

#include <utility>

namespace spindled {

void TableExchange::add(MemberIndex origin, const TableState& state) {
  tables_[{state.groups, state.next_id, state.digest}].insert(origin);
  if (!state.more) told_all_.insert(origin);
}

std::size_t TableExchange::side_of(MemberIndex daemon) const {
  std::size_t side = 0;
  for (const auto& table : tables_) {
    if (table.second.contains(daemon)) break;
    ++side;
  }
  return side;
}

bool TableExchange::take_conclusion() {
  if (!has_announced_ || !keepers().is_subset_of(announced_all_)) return false;
  has_announced_ = false;
  return true;
}

bool TableExchange::is_complete(std::size_t members) const {
  return (MemberSet::first(members) - keepers()).is_subset_of(announced_all_);
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
