// The feeds that one client hears, put together from what it was told.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/checkers/history.h"

namespace spindled::checkers {

struct HeardFeed {
  FeedHeard opened;
  Time at{};
  Time wanted_at{};          // when the client last asked to be in its group, or to listen there
  bool is_rejoined = false;  // it had asked for that before
  std::vector<FeedGot> messages;
  std::vector<FeedMissed> missed;
  std::optional<std::pair<Time, spindle::FeedClosed::Why>> over{};
  /// What was told last, all at once: since when, and from which sequence on. With the end comes what was held back.
  Time told_at{};
  std::uint64_t told_from = 0;
  bool is_cut_short = false;  // the client has stopped listening, and is told nothing more

  /// A client that left the feed was told of this, and of all behind it, with the end: it may have been on its way.
  bool is_told_with_end(std::uint64_t sequence) const {
    return over && over->first == told_at && sequence >= told_from;
  }
};

/// Reads what a client was told of feeds, and finds what is wrong with it however much of the network is known.
class FeedListening {
 public:
  explicit FeedListening(const ClientHistory& client) : client_(client) {}

  /// One sentence each, without the client's name.
  using Fault = std::string;
  /// `at_rest`: nothing is on its way.
  std::vector<Fault> read(bool at_rest);

  const std::vector<HeardFeed>& feeds() const { return feeds_; }
  /// That it is a member of in the end, and listens to.
  std::set<std::string> groups_at_end() const;

 private:
  void take(Time at, const FeedHeard& heard);
  HeardFeed* find(spindle::FeedId id);
  HeardFeed* find_open(spindle::FeedId id, const char* what);
  void check_packets(const HeardFeed& feed, bool at_rest);
  /// A stretch of sequences in one message or gap; messages of one bundle have the same.
  void cover(Time at, HeardFeed& feed, std::uint64_t first, std::uint64_t count, bool is_bundled);

  struct Stretch {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    bool may_share = false;  // a message that may be of a bundle
  };

  const ClientHistory& client_;
  std::vector<HeardFeed> feeds_;
  std::vector<std::vector<Stretch>> covered_;  // of each, as it was told
  std::set<std::string> listens_, wanted_;     // groups
  std::vector<Fault> faults_;
};

}  // namespace spindled::checkers
