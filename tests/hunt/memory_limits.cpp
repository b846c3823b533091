#include "tests/hunt/memory_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/feed/early_frames.h"
#include "daemon/feed/feeds.h"
#include "daemon/group/early_messages.h"
#include "daemon/group/entering_messages.h"
#include "daemon/order/held_up.h"
#include "daemon/overlay/limits.h"
#include "tests/hunt/plan_bounds.h"

namespace spindled::hunt {

namespace {

/// Joins, leaves, reports and records wait for no window; the head of a message comes on top of its payload.
constexpr std::size_t kControlBytes = 64u << 10;
/// What a daemon originates without its clients: where it is in the order, and how its group table is, in each view.
constexpr std::size_t kIdleBytes = 16u << 10;
/// What the sequencer says of one message of anybody, at most: a run with its destinations, in a record of its own.
constexpr std::size_t kRecordBytes = 80;
/// Of the limit of memory, for what relays keep of contents; and what they may keep of each all the same.
constexpr std::size_t kRingsShare = 4;
constexpr std::size_t kRingBytesLeast = 64u << 10;
/// A change is ordered, and its client announced as a member.
constexpr std::size_t kTimesEachChange = 2;

/// What agreement on a view sends over one link for each daemon: its state, with its name and a number of each other
/// daemon's stream, and as much in the commit; a word for each of the other steps; and what it advertises.
constexpr std::size_t agreement_bytes(std::size_t daemons) { return daemons * (2 * (5 * daemons + 40) + 400); }
/// So many attempts at a view go over a link until it is either drained or given up.
constexpr std::size_t kAttempts = 4;

/// Packets that are kept, those that come too early, repairs that wait for the silence of their source, and what waits
/// in sources: what they begin with, and one message more, in slabs of which the first and the last are in use in part;
/// and four bytes for each message, which has as many. Besides, what is known of all feeds: which there are, who was
/// told of them, their packets by sequence, what of these is missing, and when those of own feeds were sent.
std::size_t feed_bytes(const NodeConfig& config, const PlanBounds& bounds, const PlanBounds::OfDaemon& from) {
  constexpr std::size_t kHeldBytes = 256 * 1'500;
  constexpr std::size_t kOfAPacket = 2'000;
  constexpr std::size_t kOfAListen = 300;
  const std::size_t cache = std::min(config.feed.cache_bytes, config.memory_bytes_max / 8) + kOfAPacket;
  constexpr std::size_t kSourceBytes = FeedSource::kLocalQueueBytes + Feeds::kMessageBytesMax;
  const std::size_t source = 2 * (kSourceBytes + SlabPool::kMediumBytes) + sizeof(FeedSource) + kOfAPacket;
  constexpr std::size_t kOfAFeed = sizeof(Feed) + 1'500;
  constexpr std::size_t kOfAListener = 16;
  constexpr std::size_t kOfAPacketOfAny = 2 * sizeof(std::uint64_t) + 96;
  constexpr std::size_t kOfAPacketSent = 2 * 16;
  constexpr std::size_t kLossPaths = 25'000;
  const std::size_t known = bounds.sum(&PlanBounds::OfDaemon::feeds) * (kOfAFeed + from.sessions * kOfAListener) +
                            bounds.sum(&PlanBounds::OfDaemon::feed_packets) * kOfAPacketOfAny +
                            from.feeds * kLossPaths + from.feed_packets * kOfAPacketSent;
  return cache + EarlyFrames::kBytesMax + FeedListeners::kEarlyBytesMax + kHeldBytes + from.feeds * source +
         from.listens * kOfAListen + known;
}

}  // namespace

// A message enters while there is room, so that one may exceed the window. Others keep it until they are told that it
// is stable, which they are each time that so many bytes have become so. A word of that which is on its way when the
// view ends they do not hear: all that it speaks of is kept, beside all that the origin had room for behind it. And no
// stream ever has more than the plan puts into it, which is the tighter limit where windows are wide.
MemoryLimits::MemoryLimits(const Plan& plan) : daemons_(plan.daemons) {
  const NodeConfig config = config_of(plan, 0);
  const PlanBounds bounds = bounds_of(plan);
  const std::size_t records = bounds.messages * kRecordBytes;
  const std::size_t window =
      std::min(config.session.send_window_bytes, config.order.retention_bytes_max) + bounds.message + kControlBytes;
  std::size_t windows = 0;
  for (HostIndex i = 0; i < plan.daemons; ++i) {
    const PlanBounds::OfDaemon& from = bounds.daemons[i];
    const std::size_t contents = from.messages + kTimesEachChange * from.changes + kIdleBytes;
    // What went ahead of a message in parts comes again with it where it gets further destinations.
    const std::size_t sent = contents + from.messages;
    const std::size_t stream = sent + records;  // any daemon may be the sequencer, and its own are among them
    const std::size_t kept = std::min(window + config.order.acknowledge_every_bytes, stream);
    const std::size_t kept_at_end = std::min(2 * window + config.order.acknowledge_every_bytes, stream);
    daemons_[i].own = std::min(window, stream);
    daemons_[i].sessions = from.sessions;
    daemons_[i].definitions = from.definitions;
    daemons_[i].feeds = feed_bytes(config, bounds, from);
    for (HostIndex other = 0; other < plan.daemons; ++other) {
      if (other == i) continue;
      daemons_[other].foreign = std::max(daemons_[other].foreign, kept);
      daemons_[other].foreign_at_end = std::max(daemons_[other].foreign_at_end, kept_at_end);
    }
    all_contents_ += contents;
    all_streams_ += std::min(2 * window + config.order.acknowledge_every_bytes, sent);
    windows += std::min(window, sent);
  }
  all_streams_ += records;
  // Unordered messages of a view, and what its end brings; reliable ones of the next one as well, which may begin, and
  // fill the windows of who has completed it, while this daemon has not.
  // Both what waits for the group layer and what waits there for its table may exceed the bound by one message.
  held_up_ = std::min(all_contents_, HeldUp::kBytesMax + EarlyMessages::kBytesMax + 2 * (bounds.message + windows));
  // What has come ahead of messages, of which each daemon lets so many enter part by part.
  partial_ = std::min(all_contents_, plan.daemons * EnteringMessages::room(config.memory_bytes_max, 1));
  // Of each message that some destination lacks one copy waits on a link, and so does one of what recovery pushes: the
  // end of a view empties the queue before. Unreliable messages, of which no window knows, come on top.
  link_data_ = all_streams_ + kUnreliableQueueBytes + bounds.message;
  link_control_ = kAttempts * agreement_bytes(plan.daemons);
  // For a client that is away as much may come as for others, beside what waited when its connection was lost.
  const bool any_returns =
      std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) { return step.returns; });
  queue_ = (any_returns ? 2 : 1) * config.session.queue_hard_bytes;
  session_kept_ = config.session.resume_bytes + config.session.queue_hard_bytes;
  clients_ = config.memory_bytes_max;
  groups_ = bounds.groups;
  memberships_ = bounds.memberships;
  bulk_rings_ = config.memory_bytes_max / kRingsShare;
}

