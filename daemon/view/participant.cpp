#include "daemon/view/participant.h"

#include <algorithm>
#include <utility>

#include "daemon/base/check.h"
#include "daemon/view/topology_difference.h"

namespace spindled {

// Steady.

namespace {

void keep_while(bool condition, Time now, std::optional<Time>& since) {
  if (!condition) {
    since.reset();
  } else if (!since) {
    since = now;
  }
}

}  // namespace

Time Steady::change_due(Time now, const Topology& reachable, const HoldDowns& hold_downs, const ViewConfig& config) {
  const TopologyChanges changes = compare(view_, reachable);
  keep_while(changes.any_lost(), now, lost_since_);
  keep_while(changes.any_gained(), now, gained_since_);
  keep_while(changes.reweighed, now, reweighed_since_);
  if (lost_since_) return *lost_since_;
  if (gained_since_) {
    Time due = *gained_since_;
    for (const MemberIndex member : changes.gained_members) due = std::max(due, hold_downs.member_ready_at(member));
    for (const std::size_t edge : changes.gained_edges) due = std::max(due, hold_downs.edge_ready_at(edge));
    return due;
  }
  if (reweighed_since_) return *reweighed_since_ + config.reroute_delay;
  return kNever;
}

// Answered.

namespace {

bool are_sound(const std::vector<Edge>& edges, std::size_t members) {
  const auto is_sound = [&](const Edge& edge) { return edge.a < edge.b && edge.b < members && edge.weight >= 1; };
  const auto by_ends = [](const Edge& x, const Edge& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); };
  return std::all_of(edges.begin(), edges.end(), is_sound) && std::is_sorted(edges.begin(), edges.end(), by_ends);
}

/// Whether each of `members` is in exactly one of the transitions.
bool are_partition(const std::vector<Transition>& transitions, std::size_t members) {
  std::vector<bool> seen(members, false);
  std::size_t count = 0;
  for (const Transition& transition : transitions) {
    for (const Transition::Member& member : transition.members) {
      if (member.index >= members || seen[member.index]) return false;
      seen[member.index] = true;
      ++count;
    }
  }
  return count == members;
}

}  // namespace

Result<const Transition*> Answered::check(const Commit& commit, const View& old_view) const {
  const DaemonId& self = old_view.members[old_view.self];
  if (commit.proposal != propose_.proposal) return fail(Errc::bad_argument, "it is not for the proposal answered last");
  if (commit.members != propose_.members) return fail(Errc::bad_argument, "its members are not those proposed");
  const std::optional<MemberIndex> index = index_in(commit.members, self);
  if (!index) return fail(Errc::bad_argument, "this daemon is not a member");
  if (commit.sequencer >= commit.members.size()) return fail(Errc::bad_argument, "its sequencer is out of range");
  if (!are_sound(commit.edges, commit.members.size())) return fail(Errc::bad_argument, "its links are not valid");
  if (!is_connected(commit.members.size(), commit.edges)) {
    return fail(Errc::bad_argument, "its links do not connect its members");
  }
  if (!are_partition(commit.transitions, commit.members.size())) {
    return fail(Errc::bad_argument, "a member is not in exactly one transition");
  }
  for (const Transition& transition : commit.transitions) {
    const bool old_is_own = transition.old_view == old_view.id;
    const auto is_self = [&](const Transition::Member& member) { return member.index == *index; };
    const bool is_own = std::any_of(transition.members.begin(), transition.members.end(), is_self);
    if (old_is_own != is_own) return fail(Errc::bad_argument, "this daemon's old view is not the one it is frozen in");
  }
  return own_transition(commit, old_view, *index);
}

Result<const Transition*> Answered::own_transition(const Commit& commit, const View& old_view, MemberIndex self) const {
  const auto is_own = [&](const Transition& transition) { return transition.old_view == old_view.id; };
  const auto own = std::find_if(commit.transitions.begin(), commit.transitions.end(), is_own);
  std::vector<bool> moves_along(old_view.size(), false);
  for (const Transition::Member& member : own->members) {
    const std::optional<MemberIndex> old_index = index_in(old_view.members, commit.members[member.index]);
    if (!old_index) {
      return fail(Errc::bad_argument, "its transitional set has a daemon that was not in the old view");
    }
    if (member.high.size() != old_view.size()) {
      return fail(Errc::bad_argument, "a high vector does not have the old view's size");
    }
    moves_along[*old_index] = true;
  }
  const auto is_self = [&](const Transition::Member& member) { return member.index == self; };
  const Transition::Member& said = *std::find_if(own->members.begin(), own->members.end(), is_self);
  for (std::size_t i = 0; i < old_view.size(); ++i) {
    // Above what it has said only as far as an origin that moves along vouches for.
    const bool agrees =
        moves_along[i] && i != old_view.self ? said.high[i] >= state_.high[i] : said.high[i] == state_.high[i];
    if (!agrees) return fail(Errc::bad_argument, "this daemon's high vector is not what it has said");
  }
  if (own->safe_line < state_.safe_line) return fail(Errc::bad_argument, "its safe line is below this daemon's");
  if (own->processed < state_.processed) return fail(Errc::bad_argument, "its order ends before this daemon's");
  return &*own;
}

