// Which feeds there are, the same at all daemons of a view.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "daemon/feed/feed_clients.h"
#include "daemon/feed/repair_output.h"

namespace spindled {

struct OpenFeed {
  FeedKey key;
  FeedHandle handle = 0;
  std::string group;
  std::string source;  // private name
  Duration repair_for{};
  /// A view has begun that its daemon came into from elsewhere: it is over unless that says it again.
  bool is_doubtful = false;
};

/// Changes at places in the order only, and where views begin. A feed belongs to one daemon, which alone opens and
/// closes it, so that daemons that come together have nothing to reconcile.
class FeedDirectory {
 public:
  /// Of all daemons. What is opened beyond is known to its source alone.
  static constexpr std::size_t kFeedsMax = 65'536;

  const OpenFeed* find(const FeedKey& key) const {
    const auto found = feeds_.find(key);
    return found == feeds_.end() ? nullptr : &found->second;
  }
  bool is_full() const { return feeds_.size() >= kFeedsMax; }
  /// Its key is not known, and there is room.
  const OpenFeed& add(OpenFeed feed) {
    by_group_[feed.group].insert(feed.key);
    const FeedKey key = feed.key;
    return feeds_.emplace(key, std::move(feed)).first->second;
  }
  void remove(const FeedKey& key) {
    const auto found = feeds_.find(key);
    if (found == feeds_.end()) return;
    const auto group = by_group_.find(found->second.group);
    group->second.erase(key);
    if (group->second.empty()) by_group_.erase(group);
    feeds_.erase(found);
  }
  void set_doubtful(const FeedKey& key, bool is_doubtful) { feeds_.find(key)->second.is_doubtful = is_doubtful; }

  /// `visit(const OpenFeed&)` changes nothing here.
  template <typename Visit>
  void for_each_of(std::string_view group, Visit&& visit) const {
    const auto found = by_group_.find(group);
    if (found == by_group_.end()) return;
    for (const FeedKey& key : found->second) visit(feeds_.find(key)->second);
  }
  bool has_feeds_of(std::string_view group) const { return by_group_.contains(group); }
  /// The group with feeds whose name comes next behind this one, or the first; null: there is none.
  const std::string* group_behind(const std::optional<std::string>& group) const {
    const auto found = group ? by_group_.upper_bound(*group) : by_group_.begin();
    return found == by_group_.end() ? nullptr : &found->first;
  }
  /// The feed of the group whose key comes next behind this one, or the first; null: there is none.
  const OpenFeed* find_behind(std::string_view group, const std::optional<FeedKey>& feed) const {
    const auto found = by_group_.find(group);
    if (found == by_group_.end()) return nullptr;
    const auto next = feed ? found->second.upper_bound(*feed) : found->second.begin();
    return next == found->second.end() ? nullptr : find(*next);
  }
  using Feeds = std::map<FeedKey, OpenFeed>;
  const Feeds& all() const { return feeds_; }
  std::size_t size() const { return feeds_.size(); }
  /// About.
  std::size_t memory_bytes() const { return feeds_.size() * kFeedBytes; }

 private:
  static constexpr std::size_t kFeedBytes = 500;  // of one, with its names and its place among those of its group

  Feeds feeds_;
  std::map<std::string, std::set<FeedKey>, std::less<>> by_group_;
};

}  // namespace spindled
