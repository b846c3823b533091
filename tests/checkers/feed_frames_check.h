// Holds the frames that a daemon sends of feeds to what docs/wire-format.md promises. A library that forgives hides
// what is wrong with them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "libclient/protocol/feed_frames.h"

namespace spindled::checkers {

/// Of one session. A feed has been opened before anything else is told of it, and nothing is behind its end. Each
/// sequence is in one packet or in one gap, and never in both.
class FeedFramesCheck {
 public:
  /// What is wrong with it.
  std::optional<std::string> take(const spindle::protocol::FeedNews& news);

 private:
  struct Heard {
    std::set<std::uint64_t> settled;  // sequences
    bool is_over = false;
    bool is_own = false;  // its end may be told once more, to its source
  };
  std::optional<std::string> settle(spindle::protocol::FeedNumber feed, std::uint64_t first, std::uint64_t count);

  std::map<spindle::protocol::FeedNumber, Heard> heard_;
};

}  // namespace spindled::checkers
