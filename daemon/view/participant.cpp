#include "daemon/view/participant.h"

#include <algorithm>
#include <utility>

#include "daemon/base/check.h"
#include "daemon/view/log_lines.h"

namespace spindled {

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
