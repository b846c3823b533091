#include "daemon/bulk/mesh/sender_set.h"

#include <algorithm>
#include <cmath>

namespace spindled::mesh {

namespace {

// A sender that is as fast as it was is given so much more than it sends in an interval.
constexpr double kMore = 1.5;
constexpr std::uint32_t kFreshMin = 8;
constexpr unsigned kResiduesMin = 2;
// Of the latest interval in a sender's rate.
constexpr double kRateWeight = 0.5;

}  // namespace

const SenderSet::Sender* SenderSet::find(MemberIndex member) const {
  const auto found =
      std::find_if(senders_.begin(), senders_.end(), [&](const Sender& sender) { return sender.member == member; });
  return found == senders_.end() ? nullptr : &*found;
}

std::size_t SenderSet::peers() const {
  return static_cast<std::size_t>(
      std::count_if(senders_.begin(), senders_.end(), [](const Sender& sender) { return !sender.is_parent; }));
}

bool SenderSet::is_peer(MemberIndex member) const {
  const Sender* sender = find(member);
  return sender != nullptr && !sender->is_parent;
}

std::optional<SenderSet::State> SenderSet::state(MemberIndex member) const {
  const Sender* sender = find(member);
  return sender == nullptr ? std::nullopt : std::optional(sender->state);
}

void SenderSet::add_peer(MemberIndex peer) {
  if (has(peer)) return;
  Sender sender;
  sender.member = peer;
  senders_.push_back(std::move(sender));
}

void SenderSet::set_state(Time now, MemberIndex peer, State state) {
  Sender* sender = find(peer);
  if (sender == nullptr) return;
  sender->state = state;
  sender->since = now;
  if (state != State::sends) return;
  sender->told_at = now;
  sender->due_at = now;
}

void SenderSet::remove(Time now, MemberIndex member) {
  residues_.give_back(now, member);
  std::erase_if(senders_, [&](const Sender& sender) { return sender.member == member; });
}

void SenderSet::set_parent(Time now, std::optional<MemberIndex> parent) {
  for (const Sender& sender : senders_) {
    if (!sender.is_parent || sender.member == parent) continue;
    remove(now, sender.member);
    break;
  }
  if (!parent) return;
  Sender* known = find(*parent);
  if (known == nullptr) {
    add_peer(*parent);
    known = find(*parent);
  }
  if (known->is_parent) return;
  known->is_parent = true;
  if (known->state != State::sends) set_state(now, *parent, State::sends);
}

void SenderSet::holding_received(MemberIndex from, Holding holding) {
  if (Sender* sender = find(from)) sender->holding = std::move(holding);
}

void SenderSet::symbol_received(MemberIndex from, SymbolId symbol, bool is_useful) {
  Sender* sender = find(from);
  if (sender == nullptr) return;
  ++sender->received;
  ++sender->since_told;
  ++(is_useful ? sender->useful : sender->useless);
  for (auto& each : sender->outstanding) {
    if (each.block == symbol.block && each.fresh > 0) --each.fresh;
  }
}

std::vector<MemberIndex> SenderSet::senders_of(std::uint32_t block) const {
  std::vector<MemberIndex> found;
  for (const Sender& sender : senders_) {
    const bool is_outstanding = std::any_of(sender.outstanding.begin(), sender.outstanding.end(),
                                            [&](const auto& each) { return each.block == block && each.fresh > 0; });
    const bool is_listed = std::find(sender.blocks.begin(), sender.blocks.end(), block) != sender.blocks.end();
    if (is_outstanding || is_listed) found.push_back(sender.member);
  }
  return found;
}

std::optional<MemberIndex> SenderSet::due(Time now) const {
  const Sender* first = nullptr;
  for (const Sender& sender : senders_) {
    if (sender.state == State::sends && sender.due_at <= now && (!first || sender.due_at < first->due_at)) {
      first = &sender;
    }
  }
  return first == nullptr ? std::nullopt : std::optional(first->member);
}

Time SenderSet::next_due() const {
  Time next = kNever;
  for (const Sender& sender : senders_) {
    if (sender.state == State::sends) next = std::min(next, sender.due_at);
  }
  return next;
}

void SenderSet::put_off(MemberIndex member, Time until) {
  if (Sender* sender = find(member)) sender->due_at = until;
}

std::uint32_t SenderSet::horizon() const {
  std::uint32_t end = content_.holding().end();
  for (const Sender& sender : senders_) end = std::max(end, sender.holding.end());
  return std::min(end, content_.blocks());
}

void SenderSet::measure(Time now, Sender& sender) {
  const double seconds = to_seconds(now - sender.told_at);
  if (seconds <= 0) return;
  const double lately = sender.since_told / seconds;
  sender.rate = sender.rate == 0 ? lately : (1 - kRateWeight) * sender.rate + kRateWeight * lately;
  sender.since_told = 0;
  sender.told_at = now;
}

std::uint32_t SenderSet::outstanding_elsewhere(const Sender& sender, std::uint32_t block) const {
  std::uint32_t sum = 0;
  for (const Sender& other : senders_) {
    if (&other == &sender) continue;
    for (const auto& each : other.outstanding) sum += each.block == block ? each.fresh : 0;
  }
  return sum;
}

double SenderSet::rate() const {
  double sum = 0;
  for (const Sender& sender : senders_) sum += sender.rate;
  return sum;
}

Wants SenderSet::wants_for(Time now, MemberIndex member, std::size_t filter_bytes) {
  Sender& sender = *find(member);
  measure(now, sender);
  // What it is told holds for an interval; those that were told at the same time come apart.
  sender.due_at = now + kInterval + Duration(static_cast<Duration::rep>(random_.below(250'000'000)));
  Wants wants;
  wants.received = sender.received;
  wants.bytes_per_s = static_cast<std::uint32_t>(rate() * symbol_bytes_);
  wants.holding = content_.holding();
  const double all = rate();
  const double senders = static_cast<double>(
      std::count_if(senders_.begin(), senders_.end(), [](const Sender& each) { return each.state == State::sends; }));
  const double part = all > 0 ? std::max(sender.rate / all, 0.3 / senders) : 1 / senders;
  wants.residues = residues_.renew(
      now, member, std::clamp(static_cast<unsigned>(std::lround(kMore * part * kResidues)), kResiduesMin, kResidues));

  sender.outstanding.clear();
  sender.blocks.clear();
  const std::uint32_t end = horizon();
  auto fresh_left = static_cast<std::uint32_t>(sender.rate * to_seconds(kInterval) * kMore) + kFreshMin;
  struct ByResidues {
    std::uint32_t block;
    std::vector<std::uint32_t> had;
  };
  std::vector<ByResidues> by_residues;
  std::size_t had = 0;
  for (std::uint32_t block = content_.first_incomplete(); block < end && wants.blocks.size() < Wants::kBlocksMax;
       ++block) {
    if (content_.is_complete(block)) continue;
    if (sender.holding.is_complete(block)) {
      const std::uint32_t lacking = content_.lacking(block);
      const std::uint32_t elsewhere = outstanding_elsewhere(sender, block);
      const std::uint32_t fresh = std::min(fresh_left, lacking > elsewhere ? lacking - elsewhere : 0);
      if (fresh == 0) continue;
      fresh_left -= fresh;
      wants.blocks.push_back({block, fresh, {}});
      sender.outstanding.push_back({block, fresh});
      continue;
    }
    // What those give that have all of it nobody else has to.
    if (outstanding_elsewhere(sender, block) >= content_.lacking(block)) continue;
    ByResidues& entry = by_residues.emplace_back(ByResidues{block, {}});
    for (const HeldSymbol& held : content_.held(block)) {
      if ((wants.residues >> residue_of(held.esi) & 1) != 0) entry.had.push_back(held.esi);
    }
    had += entry.had.size();
    wants.blocks.push_back({block, 0, {}});
    sender.blocks.push_back(block);
  }
  // All filters have the same number of bits for a symbol.
  const double scale = std::min(1.0, static_cast<double>(filter_bytes) / std::max<double>(1, static_cast<double>(had)));
  auto next = by_residues.begin();
  for (BlockWant& want : wants.blocks) {
    if (want.fresh != 0) continue;
    const auto bytes = static_cast<std::size_t>(std::ceil(scale * static_cast<double>(next->had.size())));
    want.had = HadFilter(next->had.size(), ++salt_, bytes);
    for (const std::uint32_t esi : next->had) want.had.insert(esi);
    ++next;
  }
  return wants;
}

std::optional<MemberIndex> SenderSet::least_useful(Time before, bool only_wasteful) {
  const Sender* wasteful = nullptr;
  const Sender* least = nullptr;
  for (const Sender& sender : senders_) {
    if (sender.is_parent || sender.state != State::sends || sender.since > before) continue;
    if (sender.useless > sender.useful && (!wasteful || sender.useless > wasteful->useless)) wasteful = &sender;
    if (!least || sender.useful < least->useful) least = &sender;
  }
  const Sender* chosen = wasteful != nullptr ? wasteful : only_wasteful ? nullptr : least;
  const auto member = chosen == nullptr ? std::nullopt : std::optional(chosen->member);
  for (Sender& sender : senders_) sender.useful = sender.useless = 0;
  return member;
}

std::vector<MemberIndex> SenderSet::sending_since(Time before) const {
  std::vector<MemberIndex> found;
  for (const Sender& sender : senders_) {
    if (!sender.is_parent && sender.state == State::sends && sender.since <= before) found.push_back(sender.member);
  }
  return found;
}

std::vector<MemberIndex> SenderSet::unanswered(Time before) const {
  std::vector<MemberIndex> found;
  for (const Sender& sender : senders_) {
    if (sender.state == State::asked && sender.since < before) found.push_back(sender.member);
  }
  return found;
}

double SenderSet::begun_symbols() const {
  double symbols = 0;
  for (std::uint32_t block = content_.first_incomplete(); block < content_.blocks(); ++block) {
    if (!content_.is_complete(block)) symbols += static_cast<double>(content_.held(block).size());
  }
  return symbols;
}

double SenderSet::usefulness(const MemberSummary& candidate, const Begun& here) const {
  double sum = 0;
  for (const BlockRun& run : candidate.holding.complete) {
    const std::uint32_t end = std::min(run.end, content_.blocks());
    for (std::uint32_t block = std::max(run.first, content_.first_incomplete()); block < end; ++block) {
      if (sum >= kUsefulEnough) return kUsefulEnough;
      if (!content_.is_complete(block)) sum += content_.lacking(block);
    }
  }
  double begun_there = 0;
  for (const BegunBlock& begun : candidate.holding.begun) {
    if (begun.block < content_.blocks() && !content_.is_complete(begun.block)) begun_there += begun.held;
  }
  const double resemblance = here.ticket.resemblance(candidate.ticket);
  const double in_both = resemblance / (1 + resemblance) * (here.symbols + begun_there);
  return std::min(sum + std::max(0.0, begun_there - in_both), kUsefulEnough);
}

}  // namespace spindled::mesh
