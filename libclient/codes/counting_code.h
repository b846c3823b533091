// A code that carries no bytes, for simulations of many receivers.
#pragma once

#include "libclient/codes/erasure_code.h"

namespace spindle::codes {

/// Symbols are ids only: contents and symbols are neither read nor written, and may be null. All source symbols give
/// the block, and any others as RaptorQ promises: as many as it has fail in 1 % of all cases, one more in 0.01 %, two
/// more in 0.0001 %, and so on by hundredths (RFC 6330, section 5.8). The ids that were there first, as many as the
/// block has source symbols, and the seed decide: the same symbols do the same everywhere, as with a real code.
class CountingCode : public ErasureCode {
 public:
  explicit CountingCode(std::uint64_t seed) : seed_(seed) {}

  std::uint32_t source_symbols_max() const override { return UINT32_MAX; }
  std::unique_ptr<ErasureEncoder> make_encoder(const BlockShape& shape) const override;
  std::unique_ptr<ErasureDecoder> make_decoder(const BlockShape& shape) const override;
  std::size_t decoding_bytes(const BlockShape&) const override { return 0; }

 private:
  std::uint64_t seed_;
};

}  // namespace spindle::codes
