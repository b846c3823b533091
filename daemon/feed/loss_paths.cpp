#include "daemon/feed/loss_paths.h"

#include <algorithm>

namespace spindled {

namespace {

/// So many losses within so many packets times the loss of the leader.
struct Bound {
  std::size_t losses;
  double packets;
};
/// Quantiles of the gamma distribution of order k at k / 2,000.
constexpr Bound kBounds[] = {{1, 0.0005}, {2, 0.0454}, {4, 0.5188}, {8, 2.4746}, {16, 7.9741}, {32, 21.0908}};
/// No tree of daemons is deeper.
constexpr std::size_t kHopsMax = 64;

}  // namespace

std::size_t LossPaths::find(FeedReporter reporter) const {
  const auto found =
      std::find_if(links_.begin(), links_.end(), [&](const Link& link) { return link.reporter == reporter; });
  return found == links_.end() ? kNone : static_cast<std::size_t>(found - links_.begin());
}

/// In the place of the link that has not lost anything for the longest time, where there is no other; not of the
/// leader.
std::size_t LossPaths::find_or_add(FeedReporter reporter) {
  const std::size_t found = find(reporter);
  if (found != kNone) return found;
  if (links_.size() < kLinks) {
    links_.push_back({.reporter = reporter});
    return links_.size() - 1;
  }
  std::size_t oldest = leader_ == 0 ? 1 : 0;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (i != leader_ && links_[i].event_at < links_[oldest].event_at) oldest = i;
  }
  links_[oldest] = {.reporter = reporter};
  return oldest;
}

void LossPaths::lost(FeedReporter reporter, std::uint64_t sequence, Time sent_at, Duration same_event) {
  Link& link = links_[find_or_add(reporter)];
  if (link.events != 0 && (sequence <= link.event(0) || sent_at < link.event_at + same_event)) return;
  link.sequences[link.events++ % kEvents] = sequence;
  link.event_at = sent_at;
}

void LossPaths::sample(FeedReporter reporter, Duration round_trip) {
  const std::size_t found = find(reporter);
  if (found == kNone) return;
  Duration& mean = links_[found].round_trip;
  mean = mean == Duration::zero() ? round_trip : mean + (round_trip - mean) / 8;
}

/// Of one that has lost once, as if it had lost at the beginning of the feed, too.
double LossPaths::link_loss(const Link& link, std::uint64_t highest) const {
  if (link.events == 0) return 0;
  const std::size_t kept = link.kept();
  const std::uint64_t since = kept == 1 ? 0 : link.event(kept - 1);
  const double packets = static_cast<double>(std::max(highest, since + 1) - since);
  return static_cast<double>(std::max<std::size_t>(kept - 1, 1)) / packets;
}

double LossPaths::path_loss(std::size_t link, std::uint64_t highest) const {
  double loss = link_loss(links_[link], highest);
  if (tree_ == nullptr) return loss;
  FeedReporter reporter = links_[link].reporter;
  for (std::size_t hops = 0; hops < kHopsMax; ++hops) {
    const FeedReporter above = tree_->above(reporter);
    if (above == reporter) break;
    reporter = above;
    const std::size_t found = find(reporter);
    if (found != kNone) loss += link_loss(links_[found], highest);
  }
  return loss;
}

bool LossPaths::is_on_path(FeedReporter reporter, std::size_t link) const {
  FeedReporter on_path = links_[link].reporter;
  for (std::size_t hops = 0; hops < kHopsMax && on_path != reporter; ++hops) {
    const FeedReporter above = tree_ == nullptr ? on_path : tree_->above(on_path);
    if (above == on_path) return false;
    on_path = above;
  }
  return on_path == reporter;
}

bool LossPaths::is_on_worst(FeedReporter reporter, std::uint64_t highest) {
  const std::size_t link = find(reporter);
  if (link == kNone) return false;
  if (!has_leader() || takes_lead(link, highest)) leader_ = link;
  return is_on_path(reporter, leader_);
}

bool LossPaths::takes_lead(std::size_t link, std::uint64_t highest) const {
  if (link == leader_ || is_on_path(links_[link].reporter, leader_)) return false;
  const Link& other = links_[link];
  const double ratio = other.round_trip == Duration::zero() || links_[leader_].round_trip == Duration::zero()
                           ? 1
                           : to_seconds(links_[leader_].round_trip) / to_seconds(other.round_trip);
  // What its own link has to lose for each packet so that its path is as bad as the leader's.
  const double above = path_loss(link, highest) - link_loss(other, highest);
  const double as_bad = path_loss(leader_, highest) * ratio * ratio - above;
  if (as_bad <= 0) return true;
  return std::any_of(std::begin(kBounds), std::end(kBounds), [&](const Bound& bound) {
    if (other.kept() <= bound.losses) return false;
    return static_cast<double>(other.event(0) - other.event(bound.losses)) * as_bad < bound.packets;
  });
}

}  // namespace spindled
