// The channels that this daemon relays.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/base/log.h"
#include "daemon/bulk/relay/channel_relay.h"
#include "daemon/bulk/tree_plan.h"
#include "daemon/channel/channel.h"

namespace spindled {

class BulkOutput;
class ChannelMesh;
class RelayedChannels;

/// The place in the tree of a channel, by the latest plan.
struct TreePosition {
  std::optional<std::string> parent;
  std::optional<std::string> backup;
  std::set<std::string, std::less<>> below;
  std::set<std::string, std::less<>> children;  // those below whose parent this daemon is
  Time since{};                                 // that this parent has been the parent,
  bool is_parent_lost = false;  // and whether a hop to it has been lost since then, or could not be opened
  int asked_anew = 0;           // how often it or the backup was, by this plan and over this hop, as it was silent
  std::uint8_t generation = 0;
  /// The daemons of all places, in the order of the plan; the place of this one, of its parent and its children.
  std::vector<std::string> places;
  std::optional<MemberIndex> own_place;
  std::optional<MemberIndex> parent_place;
  std::vector<MemberIndex> child_places;
  std::set<MemberIndex> below_places;  // of all that are below this daemon, however far
  bool is_only_child = false;
};

/// One channel. What its relay has connections send goes into their queues at once, and is written at the end of the
/// turn.
struct RelayedChannel final : RelayOutput {
  RelayedChannel(RelayedChannels& among, BulkOutput& output, const Channel& channel);
  ~RelayedChannel() override;

  void set_layout(const ContentLayout& to);

  void may_send(ConnectionId to) override;
  void send_need(ConnectionId to, std::uint8_t stream, const spindle::bulk::Need& need) override;
  void send_grant(ConnectionId to, std::uint8_t stream, std::uint64_t symbols) override;
  void send_release(ConnectionId to, std::uint8_t stream) override;
  void ask_index(ConnectionId to) override;
  void wake_at(Time when) override;

  RelayedChannels& all;
  BulkOutput& out;
  BulkChannelId id;
  ContentLayout layout;
  std::uint32_t weight;
  ChannelRelay relay;
  TreePosition position;
  std::unique_ptr<ChannelMesh> mesh;            // where this daemon takes part in one
  std::set<std::string, std::less<>> suspects;  // daemons that are not asked as peers: what they gave was wrong
  bool is_plan_due = false;
  bool is_replan_due = false;    // where another tree would be much better
  std::optional<TreePlan> plan;  // where it was made here, in that view
  ViewId planned_in;
  ChannelRelay::Tally counted;      // of what the relay has told
  std::uint64_t wrong_indexes = 0;  // that were logged
  std::uint64_t news = 0;           // of the tally, when that was last looked at
  Time wakes_at = kNever;           // RelayedChannels::wake
  Time awaited_at{};                // when it was looked who is going to ask here,
  Time awaited_due = kNever;        // and is to be again
};

/// All of them: what memory their rings share, and when a relay has something to do.
class RelayedChannels {
 public:
  /// `hasher` outlives it.
  RelayedChannels(Context& context, const spindle::bulk::Hasher& hasher)
      : context_(context), log_(context.log_sink, "bulk"), hasher_(hasher) {}

  RelayedChannel* find(const BulkChannelId& id) const;
  /// Null where it is there already.
  RelayedChannel* add(BulkOutput& output, const Channel& channel);
  void remove(const BulkChannelId& id);
  void clear();
  auto begin() const { return channels_.begin(); }
  auto end() const { return channels_.end(); }

  /// The channel has something to do at that time, or earlier.
  void wake(RelayedChannel& channel, Time at);
  Time next_deadline() const { return std::min(next_wake(), share_at_); }
  /// Has relays do what is due. `done` is called with each of those, and wakes it for what else there is.
  template <typename Done>
  void handle_time(Time now, Done&& done) {
    if (now >= share_at_) share_memory();
    const std::vector<RelayedChannel*> due = take_due(now);
    if (!due.empty()) share_at_ = std::min(share_at_, now + kSharePeriod);
    for (RelayedChannel* channel : due) {
      context_.turn.count_step(1);
      channel->relay.handle_time(now);
      count(*channel);
      done(*channel);
      wake(*channel, channel->relay.next_deadline());
    }
  }
  std::size_t ring_bytes() const { return ring_bytes_; }
  /// What all rings have at this moment.
  std::size_t rings_bytes() const;
  std::size_t size() const { return channels_.size(); }
  const spindle::bulk::Hasher& hasher() const { return hasher_; }

 private:
  /// So long after relays have done something.
  static constexpr Duration kSharePeriod = 50ms;

  Time next_wake() const { return wakes_.empty() ? kNever : wakes_.begin()->first; }
  /// Those for which it is time. They are woken anew.
  std::vector<RelayedChannel*> take_due(Time now);
  /// Shares what there is of memory among the rings, and counts what they, the indexes and needs take.
  void share_memory();
  void count(RelayedChannel& channel);

  Context& context_;
  Log log_;
  const spindle::bulk::Hasher& hasher_;
  std::map<BulkChannelId, std::unique_ptr<RelayedChannel>> channels_;
  std::set<std::pair<Time, BulkChannelId>> wakes_;
  Time share_at_ = kNever;  // memory
  std::size_t ring_bytes_ = 0;
};

}  // namespace spindled
