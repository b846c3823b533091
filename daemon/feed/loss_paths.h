// Which of the paths below a feed's source is the worst.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "daemon/base/time.h"

namespace spindled {

/// Who has found a gap: it names the link above it, from the next daemon on the way to the source.
using FeedReporter = std::uint32_t;

/// The tree of a feed, as far as its source knows it.
class FeedTree {
 public:
  virtual ~FeedTree() = default;
  /// The next one on the way to the source that could report a loss; the reporter itself, where that is the source.
  virtual FeedReporter above(FeedReporter reporter) const = 0;
};

/// Losses of up to kLinks links, and the path that a TCP connection would have the least on: that with the largest
/// p·RTT², p being the losses of all its links for each packet. Losses of one round trip are one, as they are to TCP.
///
/// Of many links that are alike, the one with the largest estimate is another one after each loss, and a source that
/// obeyed it would obey too many: of 80 with a loss of 1 %, measured over eight intervals (RFC 5348), 1.7 times as many
/// as each has. So one path leads. Another takes the lead where its last losses, 1, 2, 4 ... 32 of them, have come in
/// so few packets as they would, if it were as bad as the leader, once in 2,000 times, 1,000 times, 500 times ...: the
/// probability of k losses within n packets is that of a Poisson process. A link that overloads says so within a few
/// round trips, and one that is a little worse in time.
class LossPaths {
 public:
  static constexpr std::size_t kLinks = 64;

  /// `tree`: nullptr: each reporter is a path of its own.
  explicit LossPaths(const FeedTree* tree) : tree_(tree) {}

  /// A packet, the `sequence`th of the feed, sent at `sent_at`, was lost above `reporter`. Losses of packets that were
  /// sent within `same_event` after the first one are one.
  void lost(FeedReporter reporter, std::uint64_t sequence, Time sent_at, Duration same_event);
  void sample(FeedReporter reporter, Duration round_trip);
  /// `highest`: the sequence that was sent last.
  bool is_on_worst(FeedReporter reporter, std::uint64_t highest);

  bool has_leader() const { return leader_ != kNone; }
  /// At the end of the path that leads.
  FeedReporter leader() const { return links_[leader_].reporter; }
  /// Losses for each packet on it.
  double loss(std::uint64_t highest) const { return has_leader() ? path_loss(leader_, highest) : 0; }
  /// Of memory, beside this itself.
  std::size_t heap_bytes() const { return links_.capacity() * sizeof(Link); }

 private:
  static constexpr std::size_t kEvents = 33;
  static constexpr std::size_t kNone = kLinks;

  struct Link {
    FeedReporter reporter = 0;
    std::uint64_t events = 0;  // ever; the last ones have their places in `sequences`
    std::array<std::uint64_t, kEvents> sequences{};
    Time event_at{};  // the first packet of the last one was sent
    Duration round_trip{};

    /// The last one has the number 0.
    std::uint64_t event(std::size_t back) const { return sequences[(events - 1 - back) % kEvents]; }
    std::size_t kept() const { return events < kEvents ? static_cast<std::size_t>(events) : kEvents; }
  };

  std::size_t find(FeedReporter reporter) const;
  std::size_t find_or_add(FeedReporter reporter);
  double link_loss(const Link& link, std::uint64_t highest) const;
  double path_loss(std::size_t link, std::uint64_t highest) const;
  bool is_on_path(FeedReporter reporter, std::size_t link) const;
  bool takes_lead(std::size_t link, std::uint64_t highest) const;

  const FeedTree* tree_;
  std::vector<Link> links_;
  std::size_t leader_ = kNone;
};

}  // namespace spindled
