#include "daemon/admission/price_book.h"

#include <algorithm>

namespace spindled {

namespace {
/// A price counts until it has not been repeated for so many T_max.
constexpr int kRepeatsMissedMax = 2;
}  // namespace

void PriceBook::start_view(const View& view) {
  view_ = view;
  self_ = MemberSet::of(view.self);
  paths_.emplace(Adjacency(view.size(), view.edges), view.self);
  links_.clear();
  clients_.clear();
  link_sequences_.clear();
  client_sequences_.clear();
  next_expiry_ = kNever;
  ++version_;
}

bool PriceBook::hear(Time now, const Price& price) {
  if (price.from >= view_.size() || price.from == view_.self) return false;
  const Time expires_at = now + kRepeatsMissedMax * config_.update_max;
  const auto take = [&](auto& sequences, auto& prices, auto key) {
    std::uint64_t& latest = sequences[key];
    if (price.sequence <= latest) return false;
    latest = price.sequence;
    set(prices, std::move(key), price.sixteenths / 16.0, expires_at);
    next_expiry_ = std::min(next_expiry_, expires_at);
    return true;
  };
  if (price.name.empty()) {
    return has_link(price.from, price.neighbour) && take(link_sequences_, links_, LinkKey{price.from, price.neighbour});
  }
  ClientKey key{price.name, price.from};
  if (client_sequences_.size() >= kClientPricesMax && !client_sequences_.contains(key)) return false;
  return take(client_sequences_, clients_, std::move(key));
}

void PriceBook::set_own_link(MemberIndex neighbour, double dollars) {
  set(links_, LinkKey{view_.self, neighbour}, dollars, kNever);
}

void PriceBook::set_own_clients(const std::string& name, double dollars) {
  set(clients_, ClientKey{name, view_.self}, dollars, kNever);
}

template <typename Map, typename Key>
void PriceBook::set(Map& prices, Key key, double dollars, Time expires_at) {
  const auto at = prices.find(key);
  if (dollars <= 0) {
    if (at == prices.end()) return;
    prices.erase(at);
  } else if (at != prices.end()) {
    at->second.expires_at = expires_at;
    if (at->second.dollars == dollars) return;
    at->second.dollars = dollars;
  } else {
    Known known{dollars, expires_at, {}};
    if constexpr (std::is_same_v<Key, LinkKey>) known.behind = behind(key.from, key.neighbour);
    prices.emplace(std::move(key), std::move(known));
  }
  ++version_;
}

void PriceBook::expire(Time now) {
  if (now < next_expiry_) return;
  next_expiry_ = kNever;
  const auto sweep = [&](auto& prices) {
    const std::size_t expired = std::erase_if(prices, [&](const auto& item) { return item.second.expires_at <= now; });
    if (expired != 0) ++version_;
    for (const auto& [key, known] : prices) next_expiry_ = std::min(next_expiry_, known.expires_at);
  };
  sweep(links_);
  sweep(clients_);
}

Quote PriceBook::quote(const DestinationSet& to) const {
  Quote quote;
  quote.receivers = to.daemons.count() - (to.daemons.contains(view_.self) ? 1 : 0);
  const auto add = [&](double dollars, MemberIndex from) {
    quote.congestion += dollars;
    quote.remote = quote.remote || from != view_.self;
  };
  for (const auto& [key, known] : links_) {
    if (!known.behind.intersects(to.daemons)) continue;
    add(known.dollars, key.from);
    if (known.dollars > quote.link.dollars) quote.link = {key.from, key.neighbour, known.dollars};
  }
  if (clients_.empty()) return quote;
  for (const std::string& name : to.names) {
    for (auto at = clients_.lower_bound(ClientKey{name, 0}); at != clients_.end() && at->first.name == name; ++at) {
      const auto& [key, known] = *at;
      if (!to.daemons.contains(key.daemon)) continue;
      add(known.dollars, key.daemon);
      if (known.dollars > quote.clients.dollars) quote.clients = {name, key.daemon, known.dollars};
    }
  }
  return quote;
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
  for (const auto& [key, known] : clients_) result.push_back({key.name, key.daemon, known.dollars});
  return result;
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
  for (std::size_t i = 0; i < view_.size(); ++i) {
    MemberIndex at = static_cast<MemberIndex>(i);
    while (at != ShortestPaths::kNone && at != neighbour) at = paths_->predecessor(at);
    if (at == neighbour) members.insert(static_cast<MemberIndex>(i));
  }
  return members;
}

}  // namespace spindled
