// The groups that one session is in.
#pragma once

#include <algorithm>
#include <vector>

#include "daemon/group/operations.h"

namespace spindled {

/// Ids in ascending order. Sessions are in very many groups, join mostly those that are new and leave them in any
/// order, or all at once: one that leaves is marked, and marks are taken out when they are half of all.
class SessionGroups {
 public:
  bool empty() const { return left_ == ids_.size(); }
  std::size_t size() const { return ids_.size() - left_; }
  bool contains(GroupId group) const {
    const auto at = find(group);
    return at != ids_.end() && *at == group << 1U;
  }
  /// False where it is there.
  bool insert(GroupId group) {
    const auto at = find(group);
    if (at == ids_.end() || *at >> 1U != group) {
      ids_.insert(at, group << 1U);
      return true;
    }
    if (*at == group << 1U) return false;
    *at = group << 1U;
    --left_;
    return true;
  }
  /// False where it is not there.
  bool erase(GroupId group) {
    const auto at = find(group);
    if (at == ids_.end() || *at != group << 1U) return false;
    *at |= kLeft;
    if (++left_ > ids_.size() / 2) {
      std::erase_if(ids_, [](GroupId id) { return (id & kLeft) != 0; });
      left_ = 0;
    }
    return true;
  }
  std::vector<GroupId> ids() const {
    std::vector<GroupId> ids;
    ids.reserve(size());
    for (const GroupId id : ids_) {
      if ((id & kLeft) == 0) ids.push_back(id >> 1U);
    }
    return ids;
  }

 private:
  static constexpr GroupId kLeft = 1;

  std::vector<GroupId>::iterator find(GroupId group) { return std::lower_bound(ids_.begin(), ids_.end(), group << 1U); }
  std::vector<GroupId>::const_iterator find(GroupId group) const {
    return std::lower_bound(ids_.begin(), ids_.end(), group << 1U);
  }

  std::vector<GroupId> ids_;  // each twice itself, and one more where it was left
  std::size_t left_ = 0;      // of these
};

}  // namespace spindled
