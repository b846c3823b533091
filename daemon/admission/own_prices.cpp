#include "daemon/admission/own_prices.h"

#include <algorithm>
#include <cmath>

#include "daemon/admission/price_curve.h"

namespace spindled {

namespace {
/// A price that changes by no more than this, a thousandth, is not told again sooner than every T_max.
constexpr int kSameLevels = 2;
/// A client costs half or less, by 2048 ln 2, when that is told sooner: one that merely paused for a moment is not to
/// hold its senders up for T_min.
constexpr int kReliefLevels = 1419;

bool is_same(std::uint16_t told, std::uint16_t level) {
  return told == level || (told != 0 && level != 0 && std::abs(int{told} - int{level}) <= kSameLevels);
}

/// Prices from the first word of which senders need not be told yet.
bool is_little(std::uint16_t level, double fee) { return level < level_of(kOnsetFees * fee); }
}  // namespace

OwnPrices::OwnPrices(Context& context, const Links& links, Overlay& overlay, PriceBook& book)
    : context_(context), links_(links), overlay_(overlay), book_(book) {}

void OwnPrices::start_view(Time now) {
  std::vector<Watched> before = std::exchange(watched_, {});
  for (const ForwardingTable::Hop& hop : overlay_.routes().hops()) {
    const auto old =
        std::find_if(before.begin(), before.end(), [&](const Watched& each) { return each.link == hop.link; });
    LinkPrice price = old == before.end() ? LinkPrice(context_.config.admission) : old->price;
    price.start(now, book_.round_trip_before(hop.neighbour), book_.round_trip(MemberSet::of(hop.neighbour)),
                queue_of(hop.link));
    const bool costs = price.costs();
    watched_.push_back({hop.link, hop.neighbour, price, {}, costs});
  }
  round_trip_ = book_.round_trip(MemberSet::first(book_.view().size()));
  for (auto& [name, clients] : clients_) {
    clients.told = {};
    schedule(name, clients);
    book_.set_own_clients(now, name, clients.dollars, clients_delay(), clients.slowest);
  }
  names_told_ = 0;
  sequence_ = 0;
  next_ = now;
}

LinkPrice::Queue OwnPrices::queue_of(LinkId link) const {
  const Links::QueueLength length = links_.queue_length(link);
  return {length.packets, length.departed, length.departed_squares};
}

void OwnPrices::set_clients(Time now, const std::string& name, double dollars, std::string_view slowest) {
  book_.set_own_clients(now, name, dollars, clients_delay(), slowest);
  const auto at = clients_.try_emplace(name).first;
  at->second.dollars = dollars;
  if (dollars > 0) at->second.slowest = slowest;
  schedule(at->first, at->second);
}

bool OwnPrices::observe(Time now) {
  next_ = kNever;
  bool told = false;
  for (Watched& watched : watched_) told = observe(now, watched) || told;
  return observe_clients(now) || told;
}

Time OwnPrices::look_at(const Clients& clients) const {
  if (clients.dollars > 0 || clients.told.level != 0) {
    const std::uint16_t level = level_of(clients.dollars);
    return std::min(due_at(clients.told, level), relief_at(clients.told, level));
  }
  // What was told to cost nothing is remembered for T_min: should it cost something again, relief_at looks back so far.
  return clients.told.at ? *clients.told.at + context_.config.admission.update_min : Time{};
}

void OwnPrices::schedule(const std::string& name, Clients& clients) {
  const Time at = look_at(clients);
  if (at == clients.look_at) return;
  due_.erase({clients.look_at, name});
  clients.look_at = at;
  if (at != kNever) due_.emplace(at, name);
}

bool OwnPrices::observe_clients(Time now) {
  const Duration period = context_.config.admission.update_min;
  if (now >= names_told_since_ + period) {
    names_told_since_ = now;
    names_told_ = 0;
  }
  bool told = false;
  while (!due_.empty() && due_.begin()->first <= now) {
    const auto at = clients_.find(due_.begin()->second);
    Clients& clients = at->second;
    if (clients.dollars <= 0 && clients.told.level == 0) {
      due_.erase(due_.begin());
      clients_.erase(at);
      continue;
    }
    if (names_told_ == kNamesToldMax) {
      next_ = std::min(next_, names_told_since_ + period);
      return told;
    }
    Price price;
    price.name = at->first;
    price.slowest = clients.slowest;
    const std::uint16_t level = level_of(clients.dollars);
    if (!tell(now, clients.told, level, clients_delay(), std::move(price))) return told;
    ++names_told_;
    told = true;
    schedule(at->first, clients);
  }
  if (!due_.empty()) next_ = std::min(next_, due_.begin()->first);
  return told;
}

bool OwnPrices::observe(Time now, Watched& watched) {
  if (!links_.is_established(watched.link)) return false;
  LinkPrice& price = watched.price;
  watched.is_due = price.observe(now, queue_of(watched.link)) || watched.is_due;
  next_ = std::min(next_, price.next_deadline());
  if (!watched.is_due) return false;
  const std::uint16_t level = level_of(price.dollars());
  Told& told = watched.told;
  if (is_same(told.level, level) && (level == 0 || now < *told.at + context_.config.admission.update_max)) {
    watched.is_due = false;
    return false;
  }
  Price frame;
  frame.neighbour = watched.neighbour;
  if (!tell(now, told, level, price.delay(), std::move(frame))) return false;
  watched.is_due = false;
  book_.set_own_link(now, watched.neighbour, dollars_of(level), price_delay_of(price.delay()) * kPriceDelayUnit);
  return true;
}

Time OwnPrices::due_at(const Told& told, std::uint16_t level) const {
  const AdmissionConfig& config = context_.config.admission;
  if (told.level == 0 && is_little(level, context_.config.admission.fee)) return kNever;
  // The first word of a price does not wait for T_min. It comes seldom enough: prices linger before they are zero.
  if (told.level == 0) return Time{};
  return *told.at + (is_same(told.level, level) ? config.update_max : config.update_min);
}

/// Two prices in a row may be nearer than T_min, where the two before them were so much farther apart.
Time OwnPrices::relief_at(const Told& told, std::uint16_t level) const {
  if (told.level == 0 || (level != 0 && told.level - level < kReliefLevels)) return kNever;
  if (!told.at_before) return *told.at;
  return std::max(*told.at, *told.at_before + 2 * context_.config.admission.update_min);
}

bool OwnPrices::tell(Time now, Told& told, std::uint16_t level, Duration delay, Price price) {
  price.level = level;
  price.delay = price_delay_of(delay);
  price.sequence = sequence_ + 1;
  if (!overlay_.prices().flood(std::move(price))) return false;  // a new view comes, and begins anew
  ++sequence_;
  told.level = level;
  told.at_before = std::exchange(told.at, now);
  context_.counters.add(Counter::prices_told);
  return true;
}

std::vector<OwnPrices::LinkView> OwnPrices::links() const {
  std::vector<LinkView> result;
  for (const Watched& watched : watched_) {
    const LinkPrice& price = watched.price;
    result.push_back({watched.neighbour, watched.link, static_cast<double>(price.packets()), price.aim_packets(),
                      price.known_rate(), dollars_of(watched.told.level)});
  }
  return result;
}

}  // namespace spindled
