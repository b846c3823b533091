// What a daemon knows of a feed that is active.
#pragma once

#include <optional>
#include <vector>

#include "daemon/feed/beats.h"
#include "daemon/feed/gaps.h"
#include "daemon/feed/packet_cache.h"
#include "daemon/feed/repair_limits.h"
#include "daemon/feed/repair_output.h"
#include "daemon/feed/replier_link.h"
#include "daemon/feed/served_naks.h"

namespace spindled {

/// Members that the feed's packets go to over one link.
struct FeedBranch {
  LinkId link{};
  std::vector<std::uint8_t> to;  // encoded
};

/// What the origin of a feed has besides.
struct OwnFeed {
  Beats beats;
  std::uint64_t oldest = 0;    // that is still here, or older
  Time forgotten_at = kNever;  // after it was closed
};

/// Soft state: it begins with the first packet or beat, and is forgotten when none has come for long. That of a feed of
/// this daemon's own begins and ends with the feed.
struct Feed {
  Feed(FeedKey named, MemberIndex its_origin, std::uint64_t first, Time quiet_until, std::size_t& open_gaps)
      : key(std::move(named)), origin(its_origin), gaps(first, quiet_until, open_gaps) {}

  const FeedKey key;
  MemberIndex origin;                        // in the view that is installed,
  std::optional<MemberIndex> former_origin;  // and in the former one, where it is known by that, too

  Gaps gaps;
  PacketCache::Index cached;
  ReplierLink replier;
  RecentRepairs recent;
  ServedNaks served;
  Time heard_at{};
  Time fitted_at{};        // PacketCache::fit
  Time wakes_at = kNever;  // in FeedTable

  // Whom the last packet of the installed view was addressed to, of those that it was still to reach here.
  std::vector<std::uint8_t> to;  // encoded
  MemberSet members;
  bool is_member = false;  // this daemon is among them, or has listeners all the same
  bool is_left = false;    // nobody here is a member any more, whatever that packet said
  std::vector<FeedBranch> branches;
  std::vector<ReplierLink::Candidate> candidates;  // a branch each

  std::optional<OwnFeed> own;

  /// What is missing can be had here.
  bool keeps_packets() const { return own || gaps.asks(); }
  /// The sequence that the NAK begins with.
  std::uint64_t first_of(const FeedNak& nak) const { return gaps.expand(nak.first); }
};

}  // namespace spindled