// Recovering.

bool Recovering::expect(const Counts& counts) {
  if (expected_ || counts.pushed_to.size() != view_.size()) return false;
  expected_ = counts.pushed_to[view_.self];
  return true;
}

bool Recovering::is_complete() const { return expected_ ? received_ >= *expected_ : received_ == 0; }

bool Recovering::take_completion() { return expected_ && is_complete() && !std::exchange(completed_, true); }

// Participant.

Participant::Participant(Context& context, ViewTransport& transport, ViewedStreams& streams, DaemonId self,
                         Mailbox& mailbox)
    : log_(context.log_sink, "view"),
      counters_(context.counters),
      config_(context.config.view),
      transport_(transport),
      streams_(streams),
      mailbox_(mailbox),
      self_(std::move(self)),
      phase_(Steady(Topology())) {}

void Participant::start(Time now, std::uint64_t number) {
  SPINDLE_CHECK(installed_.members.empty());
  View alone{{number, self_.name, self_.incarnation}, {self_}, {}, 0, 0};
  answered_ = alone.id;
  coordinator_ = self_;
  note_number(answered_.number);
  phase_ = Steady({alone.members, alone.edges});
  install(now, std::move(alone), Transition{{}, {{0, {}}}, 0});
}

MemberPhase Participant::phase() const {
  return std::visit([](const auto& phase) { return phase.kPhase; }, phase_);
}

void Participant::enter(std::variant<Steady, Answered, Recovering> next) {
  const MemberPhase before = phase();
  phase_ = std::move(next);
  SPINDLE_CHECK(may_follow(before, phase()));
}

Time Participant::change_due(Time now, const Topology& reachable, const HoldDowns& hold_downs) {
  Steady* steady = std::get_if<Steady>(&phase_);
  return steady == nullptr ? kNever : steady->change_due(now, reachable, hold_downs, config_);
}

bool Participant::propose_received(Time now, std::optional<LinkId> from, const Propose& propose) {
  note_number(propose.proposal.number);
  if (!index_in(propose.members, self_)) return false;
  if (propose.proposal < answered_) refuse(from, propose.proposal);
  if (propose.proposal <= answered_) return false;
  const auto is_coordinator = [&](const DaemonId& member) { return member == coordinator_of(propose.proposal); };
  const auto coordinator = std::find_if(propose.members.begin(), propose.members.end(), is_coordinator);
  if (coordinator == propose.members.end()) return false;

  // The coordinator left behind learns at once that it waits in vain.
  if (is_frozen() && coordinator_ != coordinator_of(propose.proposal)) refuse(parent_, answered_);
  // Also where it is frozen already: what is still to be pushed under the last proposal is of no use under this one.
  transport_.freeze();
  if (std::holds_alternative<Recovering>(phase_)) ++vain_recoveries_;
  FrozenState state = streams_.freeze(now);
  SPINDLE_CHECK(state.high.size() == installed_.size());
  answered_ = propose.proposal;
  coordinator_ = *coordinator;
  parent_ = from;
  log_.debug("answers {}, frozen in {}", to_string(answered_), to_string(installed_.id));
  transport_.flood(propose, from);
  answer(MemberState{answered_, self_, installed_.id, state.high, state.safe_line, state.processed, installed_.self,
                     state.stable});
  enter(Answered(propose, std::move(state)));
  return true;
}

