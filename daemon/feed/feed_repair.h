// Feeds at one daemon: packets on their way, and the repair of those that are lost.
#pragma once

#include <optional>

#include "daemon/feed/feed_sender.h"
#include "daemon/feed/feed_table.h"
#include "daemon/feed/nak_rules.h"
#include "daemon/feed/repair_config.h"
#include "daemon/feed/repair_output.h"

namespace spindled {

/// Repairs feeds near where packets are lost, as Light-Weight Multicast Services do (docs/feeds.md). Read in this
/// order: `Gaps`, what is missing and when it is asked for; `NakRules`, what is done about a request; `ReplierLink`,
/// where it is steered; `PacketCache`, what is kept. No sockets and no clock: frames come in with the link that they
/// came on and the time, and leave by `RepairOutput`.
///
/// Packets of a feed go along the tree of the view's shortest paths from its origin. The link to the next hop towards
/// the origin is the *upstream* of a feed here, and what comes from elsewhere is taken as a repair only. Nothing is
/// frozen while daemons agree on a view: frames of the former one are handled for a while after `install`.
///
/// Order of calls: `install` first; `handle_time` whenever `next_at` has come.
class FeedRepair {
 public:
  FeedRepair(const RepairConfig& config, RepairOutput& output);

  // Around it.

  /// `since`: the view began then.
  void install(Time now, FeedRoutes routes, Time since);
  void install(Time now, FeedRoutes routes) { install(now, std::move(routes), now); }
  void link_down(LinkId link);
  /// As it was measured; until then it is that of the view's snapshot. Told at even intervals, also where it is as
  /// before.
  void set_round_trip(LinkId link, Duration round_trip) { links_.set_round_trip(link, round_trip); }

  // Feeds of this daemon's own.

  /// The number is not in use. `first`: the lowest bits of the first packet's sequence.
  void open(std::uint32_t number, Duration repair_for, std::uint32_t first = 0);
  /// To all of `to` but this daemon; the sequence that the packet has.
  std::uint64_t send(Time now, std::uint32_t number, const MemberSet& to, std::uint8_t flags, ByteView payload);
  /// Nothing more is sent. Repairs are, for as long as they are of use.
  void close(Time now, std::uint32_t number);

  // Feeds of others.

  /// How long repairs of the feed are of use. `first`: the first packet, for a feed that has just been opened; without
  /// it, the feed begins with what comes next.
  void describe(Time now, const FeedKey& feed, Duration repair_for, std::optional<std::uint32_t> first);
  /// Nothing follows what is before `end`: what is missing of that is asked for.
  void finish(Time now, const FeedKey& feed, std::uint32_t end);
  /// Whether all of it has come, or is lost. Of a feed that is not known nothing is missing.
  bool is_whole(const FeedKey& feed, std::uint32_t end) const;
  /// There are no members here any more. What is sent until there are again is not sent here.
  void leave(const FeedKey& feed);
  /// There are members here. What was sent while there were none is not missing.
  void rejoin(const FeedKey& feed);
  /// The feed is over.
  void forget(const FeedKey& feed) { described_.erase(feed); }

  enum class Result : std::uint8_t {
    handled,
    malformed,     // does not fit the view: no daemon sends such a frame
    unknown_view,  // of a view that is not installed, yet or any more
  };
  Result handle(Time now, LinkId from, const FeedPacket& packet);
  Result handle(Time now, LinkId from, FeedNak&& nak);
  Result handle(Time now, LinkId from, const FeedGone& gone);
  Result handle(Time now, LinkId from, const FeedBeat& beat);

  /// PacketCache::resize.
  void set_cache_bytes(std::size_t bytes) { cache_.resize(bytes); }

  void handle_time(Time now);
  Time next_at() const { return table_.next_at(); }

  /// What is known of one that is active.
  struct State {
    std::uint64_t next = 0;          // sequence, from 0 on
    std::size_t missing = 0;         // packets that are asked for
    std::optional<LinkId> upstream;  // nothing: it is this daemon's own, or its origin is out of reach
    std::size_t branches = 0;        // links that it leaves by
  };
  std::optional<State> state_of(const FeedKey& feed) const;
  const PacketCache& cache() const { return cache_; }

  const RepairTally& tally() const { return tally_; }
  std::size_t feeds() const { return table_.size(); }
  bool has_room() const { return feeds() < kFeedsMax; }
  /// What the packets take that are kept, and what all of this does, about.
  std::size_t cached_bytes() const { return cache_.bytes(); }
  std::size_t memory_bytes() const;
  /// What sequences here are beyond what their first frames have.
  static constexpr std::uint64_t kSequenceBase = std::uint64_t{1} << 32;

 private:
  /// The view that a frame names.
  struct Named {
    const FeedRoutes* routes = nullptr;  // null: it is not known
    FeedTable::View view{};

    bool is_installed() const { return view == FeedTable::View::installed; }
  };
  Named find_view(Time now, std::uint16_t tag) const;
  /// Those of the former view's members that are in it.
  MemberSet in_installed_view(const MemberSet& former) const;
  /// One that has not been known; null where there is no room.
  Feed* begin(Time now, MemberIndex origin, std::uint32_t number, std::uint64_t first, Duration quiet);
  /// Likewise, one that has members here, whatever has come of it; null where its origin is in no view, too.
  Feed* begin(Time now, const FeedKey& key, std::uint64_t first);
  Feed* begin_again(Time now, const FeedKey& key, std::uint32_t end);
  void address(Feed& feed, const Named& named, const MemberSet& to);
  /// In the installed view.
  void address(Feed& feed, const MemberSet& to);
  void branch(Feed& feed);
  Duration nearest_replier(LinkId link, const MemberSet& members) const;

  Result handle_original(Time now, LinkId from, const Named& named, const FeedPacket& packet);
  Result handle_repair(Time now, LinkId from, const Named& named, const FeedPacket& packet);
  /// Nothing has come of the feed for long, or nobody can ask for its packets any more.
  void end(Time now, Feed& feed);
  /// Takes a packet in, if it is new.
  Gaps::Arrival take(Time now, Feed& feed, bool is_for_here, std::uint64_t sequence, const FeedPacket& packet);
  void forward(const Feed& feed, const FeedPacket& packet);

  /// Asks for what is missing, if it is time.
  void look_after(Time now, Feed& feed);
  void ask(Feed& feed, const Gaps::Ask& ask);
  void count_lost(const Gaps::Lost& lost);
  void report_lost(Feed& feed, const Gaps::Lost& lost);
  void beat(Time now, Feed& feed);
  void fit(Time now, Feed& feed);
  /// Its upstream is alive.
  void hear(Time now, Feed& feed, const FeedRoutes& routes, LinkId from);
  void time_of(Time now, Feed& feed);
  Time next_of(const Feed& feed) const;

  const RepairConfig config_;
  RepairOutput& output_;
  RepairTally tally_;
  PacketCache cache_;
  FeedLinks links_;
  FeedSender sender_;
  NakRules rules_;
  FeedTable table_;
  /// What is known of a feed that was described, as long as it is not over.
  struct Described {
    Duration repair_for{};
    /// Members here have had all before this sequence: of one that is forgotten because nothing has come for long.
    std::optional<std::uint64_t> next{};
  };
  std::map<FeedKey, Described> described_;
  FeedRoutes installed_, former_;
  std::vector<std::optional<MemberIndex>> new_indices_;  // of the former view's members, in the installed one
  Time former_until_{};
};

}  // namespace spindled
