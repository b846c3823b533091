// The feeds that a daemon knows of, and when something is due of each.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "daemon/feed/feed.h"
#include "daemon/overlay/feed_routes.h"

namespace spindled {

/// Feeds by their names, and by the indices of the two views whose frames are handled.
class FeedTable {
 public:
  enum class View : std::uint8_t { installed, former };

  /// Null: it is not known.
  Feed* find(View view, MemberIndex origin, std::uint32_t number) const;
  Feed* find(const FeedKey& key) const;
  /// Null where there is no room. Nothing of that name is known yet.
  Feed* add(FeedKey key, MemberIndex origin, std::uint64_t first, Time quiet_until);
  void remove(Feed& feed);

  /// The indices of the installed view become those of the former. Feeds whose origin is not in the new one go, after
  /// `leave(feed)`; of the others `stay(feed)` sees the origin's new index.
  template <typename Leave, typename Stay>
  void install(const FeedRoutes& routes, Leave&& leave, Stay&& stay);

  /// Has the feed come up in `due` at that time, or earlier.
  void wake(Feed& feed, Time at);
  Time next_at() const { return wakes_.empty() ? kNever : wakes_.begin()->first; }
  /// One for which it is time; null: none. It has to be woken anew.
  Feed* take_due(Time now);

  std::size_t size() const { return feeds_.size(); }
  /// Of all feeds.
  std::size_t open_gaps() const { return open_gaps_; }
  template <typename Visit>
  void for_each(Visit&& visit) {
    for (auto& [key, feed] : feeds_) visit(*feed);
  }

 private:
  using Feeds = std::map<FeedKey, std::unique_ptr<Feed>>;
  using ByIndex = std::unordered_map<std::uint64_t, Feed*>;

  static std::uint64_t index_of(MemberIndex origin, std::uint32_t number) {
    return std::uint64_t{origin} << 32 | number;
  }
  static void forget(ByIndex& feeds, MemberIndex origin, const Feed& feed);

  std::size_t open_gaps_ = 0;  // of all feeds; before them, as they count there
  Feeds feeds_;
  ByIndex installed_, former_;
  std::set<std::pair<Time, FeedKey>> wakes_;
};

template <typename Leave, typename Stay>
void FeedTable::install(const FeedRoutes& routes, Leave&& leave, Stay&& stay) {
  std::map<DaemonId, MemberIndex> indices;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const auto member = static_cast<MemberIndex>(i);
    indices.emplace(routes.member(member), member);
  }
  former_ = std::exchange(installed_, {});
  for (auto entry = feeds_.begin(); entry != feeds_.end();) {
    Feed& feed = *(entry++)->second;
    const auto index = indices.find(feed.key.origin);
    feed.former_origin = feed.origin;
    if (index == indices.end()) {
      leave(feed);
      remove(feed);
    } else {
      feed.origin = index->second;
      installed_.emplace(index_of(feed.origin, feed.key.number), &feed);
      stay(feed);
    }
  }
}

}  // namespace spindled
