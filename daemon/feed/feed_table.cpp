#include "daemon/feed/feed_table.h"

#include "daemon/base/check.h"
#include "daemon/feed/repair_config.h"

namespace spindled {

Feed* FeedTable::find(View view, MemberIndex origin, std::uint32_t number) const {
  const ByIndex& feeds = view == View::installed ? installed_ : former_;
  const auto found = feeds.find(index_of(origin, number));
  return found == feeds.end() ? nullptr : found->second;
}

Feed* FeedTable::find(const FeedKey& key) const {
  const auto found = feeds_.find(key);
  return found == feeds_.end() ? nullptr : found->second.get();
}

Feed* FeedTable::add(FeedKey key, MemberIndex origin, std::uint64_t first, Time quiet_until) {
  if (feeds_.size() >= kFeedsMax) return nullptr;
  const std::uint64_t index = index_of(origin, key.number);
  std::unique_ptr<Feed>& feed = feeds_[key];
  SPINDLE_CHECK(!feed);
  feed = std::make_unique<Feed>(std::move(key), origin, first, quiet_until, open_gaps_);
  installed_[index] = feed.get();
  return feed.get();
}

void FeedTable::remove(Feed& feed) {
  forget(installed_, feed.origin, feed);
  if (feed.former_origin) forget(former_, *feed.former_origin, feed);
  wakes_.erase({feed.wakes_at, feed.key});
  feeds_.erase(feeds_.find(feed.key));
}

/// While a view is installed another feed may stand there.
void FeedTable::forget(ByIndex& feeds, MemberIndex origin, const Feed& feed) {
  const auto found = feeds.find(index_of(origin, feed.key.number));
  if (found != feeds.end() && found->second == &feed) feeds.erase(found);
}

void FeedTable::wake(Feed& feed, Time at) {
  if (at == kNever || at >= feed.wakes_at) return;
  if (feed.wakes_at != kNever) wakes_.erase({feed.wakes_at, feed.key});
  feed.wakes_at = at;
  wakes_.emplace(at, feed.key);
}

Feed* FeedTable::take_due(Time now) {
  if (next_at() > now) return nullptr;
  Feed* feed = find(wakes_.begin()->second);
  wakes_.erase(wakes_.begin());
  feed->wakes_at = kNever;
  return feed;
}

}  // namespace spindled
