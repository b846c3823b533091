// Frames that came before the view they belong to was installed.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "daemon/base/slab.h"
#include "daemon/link/link_id.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

/// Neighbours install a view at slightly different times; what those who are first send waits here. Holds at most
/// kEarlyBytesMax, of which each frame takes kFrameCost besides its own bytes.
class EarlyFrames {
 public:
  static constexpr std::size_t kFrameCost = 64;

  struct Frame {
    LinkId link{};
    LinkFrame type{};
    Slice body;
  };

  /// False, and nothing kept, where there is no room.
  bool add(const ViewId& view, Frame frame);
  /// The frames of `view`, link after link, those of each in the order they came.
  std::vector<Frame> take(const ViewId& view);
  /// Forgets the frames of all views below `view`; how many there were.
  std::size_t drop_below(const ViewId& view);
  void drop_link(LinkId link);

  std::size_t bytes() const { return bytes_; }

 private:
  using Key = std::pair<ViewId, LinkId>;

  void forget(const std::vector<Frame>& frames);

  std::map<Key, std::vector<Frame>> frames_;
  std::size_t bytes_ = 0;
};

}  // namespace spindled
