#include "bench/hosts/cluster/histogram.h"

#include <fmt/format.h>

#include <bit>

namespace spindle::bench {

void Histogram::record(std::int64_t nanoseconds) {
  const auto value = static_cast<std::uint64_t>(nanoseconds < 0 ? 0 : nanoseconds);
  std::size_t bucket = static_cast<std::size_t>(value);
  if (value >= kExact) {
    const auto shift = static_cast<std::size_t>(std::bit_width(value)) - 7;  // leaves 64 to 127
    bucket = kExact + (shift - 1) * kPerDoubling + static_cast<std::size_t>(value >> shift) - kPerDoubling;
  }
  if (counts_.size() <= bucket) counts_.resize(bucket + 1);
  ++counts_[bucket];
}

std::string Histogram::to_json() const {
  std::string json = "[";
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    if (counts_[bucket] == 0) continue;
    std::uint64_t middle = bucket;
    if (bucket >= kExact) {
      const std::size_t shift = (bucket - kExact) / kPerDoubling + 1;
      const std::uint64_t low = (kPerDoubling + (bucket - kExact) % kPerDoubling) << shift;
      middle = low + (std::uint64_t{1} << shift) / 2;
    }
    json += fmt::format("{}[{}, {}]", json.size() == 1 ? "" : ", ", middle, counts_[bucket]);
  }
  return json + "]";
}

}  // namespace spindle::bench
