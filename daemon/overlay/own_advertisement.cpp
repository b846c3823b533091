#include "daemon/overlay/own_advertisement.h"

#include <algorithm>
#include <utility>

namespace spindled {

bool same_topology(const std::vector<AdvertisedLink>& a, const std::vector<AdvertisedLink>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const AdvertisedLink& x, const AdvertisedLink& y) {
    return x.neighbour == y.neighbour && x.neighbour_incarnation == y.neighbour_incarnation && x.weight == y.weight;
  });
}

OwnAdvertisement::OwnAdvertisement(DaemonId self, Duration refresh_interval) : refresh_interval_(refresh_interval) {
  published_.origin = std::move(self);
  published_.stays_out = true;
}

void OwnAdvertisement::set_links(Time now, std::vector<AdvertisedLink> links) {
  if (links != links_) ++version_;
  const bool changed = !same_topology(links, links_);
  links_ = std::move(links);
  if ((changed && !stays_out_) || published_.sequence == 0) change(now);
}

void OwnAdvertisement::neighbour_lost(Time now, const DaemonId& neighbour) {
  lost_.insert(neighbour);
  ++version_;
  change(now);
}

void OwnAdvertisement::set_stays_out(Time now, bool stays_out) {
  if (stays_out == stays_out_) return;
  stays_out_ = stays_out;
  ++version_;
  change(now);
}

void OwnAdvertisement::set_settings(Time now, const DaemonSettings& settings) {
  if (std::exchange(settings_, settings) != settings && published_.sequence != 0) change(now);
}

void OwnAdvertisement::jump_above(Time now, std::uint64_t sequence) {
  if (sequence < told_ + kSequenceJumpMax / 2) jump_above_lives(now, sequence);
}

void OwnAdvertisement::jump_above_lives(Time now, std::uint64_t sequence) {
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
  published_.stays_out = stays_out_;
  published_.settings = settings_;
  told_ = ++published_.sequence;
  ++version_;
  spaced_until_ = now + kAdvertisementSpacing;
  timers_.stop(Timer::advertise);
  timers_.set(Timer::refresh, now + refresh_interval_);
  const bool told_loss = !lost_.empty();
  lost_.clear();
  if (!stays_out_ && told_loss && !same_topology(published_.links, links_)) change(now);
  return &published_;
}

LinkState OwnAdvertisement::current() const {
  LinkState state{published_.origin, published_.sequence, usable_links(), stays_out_, settings_};
  const auto is_advertised = [&](const AdvertisedLink& link) {
    const auto at = std::lower_bound(published_.links.begin(), published_.links.end(), key_of(link),
                                     [](const AdvertisedLink& each, const auto& key) { return key_of(each) < key; });
    return at != published_.links.end() && key_of(*at) == key_of(link);
  };
  std::erase_if(state.links, [&](const AdvertisedLink& link) { return !is_advertised(link); });
  return state;
}

std::vector<AdvertisedLink> OwnAdvertisement::usable_links() const {
  if (stays_out_) return {};
  std::vector<AdvertisedLink> links = links_;
  std::erase_if(links, [&](const AdvertisedLink& link) {
    return lost_.contains(DaemonId{link.neighbour, link.neighbour_incarnation});
  });
  return links;
}

}  // namespace spindled
