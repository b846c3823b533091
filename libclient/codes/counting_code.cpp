#include "libclient/codes/counting_code.h"

#include <algorithm>
#include <vector>

namespace spindle::codes {

namespace {

/// The finalizer of SplitMix64: all bits of the result depend on all bits of the value.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/// How many symbols more than a block has it takes, of a number that is drawn with equal chances.
std::size_t more_needed(std::uint64_t drawn) {
  std::size_t more = 0;
  for (std::uint64_t bound = UINT64_MAX / 100; drawn < bound; bound /= 100) ++more;
  return more;
}

class Encoder : public ErasureEncoder {
 public:
  void load(const std::uint8_t*) override {}
  void encode(std::uint32_t, std::uint8_t*) const override {}
  std::size_t memory_bytes() const override { return 0; }
};

class Decoder : public ErasureDecoder {
 public:
  Decoder(const BlockShape& shape, std::uint64_t seed) : ErasureDecoder(shape), seed_(seed), drawn_(seed) {}

  bool add(std::uint32_t esi, const std::uint8_t*) override {
    const auto place = std::lower_bound(ids_.begin(), ids_.end(), esi);
    if (place != ids_.end() && *place == esi) return false;
    // A sum, whatever the order.
    if (ids_.size() < shape().source_symbols) drawn_ += mix(seed_ ^ mix(esi));
    ids_.insert(place, esi);
    return true;
  }
  std::size_t symbols() const override { return ids_.size(); }
  std::size_t memory_bytes() const override { return ids_.capacity() * sizeof(std::uint32_t); }

 private:
  bool try_decode(std::uint8_t*) const override {
    const std::uint32_t count = shape().source_symbols;
    const bool has_source = ids_[count - 1] == count - 1;
    return has_source || ids_.size() >= count + more_needed(mix(drawn_));
  }
  void forget() override {
    ids_.clear();
    drawn_ = seed_;
  }

  const std::uint64_t seed_;
  std::uint64_t drawn_;             // from the ids that were there first
  std::vector<std::uint32_t> ids_;  // in order
};

}  // namespace

std::unique_ptr<ErasureEncoder> CountingCode::make_encoder(const BlockShape&) const {
  return std::make_unique<Encoder>();
}

std::unique_ptr<ErasureDecoder> CountingCode::make_decoder(const BlockShape& shape) const {
  return std::make_unique<Decoder>(shape, seed_);
}

}  // namespace spindle::codes
