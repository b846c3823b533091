// The groups that a client is in, or has asked to be.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace spindle {

/// Each join that was asked for ends in one of two ways: it is refused, or there is a last view of the group. A client
/// that asks to leave and to join again before it has heard of either has asked twice.
class JoinedGroups {
 public:
  void asked(std::string_view group) { ++count_[std::string(group)]; }
  void ended(const std::string& group) {
    const auto at = count_.find(group);
    if (at != count_.end() && --at->second == 0) count_.erase(at);
  }
  /// A new session has asked to join these, and is in none.
  template <typename Groups>
  void begin_anew(const Groups& groups) {
    count_.clear();
    for (const auto& [name, flags] : groups) count_[name] = 1;
  }
  bool empty() const { return count_.empty(); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, count] : count_) names.push_back(name);
    return names;
  }

 private:
  std::map<std::string, int> count_;
};

}  // namespace spindle
