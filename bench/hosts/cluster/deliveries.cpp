#include "bench/hosts/cluster/deliveries.h"

#include "bench/hosts/client_lines.h"

namespace spindle::bench {

Stamp Deliveries::take(std::span<const std::byte> payload) {
  if (payload.size() != size_) fail("a message of {} bytes arrived instead of {}", payload.size(), size_);
  const Stamp stamp = read_stamp(payload);
  if (stamp.sender >= next_.size()) fail("a message of an unknown sender arrived");
  if (stamp.sequence != next_[stamp.sender]) {
    fail("message {} of sender {} arrived instead of {}", stamp.sequence, stamp.sender, next_[stamp.sender]);
  }
  ++next_[stamp.sender];
  ++count_;
  digest_ = (digest_ ^ (std::uint64_t{stamp.sender} << 32 | stamp.sequence)) * 0x9e3779b97f4a7c15u;
  digest_ ^= digest_ >> 29;
  if (stamp.last != 0 && ++finished_ == next_.size()) complete_.set_value();
  return stamp;
}

}  // namespace spindle::bench
