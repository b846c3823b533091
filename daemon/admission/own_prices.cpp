#include "daemon/admission/own_prices.h"

#include <algorithm>
#include <cmath>

#include "daemon/admission/price_curve.h"

namespace spindled {

namespace {
/// The first price told of a link that cost nothing: a packet or two that wait for a moment are not worth a word.
constexpr std::uint32_t kOnsetSixteenths = 4;
/// How much of a new measurement of a link's rate counts.
constexpr double kRateGain = 0.25;
/// So many packets are enough for one.
constexpr std::uint64_t kRatePackets = 256;

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
    watched.seen_at = watched.since = now;
    watched.departed = links_.queue_length(hop.link).departed;
    for (const Watched& old : before) {
      if (old.link == hop.link) watched.rate = old.rate;
    }
  }
  for (auto& [name, clients] : clients_) {
    clients.told = {};
    book_.set_own_clients(name, clients.dollars);
  }
  next_ = now;
}

void OwnPrices::set_clients(const std::string& name, double dollars) {
  book_.set_own_clients(name, dollars);
  clients_[name].dollars = dollars;
}

bool OwnPrices::observe(Time now) {
  next_ = kNever;
  bool told = false;
  for (Watched& watched : watched_) told = observe(now, watched) || told;
  for (auto at = clients_.begin(); at != clients_.end();) {
    auto& [name, clients] = *at;
    const std::uint32_t sixteenths = sixteenths_of(clients.dollars);
    if (is_due(now, clients.told, sixteenths)) {
      Price price;
      price.name = name;
      told = tell(now, clients.told, sixteenths, std::move(price)) || told;
    }
    // Kept for a while after it was told to be nothing: sequence numbers must go on growing.
    at = sixteenths == 0 && clients.told.sequence == 0 ? clients_.erase(at) : std::next(at);
  }
  return told;
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
  const std::uint32_t sixteenths = sixteenths_of(queue_price(mean, soft_limit(watched), config.price_max));
  if (!is_due(now, watched.told, sixteenths)) return false;
  watched.waited = 0;
  watched.since = now;
  Price price;
  price.neighbour = watched.neighbour;
  return tell(now, watched.told, sixteenths, std::move(price));
}

double OwnPrices::soft_limit(const Watched& watched) const {
  const AdmissionConfig& config = context_.config.admission;
  return std::max(static_cast<double>(config.queue_packets), watched.rate * to_seconds(config.update_min));
}

/// Before `watched` is brought up to date.
void OwnPrices::measure_rate(Time now, Watched& watched, std::uint64_t departed) {
  const std::uint64_t departed_since = departed - std::exchange(watched.departed, departed);
  if (watched.packets == 0) return;
  watched.busy += now - watched.seen_at;
  watched.busy_departed += departed_since;
  if (watched.busy < context_.config.admission.update_min / 4 && watched.busy_departed < kRatePackets) return;
  if (watched.busy <= Duration::zero()) return;
  const double rate = static_cast<double>(watched.busy_departed) / to_seconds(watched.busy);
  watched.rate = watched.rate == 0 ? rate : watched.rate + kRateGain * (rate - watched.rate);
  watched.busy = Duration::zero();
  watched.busy_departed = 0;
}

bool OwnPrices::is_due(Time now, const Told& told, std::uint32_t sixteenths) {
  const AdmissionConfig& config = context_.config.admission;
  if (told.sixteenths == 0 && sixteenths < kOnsetSixteenths) return false;
  const bool same = told.sixteenths == sixteenths;
  const Time due = told.sequence == 0 ? now : told.at + (same ? config.update_max : config.update_min);
  if (now >= due) return true;
  next_ = std::min(next_, same ? std::min(due, now + config.update_min) : due);
  return false;
}

bool OwnPrices::tell(Time now, Told& told, std::uint32_t sixteenths, Price price) {
  told.sixteenths = price.sixteenths = sixteenths;
  told.at = now;
  price.sequence = ++told.sequence;
  overlay_.flood_price(std::move(price));
  context_.counters.add(Counter::prices_told);
  if (sixteenths != 0) next_ = std::min(next_, now + context_.config.admission.update_min);
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
