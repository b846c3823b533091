// Groups by their numbers.
#pragma once

#include <array>
#include <unordered_map>

#include "daemon/group/operations.h"

namespace spindled {

struct Group;

/// Numbers are given one after the other, and most groups live long: a page for so many in a row costs a third of what
/// an entry for each would.
class GroupsById {
 public:
  /// Null where there is none.
  Group* find(GroupId id) const {
    const auto page = pages_.find(id / kPage);
    return page == pages_.end() ? nullptr : page->second.groups[id % kPage];
  }
  /// The number is free.
  void insert(GroupId id, Group& group) {
    Page& page = pages_[id / kPage];
    page.groups[id % kPage] = &group;
    ++page.count;
  }
  /// The number is taken.
  void erase(GroupId id) {
    const auto page = pages_.find(id / kPage);
    page->second.groups[id % kPage] = nullptr;
    if (--page->second.count == 0) pages_.erase(page);
  }

 private:
  static constexpr GroupId kPage = 8;
  struct Page {
    std::array<Group*, kPage> groups{};
    std::size_t count = 0;
  };

  std::unordered_map<GroupId, Page> pages_;  // never iterated
};

}  // namespace spindled
