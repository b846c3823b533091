// The tree that the feeds of this daemon take.
#pragma once

#include <map>
#include <vector>

#include "daemon/feed/loss_paths.h"
#include "daemon/overlay/view.h"

namespace spindled {

/// Who reports losses is known by a number that outlives views, as LossPaths does.
class OwnTree final : public FeedTree {
 public:
  void install(const View& view);
  /// Of a member of the view that is installed, or, with its id, of another.
  FeedReporter reporter(const DaemonId& daemon);

  // FeedTree
  FeedReporter above(FeedReporter reporter) const override {
    return reporter < above_.size() ? above_[reporter] : reporter;
  }

 private:
  std::map<DaemonId, FeedReporter> numbers_;
  std::vector<FeedReporter> above_;  // by number
};

}  // namespace spindled
