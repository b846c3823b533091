// Which of the groups this client has joined, and how many members they have.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "spindle/connection.h"
#include "spindle/membership.h"

namespace spuser {

/// The lists of members behind the views that are printed.
class Members {
 public:
  /// The members of the view's group, with this view. Asks for them where they are not known.
  const spindle::Membership& apply(const spindle::GroupView& view, spindle::Connection& connection) {
    spindle::Membership& members = groups_[view.group];
    if (members.apply(view) == spindle::Membership::Outcome::ask) {
      if (connection.request_view(view.group)) members.reset();
    }
    return members;
  }

 private:
  std::map<std::string, spindle::Membership, std::less<>> groups_;
};

class MembershipCounts {
 public:
  explicit MembershipCounts(const std::vector<std::string>& groups) {
    for (const std::string& group : groups) groups_[group];
  }

  void note(const spindle::GroupView& view) {
    const auto at = groups_.find(view.group);
    if (at != groups_.end()) at->second = {view.form != spindle::ViewForm::farewell, view.member_count};
  }
  /// Whether this client is in all groups, and all have `members` members.
  bool is_complete(std::size_t members) const {
    for (const auto& [name, group] : groups_) {
      if (!group.joined || group.members < members) return false;
    }
    return true;
  }
  /// Whether it is in none any more.
  bool has_left() const {
    for (const auto& [name, group] : groups_) {
      if (group.joined) return false;
    }
    return true;
  }
  /// Whether no group has more than `members`.
  bool is_within(std::size_t members) const {
    for (const auto& [name, group] : groups_) {
      if (group.members > members) return false;
    }
    return true;
  }

 private:
  struct Group {
    bool joined = false;
    std::size_t members = 0;
  };
  std::map<std::string, Group, std::less<>> groups_;
};

/// Makes an empty file for scripts to wait for; nothing where `path` is empty. Throws Exit.
void make_ready_file(const std::string& path);

}  // namespace spuser
