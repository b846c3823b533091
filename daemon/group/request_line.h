// The joins and leaves of one client that are not done yet.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/ring.h"

namespace spindled {

/// First in, first out: requests enter the order in the order asked, and are done in that order. One that has to wait,
/// a join whose subscription is on its way, holds up those behind it.
///
/// A request is `add`ed, then `entered` once it was originated, and `done` once it has come out of the order. Those
/// that entered are always in front of those that wait.
class RequestLine {
 public:
  enum class Kind : std::uint8_t { join, leave };
  struct Request {
    Kind kind;
    const std::string& group;  // until the request is done
    bool synchronous = false;  // of a join: what the group is to be
  };

  void add(Kind kind, const std::string& group, bool synchronous = false);
  bool all_entered() const { return entered_ == requests_.size(); }
  /// The first that waits. There is one.
  Request next() const { return of(requests_[entered_]); }
  void entered() { ++entered_; }
  /// The first one is done. It has entered.
  void done();
  bool has_entered() const { return entered_ != 0; }

  bool empty() const { return requests_.empty(); }
  std::size_t size() const { return requests_.size(); }
  /// How many requests for the group are not done yet.
  std::size_t count(std::string_view group) const {
    const auto at = groups_.find(group);
    return at == groups_.end() ? 0 : at->second.count;
  }
  /// Whether any is.
  bool has(std::string_view group) const { return groups_.contains(group); }
  /// The last request for the group that is not done yet; nothing where all are.
  std::optional<Kind> last(std::string_view group) const {
    const auto at = groups_.find(group);
    return at == groups_.end() ? std::nullopt : std::optional(at->second.last);
  }
  /// Calls `visit(group, kind)` with the last request for each group that has one that is not done.
  template <typename Visit>
  void for_each_group(Visit&& visit) const {
    for (const auto& [group, open] : groups_) visit(group, open.last);
  }
  template <typename Visit>
  void for_each_waiting(Visit&& visit) const {
    for (std::size_t i = entered_; i < requests_.size(); ++i) visit(of(requests_[i]));
  }

 private:
  struct Open {
    std::size_t count = 0;
    Kind last{};
  };
  using Groups = std::map<std::string, Open, std::less<>>;
  struct Item {
    Kind kind{};
    bool synchronous = false;
    Groups::iterator group;
  };
  static Request of(const Item& item) { return {item.kind, item.group->first, item.synchronous}; }

  Groups groups_;  // that have any
  Ring<Item, 64> requests_;
  std::size_t entered_ = 0;  // of these
};

}  // namespace spindled
