// The groups that a client is in, or has asked to be.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "spindle/event.h"

namespace spindle {

/// Each join that was asked for ends in one of two ways: it is refused, or there is a last view of the group. A client
/// that asks to leave and to join again before it has heard of either has asked twice.
class JoinedGroups {
 public:
  void asked(std::string_view group) { ++count_[std::string(group)]; }
  /// What an event says of them. `asked`: the groups that a new session has asked to join, of which it is in none.
  template <typename Groups>
  void note(const Event& event, const Groups& asked) {
    if (const auto* again = event.get_if<Reconnected>(); again != nullptr && !again->resumed) {
      count_.clear();
      for (const auto& [name, joined] : asked) count_[name] = 1;
    } else if (const auto* view = event.get_if<GroupView>(); view != nullptr && view->form == ViewForm::farewell) {
      ended(view->group);
    }
  }
  void note_refused(const RequestFailed& failed) {
    if (failed.request == RequestFailed::Request::join) ended(failed.group);
  }
  bool empty() const { return count_.empty(); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, count] : count_) names.push_back(name);
    return names;
  }

 private:
  void ended(const std::string& group) {
    const auto at = count_.find(group);
    if (at != count_.end() && --at->second == 0) count_.erase(at);
  }

  std::map<std::string, int> count_;
};

}  // namespace spindle
