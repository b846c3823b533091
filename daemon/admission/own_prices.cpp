#include "daemon/admission/own_prices.h"

#include <algorithm>
#include <cmath>

#include "daemon/admission/price_curve.h"

namespace spindled {

namespace {
/// The first price told of a link that cost nothing.
constexpr auto kOnsetSixteenths = static_cast<std::uint32_t>(16 * kOnsetDollars);
/// The soft limit of a fast link, in T_min: news of a queue are up to one old, and what they do is seen one later.
constexpr double kLimitSpans = 2;
/// How much of a new measurement of a link's rate counts.
constexpr double kRateGain = 0.25;
/// So many packets are enough for one.
constexpr std::uint64_t kRatePackets = 256;
/// A client costs so many times less when that is told sooner: one that merely paused for a moment is not to hold its
/// senders up for T_min.
constexpr std::uint32_t kReliefFactor = 2;

std::uint32_t sixteenths_of(double dollars) {
  return static_cast<std::uint32_t>(std::lround(std::min(16 * dollars, double{kPriceSixteenthsMax})));
}
}  // namespace

OwnPrices::OwnPrices(Context& context, const Links& links, Overlay& overlay, PriceBook& book)
    : context_(context), links_(links), overlay_(overlay), book_(book) {}

void OwnPrices::start_view(Time now) {
  const std::vector<Watched> before = std::exchange(watched_, {});
  for (const ForwardingTable::Hop& hop : overlay_.routes().hops()) {
    Watched& watched = watched_.emplace_back();
    watched.link = hop.link;
    watched.neighbour = hop.neighbour;
    watched.seen_at = watched.since = watched.carried_since = now;
    watched.departed = links_.queue_length(hop.link).departed;
    for (const Watched& old : before) {
      if (old.link != hop.link) continue;
      watched.rate = old.rate;
      watched.is_timed = old.is_timed;
    }
  }
  for (auto& [name, clients] : clients_) {
    clients.told = {};
    book_.set_own_clients(name, clients.dollars, clients.slowest);
  }
  sequence_ = 0;
  next_ = now;
}

void OwnPrices::set_clients(const std::string& name, double dollars, std::string_view slowest) {
  book_.set_own_clients(name, dollars, slowest);
  Clients& clients = clients_[name];
  clients.dollars = dollars;
  if (dollars > 0) clients.slowest = slowest;
}

bool OwnPrices::observe(Time now) {
  next_ = kNever;
  bool told = false;
  for (Watched& watched : watched_) told = observe(now, watched) || told;
  for (auto& [name, clients] : clients_) told = observe(now, name, clients) || told;
  // What was told to cost nothing is remembered for T_min: should it cost something again, relief_at looks back so far.
  std::erase_if(clients_, [&](const auto& item) {
    const Clients& clients = item.second;
    if (clients.dollars > 0 || clients.told.sixteenths != 0) return false;
    return !clients.told.at || now >= *clients.told.at + context_.config.admission.update_min;
  });
  return told;
}

bool OwnPrices::observe(Time now, const std::string& name, Clients& clients) {
  const std::uint32_t sixteenths = sixteenths_of(clients.dollars);
  const Time due = std::min(due_at(clients.told, sixteenths), relief_at(clients.told, sixteenths));
  if (due > now) {
    next_ = std::min(next_, due);
    return false;
  }
  Price price;
  price.name = name;
  price.slowest = clients.slowest;
  if (!tell(now, clients.told, sixteenths, std::move(price))) return false;
  next_ = std::min(next_, due_at(clients.told, sixteenths));
  return true;
}

bool OwnPrices::observe(Time now, Watched& watched) {
  if (!links_.is_established(watched.link)) return false;
  const Links::QueueLength length = links_.queue_length(watched.link);
  const AdmissionConfig& config = context_.config.admission;
  watched.waited += static_cast<double>(watched.packets) * to_seconds(now - watched.seen_at);
  measure_rate(now, watched, length.departed);
  watched.seen_at = now;
  if (length.packets != watched.packets) {
    watched.packets = length.packets;
    watched.dollars = queue_price(static_cast<double>(watched.packets), soft_limit(watched), config.price_max);
    book_.set_own_link(watched.neighbour, watched.dollars);
  }
  if (watched.packets == 0 && watched.told.sixteenths == 0 && watched.waited == 0) return false;

  const double span = to_seconds(now - watched.since);
  const bool onset = watched.told.sixteenths == 0;
  // What begins to wait counts as it is: its mean over the time before is nearly nothing.
  const double mean = onset || span <= 0 ? static_cast<double>(watched.packets) : watched.waited / span;
  std::uint32_t sixteenths = sixteenths_of(queue_price(mean, soft_limit(watched), config.price_max));
  if (sixteenths != 0) {
    watched.cost_at = now;
  } else if (!onset && now < watched.cost_at + kLinger) {
    sixteenths = sixteenths_of(kLingerDollars);
  }
  const Time due = due_at(watched.told, sixteenths);
  if (due == kNever) return false;
  if (onset && says_little(watched)) {
    next_ = std::min(next_, now + rate_span());
    return false;
  }
  const Time look_at = now + config.update_min;  // the mean changes though nothing happens
  if (due > now) {
    next_ = std::min({next_, due, look_at});
    return false;
  }
  Price price;
  price.neighbour = watched.neighbour;
  if (!tell(now, watched.told, sixteenths, std::move(price))) return false;
  book_.set_own_link_told(watched.neighbour, sixteenths / 16.0);
  watched.waited = 0;
  watched.since = now;
  if (sixteenths != 0) next_ = std::min(next_, look_at);
  return true;
}

double OwnPrices::soft_limit(const Watched& watched) const {
  const AdmissionConfig& config = context_.config.admission;
  return std::max(static_cast<double>(config.queue_packets),
                  kLimitSpans * watched.rate * to_seconds(config.update_min));
}

/// As long as nobody knows how fast a link is, its queue may mean much or nothing. On a fast one it is gone in a
/// moment; told as that of a slow one, it would hold senders up for as long as its price lingers.
bool OwnPrices::says_little(const Watched& watched) const {
  return !watched.is_timed && watched.packets < context_.config.admission.queue_packets / 2;
}

/// How long packets have waited when a link's rate can be told from those that left meanwhile.
Duration OwnPrices::rate_span() const { return context_.config.admission.update_min / 4; }

/// Before `watched` is brought up to date.
void OwnPrices::measure_rate(Time now, Watched& watched, std::uint64_t departed) {
  const std::uint64_t departed_since = departed - std::exchange(watched.departed, departed);
  measure_carried(now, watched, departed_since);
  if (watched.packets == 0) return;
  watched.busy += now - watched.seen_at;
  watched.busy_departed += departed_since;
  if (watched.busy < rate_span() && watched.busy_departed < kRatePackets) return;
  if (watched.busy <= Duration::zero()) return;
  const double rate = static_cast<double>(watched.busy_departed) / to_seconds(watched.busy);
  watched.rate = watched.is_timed ? watched.rate + kRateGain * (rate - watched.rate) : std::max(watched.rate, rate);
  watched.is_timed = true;
  watched.busy = Duration::zero();
  watched.busy_departed = 0;
}

/// A link takes at least what it has carried, though nothing waited: its first queue is not to cost what it would on a
/// slow link. A long span counts, in which buffers below cannot hide much.
void OwnPrices::measure_carried(Time now, Watched& watched, std::uint64_t departed_since) {
  watched.carried += departed_since;
  const Duration span = now - watched.carried_since;
  if (span < context_.config.admission.update_min) return;
  watched.rate = std::max(watched.rate, static_cast<double>(std::exchange(watched.carried, 0)) / to_seconds(span));
  watched.carried_since = now;
}

Time OwnPrices::due_at(const Told& told, std::uint32_t sixteenths) const {
  const AdmissionConfig& config = context_.config.admission;
  if (told.sixteenths == 0 && sixteenths < kOnsetSixteenths) return kNever;
  // The first word of a price does not wait for T_min. It comes seldom enough: prices linger before they are zero.
  if (told.sixteenths == 0) return Time{};
  return *told.at + (told.sixteenths == sixteenths ? config.update_max : config.update_min);
}

/// Two prices in a row may be nearer than T_min, where the two before them were so much farther apart.
Time OwnPrices::relief_at(const Told& told, std::uint32_t sixteenths) const {
  if (told.sixteenths == 0 || sixteenths * kReliefFactor > told.sixteenths) return kNever;
  if (!told.at_before) return *told.at;
  return std::max(*told.at, *told.at_before + 2 * context_.config.admission.update_min);
}

bool OwnPrices::tell(Time now, Told& told, std::uint32_t sixteenths, Price price) {
  price.sixteenths = sixteenths;
  price.sequence = sequence_ + 1;
  if (!overlay_.flood_price(std::move(price))) return false;  // a new view comes, and begins anew
  ++sequence_;
  told.sixteenths = sixteenths;
  told.at_before = std::exchange(told.at, now);
  context_.counters.add(Counter::prices_told);
  return true;
}

std::vector<OwnPrices::LinkView> OwnPrices::links() const {
  std::vector<LinkView> result;
  for (const Watched& watched : watched_) {
    result.push_back({watched.neighbour, watched.link, static_cast<double>(watched.packets), soft_limit(watched),
                      watched.rate, watched.dollars});
  }
  return result;
}

}  // namespace spindled
