#include "daemon/overlay/own_advertisement.h"

#include <algorithm>

namespace spindled {

bool same_topology(const std::vector<AdvertisedLink>& a, const std::vector<AdvertisedLink>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const AdvertisedLink& x, const AdvertisedLink& y) {
    return x.neighbour == y.neighbour && x.neighbour_incarnation == y.neighbour_incarnation && x.weight == y.weight;
  });
}

OwnAdvertisement::OwnAdvertisement(DaemonId self, Duration refresh_interval) : refresh_interval_(refresh_interval) {
  published_.origin = std::move(self);
}

void OwnAdvertisement::set_links(Time now, std::vector<AdvertisedLink> links) {
  if (links != links_) ++version_;
  const bool changed = !same_topology(links, links_);
  links_ = std::move(links);
  if (changed || published_.sequence == 0) change(now);
}

void OwnAdvertisement::neighbour_lost(Time now, const std::string& neighbour) {
  lost_.insert(neighbour);
  ++version_;
  change(now);
}

void OwnAdvertisement::jump_above(Time now, std::uint64_t sequence) {
  if (sequence <= published_.sequence) return;
  published_.sequence = sequence;
  change(now);
}

void OwnAdvertisement::change(Time now) { timers_.set_earlier(Timer::advertise, std::max(now, spaced_until_)); }

const LinkState* OwnAdvertisement::take_due(Time now) {
  const bool advertise = timers_.take_due(Timer::advertise, now);
  const bool refresh = timers_.take_due(Timer::refresh, now);
  if (!advertise && !refresh) return nullptr;
  published_.links = usable_links();
  ++published_.sequence;
  spaced_until_ = now + kAdvertisementSpacing;
  timers_.stop(Timer::advertise);
  timers_.set(Timer::refresh, now + refresh_interval_);
  if (!lost_.empty()) ++version_;
  lost_.clear();
  if (!same_topology(published_.links, links_)) change(now);
  return &published_;
}

LinkState OwnAdvertisement::current() const { return {published_.origin, published_.sequence, usable_links()}; }

std::vector<AdvertisedLink> OwnAdvertisement::usable_links() const {
  std::vector<AdvertisedLink> links = links_;
  std::erase_if(links, [&](const AdvertisedLink& link) { return lost_.contains(link.neighbour); });
  return links;
}

}  // namespace spindled
