// Frames of feeds, on their way out.
#pragma once

#include <array>
#include <vector>

#include "daemon/feed/gaps.h"
#include "daemon/feed/mean_round_trip.h"
#include "daemon/feed/repair_limits.h"
#include "daemon/feed/repair_output.h"
#include "daemon/overlay/feed_routes.h"

namespace spindled {

/// What has happened so far.
struct RepairTally {
  std::uint64_t packets_in = 0;                               // that were not repairs
  std::uint64_t asked = 0;                                    // NAKs of this daemon's own,
  std::array<std::uint64_t, Gaps::kTriesMax> asked_by_try{};  // the same, the first try first
  std::uint64_t naks_in = 0;                                  // that were not served
  std::uint64_t naks_forwarded = 0;                           // likewise
  std::uint64_t naks_refused = 0;                             // of neighbours that send too many
  std::uint64_t naks_ended = 0;                               // that have gone too far, or could go nowhere
  std::uint64_t naks_crossed = 0;                             // that a repair had crossed
  std::uint64_t repairs = 0;                                  // sent by this daemon: packets, not copies
  std::uint64_t own_repairs = 0;                              // of these, of feeds of this daemon's own
  std::uint64_t repairs_refused = 0;                          // copies that a link had no budget for
  std::uint64_t repairs_in = 0;                               // packets here that were repairs
  std::uint64_t upstream_repairs = 0;                         // of these, from the side of the origin
  std::uint64_t needless = 0;                                 // repairs to this daemon of what it had
  std::uint64_t duplicates = 0;                               // packets that came again, and were no repairs
  std::uint64_t late = 0;                                     // packets that came after they were given up
  std::uint64_t misrouted = 0;                                // frames that came from elsewhere than the feed does
  std::uint64_t gone = 0;                                     // sequences that were asked for, and that nobody has
  std::uint64_t lost = 0;                                     // sequences given up here,
  std::array<std::uint64_t, kGivenUpKinds> lost_by{};         // by GivenUp
  std::uint64_t feeds_refused = 0;                            // packets of feeds that there was no room for
};

/// What is known of each link.
class FeedLinks {
 public:
  /// `packet_bytes`: of a packet of full length.
  explicit FeedLinks(std::size_t packet_bytes) : packet_bytes_(packet_bytes) {}

  struct Link {
    explicit Link(std::size_t packet_bytes) : budget(packet_bytes) {}

    Duration round_trip{};  // zero: not measured
    MeanRoundTrip mean;
    RepairBudget budget;
    NakLimit naks;
  };

  Link& at(LinkId link) {
    const auto index = static_cast<std::size_t>(link);
    if (index >= links_.size()) links_.resize(index + 1, Link(packet_bytes_));
    return links_[index];
  }
  void forget(LinkId link) { at(link) = Link(packet_bytes_); }
  void set_round_trip(LinkId link, Duration round_trip) {
    at(link).round_trip = round_trip;
    at(link).mean.look(round_trip);
  }
  /// `way_us` of a NAK, that link included.
  std::uint32_t way_with(std::uint32_t way_us, LinkId link) {
    const Duration mean = at(link).mean.mean();
    const auto sum = static_cast<std::uint64_t>(way_us) + static_cast<std::uint64_t>(mean / 1us);
    return mean == Duration::zero() ? FeedNak::kWayUnknown
                                    : static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, FeedNak::kWayUnknown));
  }

 private:
  std::size_t packet_bytes_;
  std::vector<Link> links_;
};

/// Sends frames to sets of members, split by next hop.
class FeedSender {
 public:
  FeedSender(RepairOutput& output, FeedLinks& links, RepairTally& tally)
      : output_(output), links_(links), tally_(tally) {}

  /// `from`: where it came from, over which nothing goes back; nothing: it is from here. Whether a copy was sent.
  bool send_repair(Time now, const FeedRoutes& routes, FeedPacket packet, const MemberSet& to,
                   std::optional<LinkId> from);
  void send_packet(const FeedRoutes& routes, FeedPacket packet, const MemberSet& to, std::optional<LinkId> from);
  /// A gone or a beat.
  template <typename Frame>
  void send(const FeedRoutes& routes, Frame frame, std::optional<LinkId> from) {
    const MemberSet to = std::move(frame.to);
    split(routes, to, from, [&](LinkId link, const MemberSet& part) {
      frame.to = part;
      output_.send(link, frame);
    });
  }

 private:
  template <typename Visit>
  void split(const FeedRoutes& routes, const MemberSet& to, std::optional<LinkId> from, Visit&& visit) {
    routes.split(to, [&](LinkId link, const MemberSet& part) {
      if (link == from) {
        ++tally_.misrouted;
      } else {
        visit(link, part);
      }
    });
  }

  RepairOutput& output_;
  FeedLinks& links_;
  RepairTally& tally_;
};

/// A set as frames have it.
class EncodedSet {
 public:
  explicit EncodedSet(const MemberSet& set) {
    Writer writer(bytes_.data());
    set.write(writer);
    size_ = writer.size();
  }
  ByteView view() const { return {bytes_.data(), size_}; }

 private:
  std::array<std::uint8_t, 1 + kMembersMax / 8> bytes_;
  std::size_t size_ = 0;
};

}  // namespace spindled
