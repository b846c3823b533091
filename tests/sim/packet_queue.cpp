#include "tests/sim/packet_queue.h"

#include <cmath>
#include <utility>

#include "daemon/base/check.h"

namespace spindled::sim {

bool PacketQueue::push(Time now, Packet packet, Duration transmission) {
  if (properties_.red && drops_early(now, transmission)) return false;
  if (properties_.packets_max != 0 && packets_.size() >= properties_.packets_max) return false;
  packets_.push_back(std::move(packet));
  return true;
}

Packet PacketQueue::pop(Time now) {
  SPINDLE_CHECK(!packets_.empty());
  Packet packet = std::move(packets_.front());
  packets_.pop_front();
  if (packets_.empty()) empty_since_ = now;
  return packet;
}

bool PacketQueue::drops_early(Time now, Duration transmission) {
  const double weight = properties_.red->weight;
  if (!packets_.empty()) {
    mean_ += weight * (static_cast<double>(packets_.size()) - mean_);
  } else if (empty_since_ != Time::min() && transmission > Duration::zero()) {
    // As if so many packets had found it empty as the link could have sent meanwhile.
    mean_ *= std::pow(1 - weight, to_seconds(now - empty_since_) / to_seconds(transmission));
    empty_since_ = now;
  }
  const double probability = drop_probability();
  if (probability <= 0) {
    since_drop_ = 0;
    return false;
  }
  // Section VII: drops come at even intervals rather than in bursts.
  const double spread = 1 - static_cast<double>(since_drop_) * probability;
  if (probability >= 1 || spread <= 0 || random_.chance(probability / spread)) {
    since_drop_ = 0;
    return true;
  }
  ++since_drop_;
  return false;
}

double PacketQueue::drop_probability() const {
  const RedProperties& red = *properties_.red;
  if (mean_ < red.min_threshold) return 0;
  if (mean_ < red.max_threshold) {
    return red.drop_max * (mean_ - red.min_threshold) / (red.max_threshold - red.min_threshold);
  }
  if (!red.is_gentle) return 1;
  return red.drop_max + (1 - red.drop_max) * (mean_ - red.max_threshold) / red.max_threshold;
}

}  // namespace spindled::sim
