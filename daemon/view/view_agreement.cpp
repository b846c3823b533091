#include "daemon/view/view_agreement.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace spindled {

namespace {

/// A daemon draws the number of its next proposal from as many above the highest that it knows, and that of the view in
/// which it starts alone. One that has restarted may not know numbers that it used before. The incarnation in the id of
/// a view tells the two apart; that their numbers differ, too, is for people who read them in a log.
constexpr std::uint64_t kNumberGap = 1u << 16;

/// What others tell of numbers is not believed where it is further above what this daemon knows than numbers come in
/// years, for nothing is higher than the highest: somebody made it up. A daemon alone knows nothing of how far the
/// others have come, and believes them as far as three quarters of all numbers.
constexpr std::uint64_t kNumberJumpMax = std::uint64_t{1} << 40;
constexpr std::uint64_t kNumberMaxOfAlone = std::numeric_limits<std::uint64_t>::max() / 4 * 3;

/// The highest number that the message tells of.
std::uint64_t number_in(const ControlMessage& message) {
  const auto of_kind = [](const auto& kind) -> std::uint64_t {
    if constexpr (std::is_same_v<std::decay_t<decltype(kind)>, Refuse>) {
      return std::max(kind.proposal.number, kind.highest_number);
    } else if constexpr (requires { kind.proposal.number; }) {
      return kind.proposal.number;
    }
    return 0;
  };
  return std::visit(of_kind, message);
}

/// How many phases' time a member waits before it proposes itself: time for the coordinator to notice that somebody is
/// silent and begin anew, and one more for each rank, so that they do not all lose patience at once.
constexpr std::size_t kPatiencePhases = 3;
constexpr std::size_t kPatienceRanksMax = 8;

/// What is pushed may take longer than a phase. After so many recoveries that came to nothing phases are twice as long
/// each time, up to so many times: by then those who are just silent are excluded.
constexpr std::size_t kVainRecoveries = 1;
constexpr std::size_t kDoublingsMax = 4;

/// Link state comes in waves. While one goes through, the topology is looked at this often and no more: what the first
/// look misses is seen together a little later.
constexpr Duration kLookSpacing = 5ms;

/// The longest pause after the second refusal; it doubles with each further one, up to the response timeout.
constexpr Duration kQuietMin = 10ms;

}  // namespace

ViewAgreement::ViewAgreement(Context& context, ViewTransport& transport, ViewedStreams& streams, DaemonId self,
                             ChooseSequencer choose_sequencer)
    : log_(context.log_sink, "view"),
      context_(context),
      transport_(transport),
      participant_(context, transport, streams, std::move(self), mailbox_),
      coordinator_(log_, mailbox_, choose_sequencer),
      random_(context.random.split()),
      reachable_{{participant_.self()}, {}},
      hold_downs_(context.config.view) {}

void ViewAgreement::start(Time now) {
  participant_.start(now, context_.config.first_number + 1 + random_.below(kNumberGap));
  view_installed(now);
}

void ViewAgreement::handle_time(Time now) {
  if (timers_.take_due(Timer::phase, now)) phase_expired(now);
  drain_mailbox(now);
  if (timers_.take_due(Timer::patience, now)) patience_expired(now);
  drain_mailbox(now);
  if (timers_.take_due(Timer::evaluate, now)) evaluate(now);
  drain_mailbox(now);
}

/// May come from within a call to the transport, so nothing happens here but that the timer is set.
void ViewAgreement::topology_changed(Time now) { timers_.set_earlier(Timer::evaluate, std::max(now, next_look_)); }

void ViewAgreement::link_changed(Time, LinkId from, bool) { participant_.link_lost(from); }

void ViewAgreement::control_received(Time now, LinkId from, ControlMessage message) {
  if (const std::uint64_t number = number_in(message); number > highest_believed()) {
    // Those that it comes from need not have made it up.
    log_.warning("a message about view {} is ignored: no daemon can have come so far beyond {}", number,
                 participant_.highest_number());
    return;
  }
  dispatch(now, from, message);
  drain_mailbox(now);
}

