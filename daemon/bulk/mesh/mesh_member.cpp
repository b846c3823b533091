#include "daemon/bulk/mesh/mesh_member.h"

#include <algorithm>
#include <utility>

#include "daemon/bulk/mesh/mesh_codec.h"

namespace spindled::mesh {

namespace {

constexpr std::uint32_t kEpochsPerEviction = 3;
constexpr std::size_t kAskedPerEpoch = 3;
constexpr std::size_t kTriesPerEpoch = 12;
constexpr std::size_t kCandidatesMax = 32;
// A credit that was saved up for longer is lost; a filter that has less than this would say little.
constexpr double kCreditSeconds = 5;
constexpr double kFilterBytesMin = 64;
// Of wants, about, without filters.
constexpr double kWantsBesideFilters = 200;
constexpr Duration kPutOff = 500ms;
// Of a member's budget, what goes to the children for RanSub; and a summary, about.
constexpr double kBudgetOfSamples = 0.5;
constexpr double kSummaryBytes = 140;

}  // namespace

MeshMember::MeshMember(MemberIndex self, MeshOutput& output, MeshContent& content, Random random,
                       const MeshOptions& options)
    : self_(self),
      output_(output),
      content_(content),
      options_(options),
      ransub_(*this, random.split(), options.ransub),
      senders_(content, options.symbol_bytes, random.split()),
      receivers_(content, random.split()) {}

void MeshMember::set_place(Time now, std::optional<MemberIndex> parent, const std::vector<MemberIndex>& children) {
  now_ = now;
  parent_ = parent;
  children_ = children;
  disjoint_.set_children(children);
  receivers_.set_children(children);
  if (options_.has_peers) {
    if (options_.tells_wants) senders_.set_parent(now, parent);
    ransub_.set_place(now, parent, children);
  }
}

bool MeshMember::is_neighbour(MemberIndex member) const {
  return member == parent_ || std::find(children_.begin(), children_.end(), member) != children_.end();
}

void MeshMember::send(MemberIndex to, Frame frame) {
  control_credit_ -= static_cast<double>(encoded_bytes(frame));
  output_.send(to, frame);
}

// --- The tree ---

bool MeshMember::pass_on(SymbolId symbol) {
  const auto try_send = [&](MemberIndex child) {
    if (receivers_.lacks_nothing_of(child, symbol.block) || !output_.send_symbol(child, symbol)) return false;
    receivers_.pushed(child, symbol);
    return true;
  };
  return options_.is_disjoint ? disjoint_.send(try_send) : disjoint_.send_to_all(try_send);
}

bool MeshMember::originate(Time now, SymbolId symbol) {
  now_ = now;
  const bool is_taken = pass_on(symbol);
  source_waits_ = !is_taken && options_.is_disjoint;
  return is_taken;
}

void MeshMember::symbol_received(Time now, MemberIndex from, SymbolId symbol, bool is_useful) {
  now_ = now;
  senders_.symbol_received(from, symbol, is_useful);
  // What was asked for is asked for below, too.
  if (from == parent_ && is_useful) pass_on(symbol);
}

void MeshMember::block_completed(Time now, std::uint32_t block) {
  now_ = now;
  for (const MemberIndex sender : senders_.senders_of(block)) send(sender, BlockDone{block});
}

// --- Who there is ---

MemberSummary MeshMember::own_summary() { return {self_, takes_receivers(), content_.holding(), own_ticket()}; }

std::size_t MeshMember::summaries_to_tell() {
  const double bytes = kBudgetOfSamples * control_budget() * to_seconds(options_.ransub.epoch);
  return static_cast<std::size_t>(bytes / kSummaryBytes);
}

const SummaryTicket& MeshMember::own_ticket() {
  if (ticket_at_ != now_) ticket_ = content_.ticket();
  ticket_at_ = now_;
  return ticket_;
}

void MeshMember::distributed(std::uint32_t epoch, const Sample& sample) {
  disjoint_.begin_epoch([&](MemberIndex child) { return ransub_.descendants(child); });
  // A member whose parent has many children is told of somebody in some epochs only.
  has_had_candidates_ = has_had_candidates_ || !sample.entries.empty();
  if (epoch % kEpochsPerEviction == 0) evict(std::exchange(has_had_candidates_, false));
  if (parent_) take_candidates(sample);
}

void MeshMember::evict(bool has_candidates) {
  // Two epochs are a trial.
  const Time before = now_ - 2 * options_.ransub.epoch;
  const bool is_full = senders_.peers() >= SenderSet::kPeersMax;
  if (const auto sender = senders_.least_useful(before, !is_full || !has_candidates)) leave_sender(*sender);
  if (const auto receiver = receivers_.least_benefiting(before)) drop_receiver(*receiver);
}

void MeshMember::take_candidates(const Sample& sample) {
  std::vector<std::pair<double, MemberIndex>> useful;
  const SenderSet::Begun here{senders_.begun_symbols(), own_ticket()};
  for (const MemberSummary& each : sample.entries) {
    if (each.member == self_ || !each.takes_receivers || is_neighbour(each.member)) continue;
    const double symbols = senders_.usefulness(each, here);
    if (symbols >= 1) useful.emplace_back(symbols, each.member);
  }
  std::stable_sort(useful.begin(), useful.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  candidates_.clear();
  for (const auto& [symbols, member] : useful) candidates_.push_back(member);
  asks_left_ = kAskedPerEpoch;
  tries_left_ = kTriesPerEpoch;
  ask_candidates();
}

void MeshMember::propose(Time now, const std::vector<MemberIndex>& members) {
  now_ = now;
  for (const MemberIndex member : members) {
    const bool is_known = std::find(candidates_.begin(), candidates_.end(), member) != candidates_.end();
    if (member == self_ || is_known || is_neighbour(member) || senders_.has(member)) continue;
    if (candidates_.size() < kCandidatesMax) candidates_.push_back(member);
  }
  asks_left_ = std::max(asks_left_, members.size());
  tries_left_ = std::max(tries_left_, members.size());
  ask_candidates();
}

void MeshMember::leave_sender(Time now, MemberIndex sender) {
  now_ = now;
  if (senders_.is_peer(sender)) leave_sender(sender);
}

void MeshMember::ask_candidates() {
  while (asks_left_ > 0 && tries_left_ > 0 && !candidates_.empty() && senders_.peers() < SenderSet::kPeersMax) {
    const MemberIndex member = candidates_.back();
    candidates_.pop_back();
    if (senders_.has(member) || !output_.may_ask(member)) continue;
    --asks_left_;
    --tries_left_;
    senders_.add_peer(member);
    if (receivers_.is_peer(member)) {
      connected(now_, member);
    } else {
      output_.dial(member);
    }
  }
}

void MeshMember::connected(Time now, MemberIndex peer) {
  now_ = now;
  if (senders_.state(peer) != SenderSet::State::dialling) return;
  senders_.set_state(now, peer, SenderSet::State::asked);
  send(peer, PeerRequest{});
}

void MeshMember::lost(Time now, MemberIndex peer) {
  now_ = now;
  senders_.remove(now, peer);
  receivers_.remove(peer);
  if (parent_ == peer) parent_.reset();
  if (std::erase(children_, peer) > 0) disjoint_.set_children(children_);
}

void MeshMember::leave_sender(MemberIndex sender) {
  senders_.remove(now_, sender);
  send(sender, PeerLeave{false});
  close_if_idle(sender);
}

void MeshMember::drop_receiver(MemberIndex receiver) {
  receivers_.remove(receiver);
  send(receiver, PeerLeave{true});
  close_if_idle(receiver);
}

void MeshMember::close_if_idle(MemberIndex peer) {
  if (!senders_.has(peer) && !receivers_.has(peer) && !is_neighbour(peer)) output_.close(peer);
}

// --- Frames ---

void MeshMember::frame_received(Time now, MemberIndex from, Frame frame) {
  now_ = now;
  std::visit([&](auto& each) { received(now, from, each); }, frame);
}

void MeshMember::received(Time now, MemberIndex from, Collect& frame) {
  ransub_.collect_received(now, from, std::move(frame));
}

void MeshMember::received(Time now, MemberIndex from, Distribute& frame) {
  ransub_.distribute_received(now, from, std::move(frame));
}

void MeshMember::received(Time now, MemberIndex from, PeerRequest&) {
  const bool is_accepted = receivers_.has(from) || takes_receivers();
  if (!is_accepted) {
    send(from, PeerAnswer{false, {}, receivers_.draw_peers(PeerAnswer::kOthersMax)});
    return;
  }
  receivers_.add_peer(now, from);
  send(from, PeerAnswer{true, content_.holding(), {}});
}

void MeshMember::received(Time now, MemberIndex from, PeerAnswer& frame) {
  if (senders_.state(from) != SenderSet::State::asked) return;
  if (!frame.is_accepted) {
    senders_.remove(now, from);
    close_if_idle(from);
    // Those that RanSub names to many at once are soon full. Who was named by one of them is not.
    for (const MemberIndex other : frame.others) {
      if (other != self_ && !is_neighbour(other) && candidates_.size() < kCandidatesMax) candidates_.push_back(other);
    }
    ++asks_left_;
    ask_candidates();
    return;
  }
  senders_.holding_received(from, std::move(frame.holding));
  senders_.set_state(now, from, SenderSet::State::sends);
}

void MeshMember::received(Time now, MemberIndex from, Wants& frame) {
  if (!receivers_.has(from)) return;
  receivers_.wants_received(now, from, std::move(frame));
  send(from, HoldingReport{content_.holding()});
}

void MeshMember::received(Time, MemberIndex from, HoldingReport& frame) {
  senders_.holding_received(from, std::move(frame.holding));
}

void MeshMember::received(Time, MemberIndex from, BlockDone& frame) { receivers_.block_done(from, frame.block); }

void MeshMember::received(Time now, MemberIndex from, PeerLeave& frame) {
  if (frame.is_sender) {
    if (!senders_.is_peer(from)) return;
    senders_.remove(now, from);
  } else {
    if (!receivers_.is_peer(from)) return;
    receivers_.remove(from);
  }
  close_if_idle(from);
}

// --- Time ---

double MeshMember::control_budget() const {
  return std::max(options_.control_bytes_per_s, options_.control_part * senders_.rate() * options_.symbol_bytes);
}

void MeshMember::renew_credit(Time now) {
  const double budget = control_budget();
  control_credit_ = std::min(control_credit_ + budget * to_seconds(now - credited_at_), budget * kCreditSeconds);
  credited_at_ = now;
}

bool MeshMember::tell_wants(Time now, MemberIndex sender, Wants wants) {
  now_ = now;
  renew_credit(now);
  if (control_credit_ < kWantsBesideFilters) return false;
  send(sender, std::move(wants));
  return true;
}

void MeshMember::tell_senders(Time now) {
  renew_credit(now);
  while (const auto sender = senders_.due(now)) {
    if (control_credit_ < kWantsBesideFilters + kFilterBytesMin) {
      senders_.put_off(*sender, now + kPutOff);
      continue;
    }
    const auto filter_bytes = static_cast<std::size_t>(control_credit_ - kWantsBesideFilters);
    send(*sender, senders_.wants_for(now, *sender, filter_bytes));
  }
}

void MeshMember::tick(Time now) {
  now_ = now;
  if (!options_.has_peers) return;
  ransub_.tick(now);
  for (const MemberIndex silent : senders_.unanswered(now - options_.patience)) leave_sender(silent);
  if (options_.tells_wants) tell_senders(now);
}

Time MeshMember::next_deadline() const {
  if (!options_.has_peers) return kNever;
  return options_.tells_wants ? std::min(ransub_.next_deadline(), senders_.next_due()) : ransub_.next_deadline();
}

}  // namespace spindled::mesh
