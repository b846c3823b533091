// What a client had to do with feeds: what it asked for, and what it was told.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "daemon/base/time.h"
#include "libclient/include/spindle/event.h"

namespace spindled::checkers {

// Of its own feeds; FeedId is its own name for a feed, in whatever session.

/// It asked for the feed: in a new session once more.
struct FeedAsked {
  spindle::FeedId feed = 0;
  std::string group;
  bool drops_oldest = false;
};
/// The library has taken a message, which may still be dropped where the feed drops its oldest. No two of a run are
/// equal.
struct FeedSent {
  spindle::FeedId feed = 0;
  std::uint64_t digest = 0;
};
struct FeedGivenUp {
  spindle::FeedId feed = 0;
};
/// It cannot send to it any more.
struct OwnFeedOver {
  spindle::FeedId feed = 0;
};
/// Its daemon has ended a feed of its own, as rules of access have changed. It may have given that feed up already, and
/// is told no more of which one it was.
struct OwnFeedDenied {};

// Of those that it hears.

struct ListenAsked {
  std::string group;
  bool is_ordered = false;
};
/// It does not listen any more, or may not.
struct ListenOver {
  std::string group;
};
struct FeedHeard {
  spindle::FeedId feed = 0;
  std::string group;
  std::string source;  // private name
  bool is_ordered = false;
  bool is_repaired = true;  // what is lost is asked for
};
struct FeedGot {
  spindle::FeedId feed = 0;
  std::uint64_t sequence = 0;
  std::uint64_t packets = 0;
  std::uint64_t digest = 0;
};
struct FeedMissed {
  spindle::FeedId feed = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  spindle::FeedGap::Cause cause{};
};
struct FeedOver {
  spindle::FeedId feed = 0;
  spindle::FeedClosed::Why why{};
};

/// A frame of its daemon's that breaks a promise (FeedFramesCheck).
struct FeedFrameWrong {
  std::string what;
};

struct FeedEvent {
  Time at{};
  std::variant<FeedAsked, FeedSent, FeedGivenUp, OwnFeedOver, OwnFeedDenied, ListenAsked, ListenOver, FeedHeard,
               FeedGot, FeedMissed, FeedOver, FeedFrameWrong>
      what;
};

}  // namespace spindled::checkers
