#include "tests/sim/packet_path.h"

#include <algorithm>
#include <utility>

#include "daemon/base/check.h"

namespace spindled::sim {

PacketPath::PacketPath(EventQueue& events, const PacketPathProperties& properties, std::uint64_t seed)
    : events_(&events), properties_(properties), random_(seed), queue_(properties.queue, random_.split()) {}

void PacketPath::enter(Packet packet) {
  if (scripted_.erase(counts_.entered++) != 0) {
    ++counts_.lost;
    return;
  }
  // One that need not wait passes through the queue all the same: RED counts it.
  const Duration needed = transmission(packet.bytes);
  if (!queue_.push(events_->now(), std::move(packet), needed)) {
    ++counts_.dropped;
    return;
  }
  if (!sending_) transmit(queue_.pop(events_->now()));
}

Duration PacketPath::transmission(std::size_t bytes) const {
  if (properties_.bytes_per_second == 0) return Duration::zero();
  return from_seconds(static_cast<double>(bytes) / static_cast<double>(properties_.bytes_per_second));
}

void PacketPath::transmit(Packet packet) {
  const Duration needed = transmission(packet.bytes);
  if (needed == Duration::zero()) {
    travel(std::move(packet));
    return;
  }
  sending_ = std::move(packet);
  events_->after(needed, [this] { transmitted(); });
}

void PacketPath::transmitted() {
  travel(*std::exchange(sending_, std::nullopt));
  if (!queue_.empty()) transmit(queue_.pop(events_->now()));
}

void PacketPath::travel(Packet packet) {
  ++counts_.left;
  counts_.bytes_left += packet.bytes;
  if (is_lost()) {
    ++counts_.lost;
    return;
  }
  Duration delay = properties_.delay;
  if (properties_.jitter > Duration::zero()) {
    delay += Duration(
        static_cast<Duration::rep>(random_.between(0, static_cast<std::uint64_t>(properties_.jitter.count()))));
  }
  Time at = std::max(events_->now() + delay, last_arrival_);
  if (properties_.reordered > 0 && random_.chance(properties_.reordered)) {
    at += properties_.reordered_by;
  } else {
    last_arrival_ = at;
  }
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(travelling_.size()));
    travelling_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  travelling_[place] = std::move(packet);
  events_->at(at, [this, place] { arrive(place); });
}

bool PacketPath::is_lost() {
  bool is_lost = properties_.loss > 0 && random_.chance(properties_.loss);
  if (properties_.bursts) {
    const BurstLoss& bursts = *properties_.bursts;
    if (random_.chance(is_bad_ ? bursts.to_good : bursts.to_bad)) is_bad_ = !is_bad_;
    is_lost |= random_.chance(is_bad_ ? bursts.loss_bad : bursts.loss_good);
  }
  return is_lost;
}

void PacketPath::arrive(std::uint32_t place) {
  Packet packet = std::exchange(travelling_[place], Packet());
  free_.push_back(place);
  if (++packet.hop < packet.route->size()) {
    PacketPath& next = *(*packet.route)[packet.hop];
    next.enter(std::move(packet));
  } else {
    packet.arrived();
  }
}

void send_packet(const PacketRoute& route, std::size_t bytes, std::function<void()> arrived) {
  SPINDLE_CHECK(!route.empty());
  route.front()->enter({bytes, std::move(arrived), &route});
}

}  // namespace spindled::sim
