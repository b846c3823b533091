#include "daemon/admission/price_book.h"

#include <algorithm>
#include <utility>

namespace spindled {

namespace {
/// A price counts until it has not been repeated for so many T_max.
constexpr int kRepeatsMissedMax = 2;
/// A price has fallen where a packet that pays it and the fee costs so much less.
constexpr double kFallShare = 1.0 / 8;
/// Makes the sums of what stands for different links different.
constexpr std::uint64_t kPartFactor = 0x9e3779b97f4a7c14;
}  // namespace

void PriceBook::start_view(const View& view) {
  view_ = view;
  self_ = MemberSet::of(view.self);
  paths_.emplace(Adjacency(view.size(), view.edges), view.self);
  links_.clear();
  clients_.clear();
  link_sequences_.clear();
  heard_clients_.clear();
  free_clients_ = 0;
  forgotten_.assign(view.size(), 0);
  next_expiry_ = kNever;
  ++version_;  // as of the last change: who earns at an old price until now has earned too little at most
  ++falls_;
}

bool PriceBook::hear(Time now, const Price& price) {
  if (price.from >= view_.size() || price.from == view_.self) return false;
  const Time expires_at = now + kRepeatsMissedMax * config_.update_max;
  const Change change{now, dollars_of(price.level), price.delay * kPriceDelayUnit, expires_at};
  if (!(price.name.empty() ? hear_link(price, change) : hear_clients(price, change))) return false;
  next_expiry_ = std::min(next_expiry_, expires_at);
  return true;
}

bool PriceBook::hear_link(const Price& price, const Change& change) {
  if (!has_link(price.from, price.neighbour)) return false;
  const LinkKey key{price.from, price.neighbour};
  std::uint64_t& latest = link_sequences_[key];
  if (price.sequence <= latest) return false;
  latest = price.sequence;
  set(links_, key, change);
  return true;
}

bool PriceBook::hear_clients(const Price& price, const Change& change) {
  ClientKey key{price.name, price.from};
  auto at = heard_clients_.find(key);
  if (price.sequence <= (at == heard_clients_.end() ? forgotten_[price.from] : at->second.sequence)) return false;
  if (at == heard_clients_.end()) {
    if (heard_clients_.size() >= kClientPricesMax) {
      if (free_clients_ == 0) return false;
      // Sooner than they should be: of what their daemons told before, and is new here, a copy that comes late is taken
      // for old. It will be repeated.
      forget([](const Heard& heard) { return !heard.costs; });
    }
    at = heard_clients_.emplace(key, Heard{}).first;
  } else if (!at->second.costs) {
    --free_clients_;
  }
  at->second = {price.sequence, price.level != 0, change.expires_at};
  if (!at->second.costs) ++free_clients_;
  set_clients(std::move(key), change, price.slowest);
  return true;
}

template <typename Select>
void PriceBook::forget(Select&& select) {
  std::erase_if(heard_clients_, [&](const auto& item) {
    const auto& [key, heard] = item;
    if (!select(heard)) return false;
    forgotten_[key.daemon] = std::max(forgotten_[key.daemon], heard.sequence);
    if (!heard.costs) --free_clients_;
    return true;
  });
}

void PriceBook::set_own_link(Time now, MemberIndex neighbour, double dollars, Duration delay) {
  set(links_, LinkKey{view_.self, neighbour}, {now, dollars, delay});
}

void PriceBook::set_own_clients(Time now, const std::string& name, double dollars, Duration delay,
                                std::string_view slowest) {
  set_clients(ClientKey{name, view_.self}, {now, dollars, delay}, slowest);
}

void PriceBook::set_clients(const ClientKey& key, const Change& change, std::string_view slowest) {
  set(clients_, key, change);
  if (const auto at = clients_.find(key); at != clients_.end()) at->second.slowest = slowest;
}

void PriceBook::note_version(Time now) {
  ++version_;
  changed_at_ = now;
}

template <typename Map, typename Key>
void PriceBook::set(Map& prices, Key key, const Change& change) {
  const auto at = prices.find(key);
  if (change.dollars <= 0) {
    if (at == prices.end()) return;
    note_change(at->second, 0);
    prices.erase(at);
  } else if (at != prices.end()) {
    Known& known = at->second;
    known.expires_at = change.expires_at;
    if (known.dollars == change.dollars && known.delay == change.delay) return;
    note_change(known, change.dollars);
    known.dollars = change.dollars;
    known.delay = change.delay;
  } else {
    Known known{change.dollars, change.delay, change.dollars, change.expires_at, {}, {}};
    if constexpr (std::is_same_v<Key, LinkKey>) known.behind = behind(key.from, key.neighbour);
    prices.emplace(std::move(key), std::move(known));
  }
  note_version(change.now);
}

void PriceBook::note_change(Known& known, double dollars) {
  known.peak = std::max(known.peak, dollars);
  if (known.peak - dollars < kFallShare * (config_.fee + known.peak)) return;
  known.peak = dollars;
  ++falls_;
}

void PriceBook::expire(Time now) {
  if (now < next_expiry_) return;
  next_expiry_ = kNever;
  const auto sweep = [&](auto& prices) {
    const std::size_t expired = std::erase_if(prices, [&](const auto& item) { return item.second.expires_at <= now; });
    if (expired != 0) {
      note_version(now);
      ++falls_;
    }
    for (const auto& [key, known] : prices) next_expiry_ = std::min(next_expiry_, known.expires_at);
  };
  sweep(links_);
  sweep(clients_);
  forget([&](const Heard& heard) { return heard.forget_at <= now; });
  for (const auto& [key, heard] : heard_clients_) next_expiry_ = std::min(next_expiry_, heard.forget_at);
}

Quote PriceBook::quote(const DestinationSet& to) const {
  Quote quote;
  quote.receivers = to.daemons.count() - (to.daemons.contains(view_.self) ? 1 : 0);
  for (const auto& [key, known] : links_) {
    if (!known.behind.intersects(to.daemons)) continue;
    quote.add(known.dollars);
    quote.delay = std::max(quote.delay, known.delay);
    quote.parts += kPartFactor * (std::uint64_t{key.from} << 16 | key.neighbour) + 2;
    if (known.dollars > quote.link.dollars) quote.link = {key.from, key.neighbour, known.dollars};
  }
  if (clients_.empty()) return quote;
  // The slowest of its clients holds a message up, and no other: who slows down to it slows down for all.
  for (const std::string& name : to.names) {
    for (auto at = clients_.lower_bound(std::string_view(name)); at != clients_.end() && at->first.name == name; ++at) {
      const auto& [key, known] = *at;
      if (!to.daemons.contains(key.daemon)) continue;
      if (known.dollars > quote.clients.dollars) quote.clients = {name, key.daemon, known.dollars};
      quote.delay = std::max(quote.delay, known.delay);
    }
  }
  quote.add(quote.clients.dollars);
  quote.parts += quote.clients.dollars > 0 ? 1 : 0;
  return quote;
}

std::string_view PriceBook::slowest(const Quote::Clients& clients) const {
  const auto at = clients_.find(ClientKey{clients.name, clients.daemon});
  return at == clients_.end() ? std::string_view() : std::string_view(at->second.slowest);
}

Duration PriceBook::round_trip(const MemberSet& to) const {
  std::uint64_t longest_us = 0;
  to.for_each([&](MemberIndex member) {
    if (member < view_.size() && paths_->reaches(member)) {
      longest_us = std::max(longest_us, paths_->round_trip_us(member));
    }
  });
  return std::chrono::microseconds(longest_us);
}

std::vector<PriceBook::LinkPrice> PriceBook::link_prices() const {
  std::vector<LinkPrice> result;
  for (const auto& [key, known] : links_) result.push_back({key.from, key.neighbour, known.dollars});
  return result;
}

std::vector<PriceBook::ClientPrice> PriceBook::client_prices() const {
  std::vector<ClientPrice> result;
  for (const auto& [key, known] : clients_) result.push_back({key.name, key.daemon, known.dollars, known.slowest});
  return result;
}

Duration PriceBook::round_trip_before(MemberIndex neighbour) const {
  MemberSet before = MemberSet::first(view_.size());
  behind(view_.self, neighbour).for_each([&](MemberIndex member) { before.erase(member); });
  return round_trip(before);
}

bool PriceBook::has_link(MemberIndex from, MemberIndex neighbour) const {
  const auto [a, b] = std::minmax(from, neighbour);
  const auto at = std::lower_bound(view_.edges.begin(), view_.edges.end(), std::pair(a, b),
                                   [](const Edge& edge, const auto& key) { return std::pair(edge.a, edge.b) < key; });
  return at != view_.edges.end() && at->a == a && at->b == b;
}

MemberSet PriceBook::behind(MemberIndex from, MemberIndex neighbour) const {
  MemberSet members;
  if (paths_->predecessor(neighbour) != from) return members;
  if (from == view_.self) {  // a hub asks this of very many neighbours
    for (std::size_t i = 0; i < view_.size(); ++i) {
      if (paths_->next_hop(static_cast<MemberIndex>(i)) == neighbour) members.insert(static_cast<MemberIndex>(i));
    }
    return members;
  }
  for (std::size_t i = 0; i < view_.size(); ++i) {
    MemberIndex at = static_cast<MemberIndex>(i);
    while (at != ShortestPaths::kNone && at != neighbour) at = paths_->predecessor(at);
    if (at == neighbour) members.insert(static_cast<MemberIndex>(i));
  }
  return members;
}

}  // namespace spindled
