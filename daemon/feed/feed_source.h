// One feed of a client of this daemon: what waits, and how fast it may leave.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/member_set.h"
#include "daemon/feed/feed_clients.h"
#include "daemon/feed/fragment_queue.h"
#include "daemon/feed/pacer.h"
#include "daemon/feed/rate.h"

namespace spindled {

/// What a source wants of its feed.
struct FeedTerms {
  std::string group;
  /// How long a repair is of use; zero: nothing is repaired.
  Duration repair_for{};
  /// Of payload; 0: as much as goes.
  std::uint64_t bytes_per_second_max = 0;
};

/// Who gets the packets of a feed at other daemons.
struct FeedDestinations {
  MemberSet members;
  std::size_t links = 0;  // that they are reached over
  Duration round_trip{};  // to the farthest of them; zero: not known
};

/// No I/O and no clock: who owns it takes packets when they may leave, sends them, and says how large they were.
///
/// The rate is that of the network where somebody elsewhere listens; where nobody does only the terms hold something
/// back, and without a rate in these the queue is there for one turn only. The source has *room* for what may wait: it
/// may have 20 ms of packets waiting, and is given as much anew as leaves.
class FeedSource {
 public:
  struct Owner {
    SessionId session = 0;
    std::string client;  // its name
  };
  /// `tree` and `slabs` outlive this one.
  FeedSource(FeedHandle handle, Owner owner, FeedTerms terms, Random random, const FeedTree& tree, SlabPool& slabs);

  FeedHandle handle() const { return handle_; }
  const Owner& owner() const { return owner_; }
  const FeedTerms& terms() const { return terms_; }
  /// As GroupTable::has_changed_since takes it.
  const std::vector<std::string>& groups() const { return groups_; }

  // From its client.

  bool has_room() const { return credit_ > 0; }
  void add(Time now, ByteView message);
  /// Nothing more is added.
  void close() { is_closing_ = true; }
  bool is_closing() const { return is_closing_; }
  /// The same, and nobody is there any more who has sent it: what waits may leave for as long as repairs are of use,
  /// and for kLeaveTimeMin at least, from when the feed is known to all. The rest is dropped.
  void abandon() { is_closing_ = is_abandoned_ = true; }
  /// The same, and what waits may not leave any more. Whether anything did.
  bool drop();

  // Its place in the order, and the view.

  /// The feed is known to all: packets may leave.
  void begin() { is_begun_ = true; }
  bool is_begun() const { return is_begun_; }
  /// `packet_bytes`: of the longest packet, with all that is around it; `rate_min`: as in FeedRateConfig.
  void set_destinations(Time now, FeedDestinations destinations, std::size_t packet_bytes, std::size_t rate_min = 0);
  const FeedDestinations& destinations() const { return destinations_; }

  // What leaves.

  /// The rate is what it is at that time from here on, and what waits.
  void advance(Time now);
  bool may_send(Time now);
  /// Where it may.
  FragmentQueue::Fragment take(std::size_t payload_max) { return queue_.take(payload_max); }
  /// A packet was sent with so many bytes of messages; it took `bytes` with all that is around them.
  void sent(Time now, std::uint64_t sequence, std::size_t payload, std::size_t bytes);
  /// A packet was sent again, to one of the links.
  void repaired(std::size_t bytes);
  /// Nothing may leave before, not even repairs.
  Time silent_until() const { return rate_ ? rate_->silent_until() : Time{}; }
  /// The share of ordered messages has kept a packet from a link.
  void yielded(Time now) { yielded_at_ = now; }
  /// Whether the rate has become less.
  bool lost(Time now, const LossReport& report);
  /// Packets so far.
  std::uint64_t packets() const { return packets_; }
  /// All has left, and nothing is to follow.
  bool is_drained() const { return is_closing_ && is_begun_ && queue_.empty(); }

  // What its client is told.

  /// The room that it is to be given now; it counts as given then.
  std::size_t take_room(std::size_t payload_max);
  /// Nothing where nothing is to be told now.
  std::optional<FeedFlow> take_flow(Time now);
  FeedFlow flow(Time now) const;

  /// When there may be something to send or to tell.
  Time next_at(Time now);
  /// That it takes of the pool, and beside it.
  std::size_t slab_bytes() const { return queue_.slab_bytes(); }
  std::size_t heap_bytes() const {
    return sizeof(FeedSource) + queue_.heap_bytes() + (rate_ ? rate_->heap_bytes() : 0);
  }
  std::size_t waiting_bytes() const { return queue_.bytes(); }
  const std::optional<FeedRate>& rate() const { return rate_; }

  static constexpr std::size_t kQueueBytesMax = 4u << 20;
  /// Where nobody elsewhere listens; less where the terms have a rate.
  static constexpr std::size_t kLocalQueueBytes = 256u << 10;
  /// What is unknown counts as that.
  static constexpr Duration kRoundTripUnknown = 100ms;
  /// Nobody is nearer: rates would depend on how fast daemons happen to answer.
  static constexpr Duration kRoundTripMin = 1ms;
  static constexpr Duration kFlowInterval = 200ms;
  static constexpr Duration kLeaveTimeMin = 1s;
  /// So long after the last packet the client is told of its flow.
  static constexpr Duration kActive = 1s;

 private:
  /// Payload for each byte that leaves, and of a packet, lately.
  double payload_share() const { return payload_mean_ / bytes_mean_; }
  /// Bytes of payload a second.
  double payload_rate() const;
  bool is_different(const FeedFlow& flow) const;

  const FeedHandle handle_;
  const Owner owner_;
  const FeedTerms terms_;
  const std::vector<std::string> groups_;
  Random random_;
  const FeedTree& tree_;

  FragmentQueue queue_;
  std::int64_t credit_ = 0;  // bytes of payload that the client may send
  bool is_closing_ = false;
  bool is_abandoned_ = false;
  Time dropped_at_ = kNever;  // what is left of one that is abandoned
  bool is_begun_ = false;
  FeedDestinations destinations_;
  std::optional<FeedRate> rate_;  // where somebody elsewhere listens
  FeedPacer pacer_;
  FeedPacer limit_;  // of payload, where the terms have one
  std::uint64_t packets_ = 0;
  double payload_mean_ = 0;  // 0: none has left
  double bytes_mean_ = 1;
  Time active_at_{};
  Time yielded_at_ = Time::min();
  std::optional<FeedFlow> told_;
  Time told_at_{};
};

}  // namespace spindled
