#include "tests/checkers/feed_frames_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace spindled::checkers {

namespace protocol = spindle::protocol;

namespace {
/// Longer gaps are looked at in part.
constexpr std::uint64_t kGapMax = 10'000;
}  // namespace

std::optional<std::string> FeedFramesCheck::settle(protocol::FeedNumber feed, std::uint64_t first,
                                                   std::uint64_t count) {
  const auto heard = heard_.find(feed);
  if (heard == heard_.end()) return fmt::format("something of feed {}, which was not opened", feed);
  // To who is its source, too, the end of both is told once.
  if (heard->second.is_over && !heard->second.is_own) return fmt::format("something of feed {}, which is over", feed);
  for (std::uint64_t sequence = first; sequence < first + std::min(count, kGapMax); ++sequence) {
    if (!heard->second.settled.insert(sequence).second)
      return fmt::format("twice of packet {} of feed {}", sequence, feed);
  }
  return std::nullopt;
}

std::optional<std::string> FeedFramesCheck::take(const protocol::FeedNews& news) {
  if (const auto* opened = std::get_if<protocol::FeedOpened>(&news)) {
    Heard& heard = heard_[opened->feed];
    heard = {{}, false, heard.is_own};  // anew where the client has left the group meanwhile
  } else if (const auto* ready = std::get_if<protocol::FeedReady>(&news)) {
    heard_[ready->feed] = {{}, true, true};
  } else if (const auto* packet = std::get_if<protocol::FeedPacket>(&news)) {
    return settle(packet->feed, packet->sequence, 1);
  } else if (const auto* gap = std::get_if<protocol::FeedGap>(&news)) {
    return settle(gap->feed, gap->first, gap->count);
  } else if (const auto* ended = std::get_if<protocol::FeedEnded>(&news)) {
    const auto heard = heard_.find(ended->feed);
    if (heard == heard_.end() && ended->why == protocol::FeedEnd::left) {
      return fmt::format("that it has left feed {}, which was not opened", ended->feed);
    }
    if (heard != heard_.end() && std::exchange(heard->second.is_over, true) && !heard->second.is_own) {
      return fmt::format("twice of the end of feed {}", ended->feed);
    }
  }
  return std::nullopt;
}

}  // namespace spindled::checkers