void ViewAgreement::push_received(Time now, const Push& push, Slice body) {
  participant_.push_received(now, push, std::move(body));
  drain_mailbox(now);
}

void ViewAgreement::drain_mailbox(Time now) {
  while (!mailbox_.empty()) {
    const ControlMessage message = std::move(mailbox_.front());
    mailbox_.pop_front();
    dispatch(now, std::nullopt, message);
  }
}

void ViewAgreement::dispatch(Time now, std::optional<LinkId> from, const ControlMessage& message) {
  std::visit(
      [&](const auto& kind) {
        if constexpr (requires { handle(now, from, kind); }) handle(now, from, kind);
      },
      message);
}

void ViewAgreement::handle(Time now, std::optional<LinkId> from, const Propose& propose) {
  if (!participant_.propose_received(now, from, propose)) return;
  timers_.set(Timer::patience, now + patience());
  if (coordinator_.is_active() && coordinator_.proposal() != propose.proposal) {
    coordinator_.retire();
    timers_.stop(Timer::phase);
  }
}

void ViewAgreement::handle(Time now, std::optional<LinkId>, const MemberState& state) {
  if (!is_own(state.proposal)) return participant_.relay(state.proposal, state);
  if (coordinator_.state_received(state)) timers_.set(Timer::phase, now + phase_timeout());
}

void ViewAgreement::handle(Time now, std::optional<LinkId>, const Refuse& refuse) {
  participant_.note_number(refuse.highest_number);
  if (!is_own(refuse.proposal)) return participant_.relay(refuse.proposal, refuse);
  if (!coordinator_.is_active() || coordinator_.proposal() != refuse.proposal) return;
  log_.debug("{} refused {}", refuse.member.name, to_string(refuse.proposal));
  coordinator_.retire();
  timers_.stop(Timer::phase);
  if (refusals_++ > 0) {
    const Duration longest =
        std::min(kQuietMin * (1 << std::min(refusals_, 10u)), context_.config.view.response_timeout);
    quiet_until_ = now + Duration(random_.below(static_cast<std::uint64_t>(longest.count()) + 1));
  }
  timers_.set(Timer::evaluate, now);
}

void ViewAgreement::handle(Time now, std::optional<LinkId> from, const Commit& commit) {
  if (participant_.commit_received(now, from, commit)) timers_.set(Timer::patience, now + patience());
}

void ViewAgreement::handle(Time now, std::optional<LinkId>, const Done& done) {
  if (!is_own(done.proposal)) return participant_.relay(done.proposal, done);
  if (coordinator_.done_received(done)) timers_.set(Timer::phase, now + phase_timeout());
}

void ViewAgreement::handle(Time now, std::optional<LinkId> from, const Counts& counts) {
  if (participant_.counts_received(now, from, counts)) timers_.set(Timer::patience, now + patience());
}

void ViewAgreement::handle(Time now, std::optional<LinkId>, const Received& received) {
  if (!is_own(received.proposal)) return participant_.relay(received.proposal, received);
  if (coordinator_.received_received(received)) timers_.set(Timer::phase, now + phase_timeout());
}

void ViewAgreement::handle(Time now, std::optional<LinkId> from, const Install& install) {
  if (participant_.install_received(now, from, install)) view_installed(now);
}

void ViewAgreement::view_installed(Time now) {
  if (coordinator_.is_active()) coordinator_.retire();
  timers_.stop(Timer::phase);
  timers_.stop(Timer::patience);
  for (const DaemonId& member : installed().members) suspicions_.clear(member);
  refusals_ = 0;
  quiet_until_ = Time::min();
  timers_.set(Timer::evaluate, now);
}

void ViewAgreement::look_around(Time now) {
  next_look_ = now + kLookSpacing;
  reachable_ = transport_.reachable();
  const Time next_end = suspicions_.next_end(now);
  if (next_end != kNever) {
    const auto excluded = [&](const DaemonId& daemon) { return suspicions_.is_excluded(now, daemon); };
    reachable_ = component_of(reachable_, participant_.self(), excluded);
    timers_.set_earlier(Timer::evaluate, next_end);
  }
  hold_downs_.observe(now, reachable_);
}

