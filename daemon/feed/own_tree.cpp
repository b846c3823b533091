#include "daemon/feed/own_tree.h"

#include "daemon/overlay/shortest_paths.h"

namespace spindled {

FeedReporter OwnTree::reporter(const DaemonId& daemon) {
  const auto next = static_cast<FeedReporter>(above_.size());
  const auto [at, is_new] = numbers_.emplace(daemon, next);
  if (is_new) above_.push_back(next);
  return at->second;
}

void OwnTree::install(const View& view) {
  // Daemons that are gone have reported what counts; their numbers stay free.
  std::erase_if(numbers_, [&](const auto& each) { return !index_in(view.members, each.first); });
  for (std::size_t i = 0; i < above_.size(); ++i) above_[i] = static_cast<FeedReporter>(i);
  const ShortestPaths paths(Adjacency(view.size(), view.edges), view.self);
  for (std::size_t i = 0; i < view.size(); ++i) {
    const MemberIndex before = paths.predecessor(static_cast<MemberIndex>(i));
    const FeedReporter number = reporter(view.members[i]);
    if (before == ShortestPaths::kNone || before == view.self) continue;
    const FeedReporter of_before = reporter(view.members[before]);
    above_[number] = of_before;
  }
}

}  // namespace spindled