bool Participant::commit_received(Time, std::optional<LinkId> from, const Commit& commit) {
  note_number(commit.proposal.number);
  if (commit.proposal < answered_ && coordinator_of(commit.proposal) != coordinator_) {
    refuse(from, commit.proposal);
  }
  const Answered* answered = std::get_if<Answered>(&phase_);
  if (answered == nullptr || commit.proposal != answered_) return false;
  const Result<const Transition*> own = answered->check(commit, installed_);
  if (!own) {
    log_.error("commit of {} ignored: {}", to_string(commit.proposal), own.error().message());
    return false;
  }
  // First the flood, then the pushes: wherever a push arrives, its commit has been.
  transport_.flood(commit, from);
  const MemberIndex self = *index_in(commit.members, self_);
  enter(Recovering(make_view(commit, self), **own));
  transport_.use_recovery_routes(std::get<Recovering>(phase_).view());
  push_and_report(commit, self);
  return true;
}

void Participant::push_and_report(const Commit& commit, MemberIndex self) {
  std::vector<std::uint64_t> counts(commit.members.size());
  const Push push{commit.proposal, installed_.id};
  for (const PushOut& out : streams_.plan_pushes(commit, self)) {
    SPINDLE_CHECK(!out.to.contains(self));
    out.to.for_each([&](MemberIndex to) { ++counts[to]; });
    counters_.add(Counter::messages_pushed, out.to.count());
    transport_.send_push(push, out.to, out.head, out.tail);
  }
  Done done{commit.proposal, self_, {}};
  for (std::size_t to = 0; to < counts.size(); ++to) {
    if (counts[to] > 0) done.pushed.push_back({static_cast<MemberIndex>(to), counts[to]});
  }
  log_.debug("recovers under {}: pushes {}", to_string(commit.proposal), pushes_of(commit.members, counts));
  answer(done);
}

bool Participant::counts_received(Time now, std::optional<LinkId> from, const Counts& counts) {
  Recovering* recovering = std::get_if<Recovering>(&phase_);
  if (recovering == nullptr || counts.proposal != answered_) return false;
  if (!recovering->expect(counts)) return false;
  transport_.flood(counts, from);
  report_if_complete(now);
  return true;
}

void Participant::push_received(Time now, const Push& push, Slice body) {
  Recovering* recovering = std::get_if<Recovering>(&phase_);
  if (recovering == nullptr || push.proposal != answered_ || push.old_view != installed_.id) return;
  if (!streams_.accept_push(std::move(body))) {
    log_.warning("a message pushed under {} is malformed", to_string(push.proposal));
    return;
  }
  counters_.add(Counter::messages_recovered);
  recovering->count_push();
  report_if_complete(now);
}

/// What has been recovered is kept before that is said: once all have said so, a safe message may be delivered.
void Participant::report_if_complete(Time now) {
  if (!std::get<Recovering>(phase_).take_completion()) return;
  streams_.recovered(now);
  log_.debug("has received all that was pushed under {}", to_string(answered_));
  answer(Received{answered_, self_});
}

bool Participant::install_received(Time now, std::optional<LinkId> from, const Install& message) {
  const Recovering* recovering = std::get_if<Recovering>(&phase_);
  if (recovering == nullptr || message.proposal != answered_) return false;
  if (!recovering->is_complete()) {
    log_.error("told to install {} before all that was pushed has arrived", to_string(answered_));
    return false;
  }
  transport_.flood(message, from);
  View view = recovering->view();
  const Transition transition = recovering->transition();
  enter(Steady({view.members, view.edges}));
  install(now, std::move(view), transition);
  return true;
}

/// The overlay opens the view first, for the streams may send as they open it.
void Participant::install(Time now, View view, const Transition& transition) {
  installed_ = std::move(view);
  vain_recoveries_ = 0;
  counters_.add(Counter::views_installed);
  transport_.install(now, installed_);
  streams_.install(now, installed_, transition);
  log_.info("view {} installed: {}", to_string(installed_.id), names_of(installed_.members));
}

void Participant::answer(const ControlMessage& message) {
  if (coordinator_ == self_) {
    mailbox_.push_back(message);
  } else if (parent_) {
    transport_.send(*parent_, message);
  }
}

void Participant::refuse(std::optional<LinkId> to, const ViewId& proposal) {
  if (!to) return;
  log_.debug("refuses {}", to_string(proposal));
  transport_.send(*to, Refuse{proposal, self_, highest_number_});
}

void Participant::relay(const ViewId& proposal, const ControlMessage& answer) {
  if (parent_ && proposal == answered_) transport_.send(*parent_, answer);
}

void Participant::link_lost(LinkId link) {
  if (parent_ == link) parent_.reset();
}

}  // namespace spindled
