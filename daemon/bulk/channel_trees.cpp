#include "daemon/bulk/channel_trees.h"

#include <algorithm>
#include <utility>

namespace spindled {

namespace bulk = spindle::bulk;

namespace {

/// Changes of receivers are taken together for this long before the tree is planned anew.
constexpr Duration kPlanDelay = 20ms;
/// How often it is looked whether another tree would be better,
constexpr Duration kReplan = 10s;
/// and by how much the content has to come faster to some daemon.
constexpr double kReplanGain = 1.3;
/// Of all channels that there may be: a root does not tell a plan twice.
constexpr std::size_t kEarlyPlansMax = ChannelTable::kChannelsMax;
/// Edges of the view that a plan goes through in a unit of TurnWork.
constexpr std::size_t kEdgesOfUnit = 8;

/// Whether every daemon that has a place in `plan` has one in this.
bool has_all_of(const TreePlan& in, const TreePlan& plan) {
  return std::all_of(plan.places.begin(), plan.places.end(),
                     [&](const TreePlace& place) { return in.find(place.member) != nullptr; });
}

}  // namespace

ChannelTrees::ChannelTrees(Context& context, Overlay& overlay, const Groups& groups, const Channels& channels,
                           RelayedChannels& relayed, std::function<void(Time, RelayedChannel&)> followed)
    : context_(context),
      log_(context.log_sink, "bulk"),
      overlay_(overlay),
      groups_(groups),
      channels_(channels),
      relayed_(relayed),
      followed_(std::move(followed)) {
  overlay_.streams().handle(LinkFrame::bulk_plan, [this](Time now, LinkId, const Slice& content) {
    return plan_received(now, content.view());
  });
}

void ChannelTrees::changed(Time now, const Channel& channel) {
  RelayedChannel* relayed = relayed_.find(channel.id);
  if (relayed == nullptr) return;
  if (!is_root(channel)) {
    // Another root may plan, and tell only those that have a place: what was planned here may be followed no more.
    relayed->plan.reset();
    follow_early(now, channel, *relayed);
    return;
  }
  relayed->is_plan_due = true;
  timers_.set_earlier(Timer::plan, now + kPlanDelay);
}

bool ChannelTrees::may_grow(const Channel& channel, const RelayedChannel& relayed) const {
  const auto is_open = [](const ChannelReceiver& each) { return each.outcome == BulkOutcome::none; };
  return is_root(channel) &&
         (relayed.is_plan_due || std::any_of(channel.audience.begin(), channel.audience.end(), is_open));
}

void ChannelTrees::handle_time(Time now) {
  if (timers_.take_due(Timer::replan, now)) replan_due(now);
  if (timers_.take_due(Timer::plan, now)) plan_due(now);
}

std::optional<MemberIndex> ChannelTrees::root_of(const Channel& channel) const {
  if (const std::optional<MemberIndex> source = channels_.source_daemon(channel)) return source;
  if (!channels_.is_renumbered(channel)) return std::nullopt;
  if (const MemberSet holding = channel.holding(); !holding.empty()) return holding.front();
  if (const MemberSet lacking = channel.lacking(); !lacking.empty()) return lacking.front();
  return std::nullopt;
}

void ChannelTrees::plan_due(Time now) {
  const std::vector<std::uint64_t> known = capacities();
  const std::size_t work = 1 + known.size() / kEdgesOfUnit;
  context_.turn.count_step(work);
  bool has_planned = false;
  // Those behind the last one that was planned come first: it may be due again in each turn.
  const std::optional<BulkChannelId> last = planned_last_;
  const auto is_behind = [&](const BulkChannelId& id) { return !last || *last < id; };
  std::vector<BulkChannelId> due;
  for (const auto& [id, relayed] : relayed_) {
    if (relayed->is_plan_due || relayed->is_replan_due) due.push_back(id);
  }
  std::stable_partition(due.begin(), due.end(), is_behind);
  for (const BulkChannelId& id : due) {
    RelayedChannel* const relayed = relayed_.find(id);
    if (relayed == nullptr) continue;
    if (has_planned && context_.turn.is_over()) return timers_.set_earlier(Timer::plan, now);
    planned_last_ = id;
    const bool is_needed = std::exchange(relayed->is_plan_due, false);
    relayed->is_replan_due = false;
    const Channel* channel = channels_.table().find(id);
    // What is not renumbered yet is told of as changed when it is.
    if (channel == nullptr || !channels_.is_renumbered(*channel) || !is_root(*channel)) continue;
    if (!is_needed && !was_planned_here(*relayed)) continue;
    plan(now, *relayed, *channel, known);
    context_.turn.count_step(work);
    has_planned = true;
  }
  planned_last_.reset();
}

std::vector<std::uint64_t> ChannelTrees::capacities() const {
  const View& view = groups_.view();
  std::vector<std::uint64_t> capacities;
  capacities.reserve(view.edges.size());
  for (const Edge& edge : view.edges) {
    capacities.push_back(overlay_.link_state().capacity(view.members[edge.a], view.members[edge.b]));
  }
  return capacities;
}

TreeInput ChannelTrees::input_for(const Channel& channel, const std::vector<std::uint64_t>& capacities) const {
  const View& view = groups_.view();
  return {view, view.self, channel.lacking() | channel.holding(), capacities};
}

bool ChannelTrees::was_planned_here(const RelayedChannel& relayed) const {
  return relayed.plan && relayed.planned_in == groups_.view().id;
}

void ChannelTrees::plan(Time now, RelayedChannel& relayed, const Channel& channel,
                        const std::vector<std::uint64_t>& capacities) {
  if (channel.lacking().empty()) return;
  const View& view = groups_.view();
  const TreeInput input = input_for(channel, capacities);
  TreePlan plan = plan_tree(input);
  // Who is done, and who has left, need not have the others begin anew. Nor is a tree that leads through who is silent
  // a faster one: what its links carried says nothing of that, and those below it have their backups.
  const bool goes_on = was_planned_here(relayed) && has_all_of(*relayed.plan, plan);
  if (goes_on && (relayed.relay.has_silent_child(now) || largest_gain(*relayed.plan, plan, input) < kReplanGain))
    return;
  if (goes_on) log_.info("another tree for channel {} is faster", bulk::to_string(relayed.id));
  plan.generation = ++relayed.position.generation;
  context_.counters.add(Counter::bulk_plans_made);
  MemberSet others;
  for (const TreePlace& place : plan.places) others.insert(place.member);
  others.erase(view.self);
  if (!others.empty()) {
    overlay_.streams().send(LinkFrame::bulk_plan, others, write_tree_plan(relayed.id, plan));
  }
  follow(now, relayed, plan);
  relayed.plan = std::move(plan);
  relayed.planned_in = view.id;
  timers_.set_earlier(Timer::replan, now + kReplan);
}

void ChannelTrees::replan_due(Time now) {
  for (auto& [id, relayed] : relayed_) {
    const Channel* channel = channels_.table().find(id);
    if (channel == nullptr || !relayed->plan || !is_root(*channel) || channel->lacking().empty()) continue;
    timers_.set_earlier(Timer::replan, now + kReplan);
    relayed->is_replan_due = true;
    timers_.set_earlier(Timer::plan, now);
  }
}

bool ChannelTrees::plan_received(Time now, ByteView content) {
  std::optional<ToldTreePlan> told = read_tree_plan(content, groups_.view().size());
  if (!told) return false;
  RelayedChannel* relayed = relayed_.find(told->channel);
  const Channel* channel = channels_.table().find(told->channel);
  if (relayed != nullptr && channel != nullptr && root_of(*channel) == told->plan.places.front().member) {
    follow(now, *relayed, told->plan);
    return true;
  }
  if (early_plans_.size() == kEarlyPlansMax) {
    std::erase_if(early_plans_, [&](const auto& each) { return each.second.view != groups_.view().id; });
  }
  if (early_plans_.size() < kEarlyPlansMax) {
    early_plans_.insert_or_assign(told->channel, EarlyPlan{groups_.view().id, std::move(told->plan)});
  }
  return true;
}

void ChannelTrees::follow_early(Time now, const Channel& channel, RelayedChannel& relayed) {
  const auto early = early_plans_.find(channel.id);
  if (early == early_plans_.end()) return;
  const bool is_of_view = early->second.view == groups_.view().id;
  if (is_of_view && root_of(channel) != early->second.plan.places.front().member) return;
  const auto taken = early_plans_.extract(early);
  if (is_of_view) follow(now, relayed, taken.mapped().plan);
}

void ChannelTrees::follow(Time now, RelayedChannel& relayed, const TreePlan& plan) {
  const View& view = groups_.view();
  const auto name_of = [&](MemberIndex member) { return view.members[member].name; };
  context_.counters.add(Counter::bulk_plans_followed);
  relayed.plan.reset();
  TreePosition position;
  position.generation = plan.generation;
  MemberSet below;  // each place stands behind its parent
  const TreePlace* own = plan.find(view.self);
  if (own != nullptr && own->parent != own->member) position.parent = name_of(own->parent);
  if (own != nullptr && own->backup) position.backup = name_of(*own->backup);
  for (const TreePlace& place : plan.places) {
    const auto number = static_cast<MemberIndex>(position.places.size());
    position.places.push_back(name_of(place.member));
    if (own != nullptr && own != &place && place.member == own->parent) position.parent_place = number;
    if (place.member == view.self) {
      position.own_place = number;
      below.insert(place.member);
      continue;
    }
    if (below.contains(place.parent)) {
      below.insert(place.member);
      position.below_places.insert(number);
    }
    if (place.parent == view.self || place.backup == view.self) position.below.insert(name_of(place.member));
    if (place.parent == view.self) {
      position.children.insert(name_of(place.member));
      position.child_places.push_back(number);
    }
  }
  if (position.parent) {
    position.is_only_child = std::count_if(plan.places.begin(), plan.places.end(), [&](const TreePlace& place) {
                               return place.parent == own->parent && place.member != place.parent;
                             }) == 1;
  }
  const bool is_same_parent = position.parent == relayed.position.parent;
  position.since = is_same_parent ? relayed.position.since : now;
  position.is_parent_lost = is_same_parent && relayed.position.is_parent_lost;
  relayed.relay.set_plan(position.generation, position.below);
  relayed.position = std::move(position);
  followed_(now, relayed);
}

}  // namespace spindled
