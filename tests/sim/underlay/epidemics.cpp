#include "tests/sim/underlay/epidemics.h"

#include <algorithm>

namespace spindled::sim::underlay {

bool RecentSymbols::insert(std::uint32_t number) {
  if (number < begin()) return false;
  for (; end_ <= number; ++end_) had_[end_ % kWindow] = false;
  if (had_[number % kWindow]) return false;
  had_[number % kWindow] = true;
  return true;
}

bool RecentSymbols::has(std::uint32_t number) const {
  return number < begin() || (number < end_ && had_[number % kWindow]);
}

namespace {

/// So many others, no two alike.
std::vector<Participant> draw(Random& random, std::size_t participants, Participant self, std::size_t count) {
  std::vector<Participant> drawn;
  while (drawn.size() < std::min(count, participants - 1)) {
    const auto other = static_cast<Participant>(random.below(participants));
    if (other != self && std::find(drawn.begin(), drawn.end(), other) == drawn.end()) drawn.push_back(other);
  }
  return drawn;
}

}  // namespace

// --- Gossip ---

Gossip::Gossip(OverlayNet& net, Participant root, std::size_t participants, const EpidemicSettings& settings)
    : net_(net),
      root_(root),
      settings_(settings),
      random_(settings.seed),
      pace_(settings.symbols_per_s),
      drawn_at_(net.now()),
      peers_(participants),
      had_(participants) {
  for (std::size_t i = 0; i < participants; ++i) draw_peers(static_cast<Participant>(i));
}

void Gossip::draw_peers(Participant participant) {
  auto& peers = peers_[participant];
  const auto drawn = draw(random_, peers_.size(), participant, settings_.peers);
  for (const Participant former : peers) {
    if (std::find(drawn.begin(), drawn.end(), former) == drawn.end()) net_.close(participant, former);
  }
  peers = drawn;
  for (const Participant peer : peers) net_.open(participant, peer);
}

void Gossip::pass_on(Participant from, SymbolId symbol) {
  for (const Participant peer : peers_[from]) net_.send(from, peer, symbol);
}

void Gossip::received(Time now, Participant at, Participant, SymbolId symbol) {
  const bool is_new = at != root_ && had_[at].insert(symbol.esi);
  net_.meter().count(now, at, is_new, false);
  if (is_new) pass_on(at, symbol);
}

void Gossip::step(Time now) {
  if (now >= drawn_at_ + settings_.epoch) {
    drawn_at_ = now;
    for (std::size_t i = 0; i < peers_.size(); ++i) draw_peers(static_cast<Participant>(i));
  }
  for (std::uint32_t due = pace_.due(OverlayNet::kStep); due > 0; --due) {
    pace_.taken();
    pass_on(root_, {0, next_++});
  }
}

// --- Anti-entropy ---

AntiEntropy::AntiEntropy(OverlayNet& net, const Tree& tree, const EpidemicSettings& settings)
    : net_(net),
      tree_(tree),
      settings_(settings),
      random_(settings.seed),
      pace_(settings.symbols_per_s),
      asked_at_(net.now()),
      had_(tree.parents.size()),
      owed_(tree.parents.size()) {
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    for (const Participant child : tree.children[i]) net.open(static_cast<Participant>(i), child);
  }
}

void AntiEntropy::pass_on(Participant from, SymbolId symbol) {
  for (const Participant child : tree_.children[from]) net_.send(from, child, symbol);
}

void AntiEntropy::received(Time now, Participant at, Participant from, SymbolId symbol) {
  const bool is_new = at != tree_.root && had_[at].insert(symbol.esi);
  net_.meter().count(now, at, is_new, tree_.parents[at] == from);
  if (is_new) pass_on(at, symbol);
}

void AntiEntropy::ask(Participant participant) {
  const RecentSymbols& own = had_[participant];
  mesh::HadFilter filter(own.end() - own.begin(), ++salt_);
  for (std::uint32_t number = own.begin(); number < own.end(); ++number) {
    if (own.has(number)) filter.insert(number);
  }
  for (const Participant peer : draw(random_, had_.size(), participant, settings_.peers)) {
    net_.count_control(participant, peer, static_cast<double>(filter.bits().size()));
    net_.open(peer, participant);
    Owed owed{participant, {}};
    const RecentSymbols& theirs = had_[peer];
    const std::uint32_t end = peer == tree_.root ? next_ : theirs.end();
    for (std::uint32_t number = own.begin(); number < end; ++number) {
      const bool is_there = peer == tree_.root || (number >= theirs.begin() && theirs.has(number));
      if (is_there && !filter.has(number)) owed.symbols.push_back(number);
    }
    owed_[peer].push_back(std::move(owed));
  }
}

void AntiEntropy::step(Time now) {
  if (now >= asked_at_ + settings_.epoch) {
    asked_at_ = now;
    for (std::size_t i = 0; i < owed_.size(); ++i) {
      const auto from = static_cast<Participant>(i);
      for (const Owed& owed : owed_[i]) {
        if (tree_.parents[owed.to] != from) net_.close(from, owed.to);
      }
      owed_[i].clear();
    }
    for (std::size_t i = 0; i < owed_.size(); ++i) {
      if (i != tree_.root) ask(static_cast<Participant>(i));
    }
  }
  for (std::uint32_t due = pace_.due(OverlayNet::kStep); due > 0; --due) {
    pace_.taken();
    pass_on(tree_.root, {0, next_++});
  }
}

std::optional<SymbolId> AntiEntropy::next(Time, Participant from, Participant to) {
  for (Owed& owed : owed_[from]) {
    if (owed.to != to || owed.symbols.empty()) continue;
    const std::uint32_t number = owed.symbols.front();
    owed.symbols.pop_front();
    return SymbolId{0, number};
  }
  return std::nullopt;
}

}  // namespace spindled::sim::underlay