/// Decides whether this daemon proposes now, and sets the timer for when it might.
void ViewAgreement::evaluate(Time now) {
  look_around(now);
  if (coordinator_.is_active()) {
    // A loss leaves the proposal without an answer, or its flood with a gap. What has come meanwhile can wait.
    if (compare(coordinator_.topology(), reachable_).any_lost()) propose(now);
  } else if (participant_.is_frozen()) {
    const bool is_orphan = is_own(participant_.answered()) || !index_in(reachable_.members, participant_.coordinator());
    if (is_orphan && rank() == 0) propose_when_allowed(now);
  } else {
    evaluate_steady(now);
  }
}

void ViewAgreement::evaluate_steady(Time now) {
  Time due = participant_.change_due(now, reachable_, hold_downs_);
  if (due == kNever) return;
  if (due <= now && rank() > 0) due += patience();
  if (due <= now) {
    propose_when_allowed(now);
  } else {
    timers_.set_earlier(Timer::evaluate, due);
  }
}

std::vector<HeldDown> ViewAgreement::held_down(Time now) const {
  const TopologyChanges changes = compare({installed().members, installed().edges}, reachable_);
  std::vector<HeldDown> held;
  for (const MemberIndex member : changes.gained_members) {
    const Time until = hold_downs_.member_ready_at(member);
    if (until > now) held.push_back({item_of(reachable_, member), until});
  }
  for (const std::size_t edge : changes.gained_edges) {
    const Time until = hold_downs_.edge_ready_at(edge);
    if (until > now) held.push_back({item_of(reachable_, reachable_.edges[edge]), until});
  }
  return held;
}

void ViewAgreement::phase_expired(Time now) {
  if (!coordinator_.is_active()) return;
  for (const DaemonId& daemon : coordinator_.silent()) {
    log_.debug("{} is silent to {}", daemon.name, to_string(coordinator_.proposal()));
    suspicions_.suspect(now, daemon);
  }
  propose(now);
}

void ViewAgreement::patience_expired(Time now) {
  if (!participant_.is_frozen() || coordinator_.is_active()) return;
  propose(now);
}

void ViewAgreement::propose_when_allowed(Time now) {
  if (now < quiet_until_) {
    timers_.set_earlier(Timer::evaluate, quiet_until_);
  } else {
    propose(now);
  }
}

void ViewAgreement::propose(Time now) {
  look_around(now);
  const std::uint64_t highest = participant_.highest_number();
  const std::uint64_t left = std::numeric_limits<std::uint64_t>::max() - highest;
  if (left == 0) {  // only a peer that makes numbers up can bring it this far
    log_.error("the numbers of views are used up: there is no other view until all daemons were stopped at once");
    return;
  }
  const std::uint64_t number = highest + 1 + random_.below(std::min(kNumberGap, left));
  coordinator_.propose({number, participant_.self().name, participant_.self().incarnation}, reachable_);
  context_.counters.add(Counter::views_proposed);
  timers_.set(Timer::phase, now + phase_timeout());
}

std::uint64_t ViewAgreement::highest_believed() const {
  const std::uint64_t highest = participant_.highest_number();
  const std::uint64_t left = std::numeric_limits<std::uint64_t>::max() - highest;
  const std::uint64_t near = highest + std::min(kNumberJumpMax, left);
  return installed().size() == 1 ? std::max(near, kNumberMaxOfAlone) : near;
}

/// Among the daemons that could propose, by name.
std::size_t ViewAgreement::rank() const { return *index_in(reachable_.members, participant_.self()); }

Duration ViewAgreement::phase_timeout() const {
  const std::size_t in_vain = participant_.vain_recoveries();
  const Duration once = context_.config.view.response_timeout + 3 * transport_.longest_round_trip();
  return once * (1 << std::min(in_vain - std::min(in_vain, kVainRecoveries), kDoublingsMax));
}

Duration ViewAgreement::patience() const {
  const auto phases = static_cast<Duration::rep>(kPatiencePhases + std::min(rank(), kPatienceRanksMax));
  return phases * phase_timeout();
}

}  // namespace spindled
