#include "tests/checkers/feed_listening.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace spindled::checkers {

HeardFeed* FeedListening::find(spindle::FeedId id) {
  const auto found =
      std::find_if(feeds_.rbegin(), feeds_.rend(), [&](const HeardFeed& each) { return each.opened.feed == id; });
  return found == feeds_.rend() ? nullptr : &*found;
}

HeardFeed* FeedListening::find_open(spindle::FeedId id, const char* what) {
  HeardFeed* feed = find(id);
  if (feed == nullptr) {
    faults_.push_back(fmt::format("is told of {} of a feed that it was not told of", what));
  } else if (feed->over || feed->is_cut_short) {
    faults_.push_back(fmt::format("is told of {} of a feed of {} that is over", what, feed->opened.source));
  }
  return feed;
}

void FeedListening::cover(Time at, HeardFeed& feed, std::uint64_t first, std::uint64_t count, bool is_bundled) {
  if (std::exchange(feed.told_at, at) != at) feed.told_from = first;
  covered_[static_cast<std::size_t>(&feed - feeds_.data())].push_back({first, first + count, is_bundled});
}

void FeedListening::take(Time at, const FeedHeard& heard) {
  if (find(heard.feed) != nullptr) faults_.push_back(fmt::format("is told twice of a feed of {}", heard.source));
  if (!listens_.contains(heard.group)) {
    faults_.push_back(fmt::format("is told of a feed to {}, and does not listen there", heard.group));
  }
  HeardFeed feed;
  feed.opened = heard;
  feed.at = at;
  for (const Event& event : client_.events) {
    const auto* join = std::get_if<JoinRequested>(&event.what);
    if (join == nullptr || join->group != heard.group || event.at > at) continue;
    feed.is_rejoined = feed.wanted_at != Time{};
    feed.wanted_at = event.at;
  }
  for (const FeedEvent& event : client_.feeds) {
    const auto* listen = std::get_if<ListenAsked>(&event.what);
    if (listen == nullptr || listen->group != heard.group || event.at > at) continue;
    feed.wanted_at = std::max(feed.wanted_at, event.at);
  }
  feeds_.push_back(std::move(feed));
  covered_.emplace_back();
}

std::vector<FeedListening::Fault> FeedListening::read(bool at_rest) {
  for (const Event& event : client_.events) {
    if (const auto* join = std::get_if<JoinRequested>(&event.what)) wanted_.insert(join->group);
  }
  for (const FeedEvent& event : client_.feeds) {
    if (const auto* listen = std::get_if<ListenAsked>(&event.what)) {
      listens_.insert(listen->group);
    } else if (const auto* over = std::get_if<ListenOver>(&event.what)) {
      listens_.erase(over->group);
      for (HeardFeed& each : feeds_)
        each.is_cut_short = each.is_cut_short || (!each.over && each.opened.group == over->group);
    } else if (const auto* heard = std::get_if<FeedHeard>(&event.what)) {
      take(event.at, *heard);
      if (!wanted_.contains(heard->group)) {
        faults_.push_back(fmt::format("is told of a feed to {}, which it never joined", heard->group));
      }
    } else if (const auto* got = std::get_if<FeedGot>(&event.what)) {
      HeardFeed* feed = find_open(got->feed, "a message");
      if (feed == nullptr) continue;
      feed->messages.push_back(*got);
      cover(event.at, *feed, got->sequence, got->packets, got->packets == 1);
    } else if (const auto* missed = std::get_if<FeedMissed>(&event.what)) {
      HeardFeed* feed = find_open(missed->feed, "a gap");
      if (feed == nullptr) continue;
      feed->missed.push_back(*missed);
      cover(event.at, *feed, missed->first, missed->count, false);
    } else if (const auto* closed = std::get_if<FeedOver>(&event.what)) {
      HeardFeed* feed = find_open(closed->feed, "the end");
      if (feed != nullptr) feed->over = {event.at, closed->why};
    } else if (const auto* wrong = std::get_if<FeedFrameWrong>(&event.what)) {
      faults_.push_back(fmt::format("is told {}", wrong->what));
    }
  }
  for (const HeardFeed& each : feeds_) check_packets(each, at_rest && !client_.is_closed() && !each.is_cut_short);
  return std::move(faults_);
}

void FeedListening::check_packets(const HeardFeed& feed, bool at_rest) {
  std::vector<Stretch> covered = covered_[static_cast<std::size_t>(&feed - feeds_.data())];
  if (!feed.opened.is_ordered) {
    std::stable_sort(covered.begin(), covered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    // Where it has not come to its end, something may be on its way.
    if (!feed.over && !at_rest) {
      const auto hole = std::adjacent_find(covered.begin(), covered.end(),
                                           [](const auto& a, const auto& b) { return a.end < b.first; });
      if (hole != covered.end()) covered.erase(std::next(hole), covered.end());
    }
  }
  for (std::size_t i = 1; i < covered.size(); ++i) {
    const Stretch &before = covered[i - 1], &next = covered[i];
    const bool is_bundle = before.may_share && next.may_share && before.first == next.first;
    if (is_bundle || before.end == next.first) continue;
    faults_.push_back(fmt::format("is told of packets {} to {} of {} behind {} to {}", next.first, next.end - 1,
                                  feed.opened.source, before.first, before.end - 1));
    return;
  }
}

std::set<std::string> FeedListening::groups_at_end() const {
  std::set<std::string> groups;
  for (const std::string& group : listens_) {
    bool is_member = false;
    for (const Event& event : client_.events) {
      const auto* view = std::get_if<GroupView>(&event.what);
      if (view == nullptr || view->group != group) continue;
      is_member = std::find(view->members.begin(), view->members.end(), client_.name) != view->members.end();
    }
    if (is_member) groups.insert(group);
  }
  return groups;
}

}  // namespace spindled::checkers
