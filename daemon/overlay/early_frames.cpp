#include "daemon/overlay/early_frames.h"

#include <iterator>

#include "daemon/overlay/limits.h"

namespace spindled {

bool EarlyFrames::add(const ViewId& view, Frame frame) {
  const std::size_t cost = frame.body.size() + kFrameCost;
  if (bytes_ + cost > kEarlyBytesMax) return false;
  bytes_ += cost;
  frames_[Key{view, frame.link}].push_back(std::move(frame));
  return true;
}

std::vector<EarlyFrames::Frame> EarlyFrames::take(const ViewId& view) {
  std::vector<Frame> taken;
  auto at = frames_.lower_bound(Key{view, LinkId{0}});
  while (at != frames_.end() && at->first.first == view) {
    forget(at->second);
    taken.insert(taken.end(), std::make_move_iterator(at->second.begin()), std::make_move_iterator(at->second.end()));
    at = frames_.erase(at);
  }
  return taken;
}

std::size_t EarlyFrames::drop_below(const ViewId& view) {
  std::size_t dropped = 0;
  const auto end = frames_.lower_bound(Key{view, LinkId{0}});
  for (auto at = frames_.begin(); at != end; at = frames_.erase(at)) {
    forget(at->second);
    dropped += at->second.size();
  }
  return dropped;
}

void EarlyFrames::drop_link(LinkId link) {
  std::erase_if(frames_, [&](const auto& item) {
    if (item.first.second != link) return false;
    forget(item.second);
    return true;
  });
}

void EarlyFrames::forget(const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) bytes_ -= frame.body.size() + kFrameCost;
}

}  // namespace spindled
