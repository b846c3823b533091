// What a daemon does about a NAK.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "daemon/feed/feed.h"
#include "daemon/feed/feed_sender.h"
#include "daemon/feed/repair_config.h"
#include "daemon/overlay/feed_routes.h"

namespace spindled {

/// The rules of Light-Weight Multicast Services (Papadopoulos, Parulkar and Varghese, sections II-F to III-F) for
/// daemons, which may have data where routers have none. Of the sequences that a NAK names, each goes by the first rule
/// that fits:
///
/// 1. What is here is sent to the members that the loss has affected, as far as it was addressed to them, and the NAK
///    goes on to the origin as *served*: its rate has to know. A first request that a repair has crossed is ignored.
/// 2. What this daemon has asked for itself is ignored: the repair will cover both.
/// 3. From the link that leads to the replier a NAK goes upstream. From another link downstream it is turned around:
///    this is the *turning point*, which says who is affected, unless that is said already, and steers the NAK to the
///    replier. From upstream it goes on to the replier.
/// 4. A replier that has not got it either sends the NAK upstream, for the same members.
///
/// Two things are added to the third rule, where `steer_by_losses` is set. A daemon that has passed a packet on knows
/// that the loss is below it, and says who is affected even where the NAK is on its way upstream; that saves all
/// others from a repair that they do not need. And where the origin is nearer than repliers are, what was lost below
/// goes to the origin.
///
/// From the third try on the turning point steers to the next best replier, and upstream, too: the first one may be
/// dead.
class NakRules {
 public:
  NakRules(const RepairConfig& config, RepairOutput& output, const PacketCache& cache, FeedSender& sender,
           RepairTally& tally)
      : config_(config), output_(output), cache_(cache), sender_(sender), tally_(tally) {}

  /// `feed`: null where this daemon knows nothing of it. The NAK is used up. Its indices are in the view of `routes`;
  /// `is_installed`: the feed's are, too.
  void handle(Time now, const FeedRoutes& routes, bool is_installed, LinkId from, Feed* feed, FeedNak& nak);
  /// Sends the served NAKs of a feed for which it is time.
  void send_served(Time now, Feed& feed, const FeedRoutes& routes);

 private:
  struct Arrival {
    Time now;
    const FeedRoutes& routes;
    bool is_installed;
    LinkId from;
    std::optional<LinkId> upstream;

    bool is_from_upstream() const { return upstream == from; }
  };
  /// What becomes of a sequence.
  enum class Fate : std::uint8_t {
    settled,     // there is nothing to be done
    served,      // it was sent
    lost_above,  // it has not come here, or nobody knows
    lost_below,  // it was passed on
  };
  Fate fate_of(const Arrival& arrival, Feed& feed, const FeedNak& nak, std::uint64_t sequence);
  void act(const Arrival& arrival, Feed& feed, FeedNak& nak, Fate fate);

  /// Whether it is a first request that a repair has crossed.
  bool has_crossed(const Arrival& arrival, const Feed& feed, const FeedNak& nak, std::uint64_t sequence,
                   const MemberSet& to);
  static void fill_affected(const Arrival& arrival, const Feed& feed, MemberSet& affected);
  static MemberSet asking(const Arrival& arrival, const Feed& feed, const FeedNak& nak);
  /// Who is to have the repair of a packet; nobody where it was not for them.
  MemberSet targets(const Arrival& arrival, const Feed& feed, const FeedNak& nak,
                    const PacketCache::Packet& packet) const;
  /// Whether the sequence was sent.
  bool serve(const Arrival& arrival, Feed& feed, const FeedNak& nak, std::uint64_t sequence,
             const PacketCache::Packet& packet);
  void serve_gone(const Arrival& arrival, const Feed& feed, const FeedNak& nak, std::uint64_t sequence);
  /// Says which were gone of the NAK, those side by side in one frame.
  void tell_gone(const Arrival& arrival);
  void pass_served(const Arrival& arrival, Feed& feed, const FeedNak& nak);
  void steer(const Arrival& arrival, Feed& feed, FeedNak& nak, bool is_lost_below);
  static bool is_origin_nearer(const Arrival& arrival, const Feed& feed, std::optional<LinkId> replier);
  void turn(const Arrival& arrival, Feed& feed, FeedNak& nak, LinkId replier);
  void send_up(const Arrival& arrival, FeedNak& nak);
  void send_down(LinkId link, FeedNak& nak);

  const RepairConfig& config_;
  RepairOutput& output_;
  const PacketCache& cache_;
  FeedSender& sender_;
  RepairTally& tally_;
  std::optional<FeedGone> gone_;  // only while a NAK is handled
};

}  // namespace spindled