void MemoryLimits::check(HostIndex host, const NodeMemory& memory) {
  const OfDaemon& limits = daemons_[host];
  hold(host, Kept::own_stream, memory.own_stream, limits.own);
  hold(host, Kept::foreign_stream, memory.foreign_stream, memory.view_ends ? limits.foreign_at_end : limits.foreign);
  hold(host, Kept::all_streams, memory.retained, all_streams_);
  hold(host, Kept::unordered, memory.unordered, all_contents_);
  hold(host, Kept::own_unordered, memory.own_unordered, limits.own);
  hold(host, Kept::pushed, memory.pushed, all_streams_);
  hold(host, Kept::held_up, memory.held_up, held_up_);
  hold(host, Kept::partial, memory.partial, partial_);
  hold(host, Kept::link_data, memory.link_data, link_data_);
  hold(host, Kept::link_control, memory.link_control, link_control_);
  hold(host, Kept::session_queue, memory.limited_queue, queue_);
  hold(host, Kept::session_kept, memory.session_kept, session_kept_);
  const std::size_t clients =
      std::min(memory.sessions_unfinished + memory.sessions_held + memory.sessions_queued, memory.slabs) +
      memory.sessions_definitions;
  hold(host, Kept::clients, clients, clients_);
  hold(host, Kept::definitions, memory.sessions_definitions, limits.definitions);
  hold(host, Kept::feeds, memory.feeds, limits.feeds);
  hold(host, Kept::sessions, memory.sessions, limits.sessions);
  hold(host, Kept::groups, memory.groups, groups_);
  hold(host, Kept::memberships, memory.memberships, memberships_);
  hold(host, Kept::bulk_rings, memory.bulk_rings, std::max(bulk_rings_, memory.bulk_channels * kRingBytesLeast));
}

std::string_view MemoryLimits::text_of(Kept kept) {
  constexpr std::string_view kTexts[] = {
      "bytes of its own messages",
      "bytes of another daemon's messages",
      "bytes of all messages",
      "bytes that wait for their place",
      "bytes of its own that wait for their place",
      "bytes that recovery brought",
      "bytes that wait for the group layer",
      "bytes of messages that are entering",
      "bytes of messages that wait on a link",
      "bytes of control frames that wait on a link",
      "bytes that wait for a client",
      "bytes that a client may have to get again",
      "bytes that all clients hold",
      "bytes of destinations that its clients have defined",
      "bytes of feeds",
      "clients",
      "groups",
      "memberships",
      "bytes of contents that it relays",
  };
  static_assert(std::size(kTexts) == static_cast<std::size_t>(Kept::count_));
  return kTexts[static_cast<std::size_t>(kept)];
}

void MemoryLimits::hold(HostIndex host, Kept kept, std::size_t amount, std::size_t limit) {
  Use& use = uses_[static_cast<std::size_t>(kept)];
  if (amount > use.most) use.most = amount;
  if (limit > 0) use.percent = std::max(use.percent, amount * 100 / limit);
  if (amount <= limit) return;
  Excess& excess = excesses_[{host, kept}];
  excess = {std::max(excess.amount, amount), limit};
}

void MemoryLimits::count(Tally& tally) const {
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    const std::string what(text_of(static_cast<Kept>(i)));
    tally.raise(what, uses_[i].most);
    tally.raise(what + ", % of the limit", uses_[i].percent);
  }
}

std::vector<Finding> MemoryLimits::findings() const {
  std::vector<Finding> findings;
  for (const auto& [key, excess] : excesses_) {
    const auto& [host, kept] = key;
    findings.push_back({fmt::format("memory: {}", text_of(kept)),
                        fmt::format("memory: {} kept {} {}, at most {} are due", name_of(host), excess.amount,
                                    text_of(kept), excess.limit)});
  }
  return findings;
}

}  // namespace spindled::hunt
