// The trees of the channels: who plans them, and what this daemon makes of a plan.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/base/log.h"
#include "daemon/base/timers.h"
#include "daemon/bulk/relayed_channel.h"
#include "daemon/bulk/tree_plan.h"
#include "daemon/channel/channels.h"
#include "daemon/overlay/overlay.h"

namespace spindled {

/// The root of a channel, which is the daemon of the source where there is one, plans its tree and tells the others.
/// Changes of receivers are taken together for a moment; and now and then the root looks whether another tree would be
/// much better. Where many channels are to be planned, as behind a change of the view, turns share that. A plan may
/// come before its channel, before what makes its daemon the root, and behind what ends that: only that of the root by
/// this daemon's own table is followed.
class ChannelTrees {
 public:
  /// `followed` is called with a channel that has a new position.
  ChannelTrees(Context& context, Overlay& overlay, const Groups& groups, const Channels& channels,
               RelayedChannels& relayed, std::function<void(Time, RelayedChannel&)> followed);

  /// The channel is new here, or its receivers have changed, or its source.
  void changed(Time now, const Channel& channel);
  void ended(const BulkChannelId& id) { early_plans_.erase(id); }
  /// Whether others may get a place below this daemon, the root, in a moment: somebody of the audience has not said yet
  /// whether he wants the content, or a plan is due.
  bool may_grow(const Channel& channel, const RelayedChannel& relayed) const;

  void handle_time(Time now);
  Time next_deadline() const { return timers_.next(); }

 private:
  enum class Timer : std::uint8_t { plan, replan, count_ };

  /// Nothing where nobody has the content, and nobody wants it.
  std::optional<MemberIndex> root_of(const Channel& channel) const;
  bool is_root(const Channel& channel) const { return root_of(channel) == groups_.view().self; }
  /// As many as a turn may, and one at least.
  void plan_due(Time now);
  /// Where some daemon would get the content much faster those are planned anew that were planned here.
  void replan_due(Time now);
  TreeInput input_for(const Channel& channel, const std::vector<std::uint64_t>& capacities) const;
  /// Of the edges of the view, as far as they are known.
  std::vector<std::uint64_t> capacities() const;
  /// In the installed view.
  bool was_planned_here(const RelayedChannel& relayed) const;
  void plan(Time now, RelayedChannel& relayed, const Channel& channel, const std::vector<std::uint64_t>& capacities);
  bool plan_received(Time now, ByteView content);
  /// Follows the early plan of the channel's root, where there is one, and forgets one of another view.
  void follow_early(Time now, const Channel& channel, RelayedChannel& relayed);
  void follow(Time now, RelayedChannel& relayed, const TreePlan& plan);

  Context& context_;
  Log log_;
  Overlay& overlay_;
  const Groups& groups_;
  const Channels& channels_;
  RelayedChannels& relayed_;
  std::function<void(Time, RelayedChannel&)> followed_;
  /// Of a channel that is not known yet, or of a daemon that is not its root. In another view it means nothing.
  struct EarlyPlan {
    ViewId view;
    TreePlan plan;
  };
  std::map<BulkChannelId, EarlyPlan> early_plans_;
  std::optional<BulkChannelId> planned_last_;  // where others were left for the next turn
  Timers<Timer> timers_;
};

}  // namespace spindled
