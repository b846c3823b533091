#include "daemon/link/link_table.h"

#include <algorithm>
#include <utility>

#include "daemon/base/check.h"
#include "daemon/link/link_limits.h"

namespace spindled {

Link& LinkTable::add(std::unique_ptr<Link> link) {
  auto& place = by_connection_[link->connection()];
  SPINDLE_CHECK(place == nullptr);
  place = std::move(link);
  return *place;
}

void LinkTable::remove(Link& link) {
  set_deadline(link, kNever);
  const auto found = by_connection_.find(link.connection());
  removed_.push_back(std::move(found->second));
  by_connection_.erase(found);
}

Link* LinkTable::find(ConnectionId connection) const {
  const auto found = by_connection_.find(connection);
  return found == by_connection_.end() ? nullptr : found->second.get();
}

bool LinkTable::take_id(Link& link) {
  const auto free = std::find(by_id_.begin(), by_id_.end(), nullptr);
  const auto index = static_cast<std::size_t>(free - by_id_.begin());
  if (index == kLinksMax) return false;
  if (free == by_id_.end()) by_id_.push_back(nullptr);
  by_id_[index] = &link;
  link.marks.id = static_cast<LinkId>(index);
  by_peer_.emplace(link.peer(), &link);
  return true;
}

void LinkTable::free_id(Link& link) {
  by_id_[static_cast<std::size_t>(*link.marks.id)] = nullptr;
  link.marks.id.reset();
}

Link& LinkTable::at(LinkId id) const {
  const auto index = static_cast<std::size_t>(id);
  SPINDLE_CHECK(index < by_id_.size() && by_id_[index] != nullptr);
  return *by_id_[index];
}

Link* LinkTable::established_to(const DaemonId& peer) const {
  const auto found = by_peer_.find(peer);
  return found == by_peer_.end() ? nullptr : found->second;
}

Link* LinkTable::established_to(std::string_view name) const {
  Link* last = nullptr;
  for (auto at = by_peer_.lower_bound({std::string(name), 0}); at != by_peer_.end() && at->first.name == name; ++at) {
    if (last == nullptr || at->second->up_since() >= last->up_since()) last = at->second;
  }
  return last;
}

void LinkTable::set_deadline(Link& link, Time deadline) {
  const ConnectionId connection = link.connection();
  if (link.marks.deadline != kNever) deadlines_.erase({link.marks.deadline, connection});
  link.marks.deadline = deadline;
  if (deadline != kNever) deadlines_.insert({deadline, connection});
}

Link* LinkTable::take_due(Time now) {
  if (deadlines_.empty() || deadlines_.begin()->first > now) return nullptr;
  Link& link = *find(deadlines_.begin()->second);
  set_deadline(link, kNever);
  return &link;
}

}  // namespace spindled
