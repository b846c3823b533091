#include "libclient/protocol/back_off.h"

#include <algorithm>

namespace spindle::protocol {

std::chrono::nanoseconds BackOff::next() {
  if (attempts_ == 0) {
    ++attempts_;
    return {};
  }
  constexpr unsigned kDoublingsMax = 6;
  const std::chrono::nanoseconds wait =
      std::min<std::chrono::nanoseconds>(kFirst * (1 << std::min(attempts_ - 1, kDoublingsMax)), kLongest);
  ++attempts_;
  // A linear congruential generator (Knuth, MMIX) is good enough to spread clients out.
  state_ = state_ * 6364136223846793005u + 1442695040888963407u;
  const auto share = static_cast<std::int64_t>(state_ >> 54);  // below 1,024
  return wait / 2 + wait / 2 * share / 1024;
}

}  // namespace spindle::protocol
