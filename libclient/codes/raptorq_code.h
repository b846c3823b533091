// RaptorQ as a code for bulk channels.
#pragma once

#include "libclient/codes/encoding_plans.h"
#include "libclient/codes/erasure_code.h"

namespace spindle::codes {

/// RFC 6330. A decoder has enough with as many symbols as the block has with a probability of 99 %, and with two more
/// with 99.9999 % (section 5.8).
class RaptorQCode : public ErasureCode {
 public:
  std::uint32_t source_symbols_max() const override { return kBlockSymbolsMax; }
  std::unique_ptr<ErasureEncoder> make_encoder(const BlockShape& shape) const override;
  std::unique_ptr<ErasureDecoder> make_decoder(const BlockShape& shape) const override;
  std::size_t decoding_bytes(const BlockShape& shape) const override;

 private:
  /// Channels have blocks of one shape, but for their last ones.
  static constexpr std::size_t kPlans = 8;

  mutable EncodingPlans plans_{kPlans};
};

}  // namespace spindle::codes
