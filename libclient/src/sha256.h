// SHA-256 for the engines of bulk channels.
#pragma once

#include "libclient/bulk/block_index.h"

namespace spindle {

/// Whoever links says by what: sha256.cpp by OpenSSL.
class Sha256 final : public bulk::Hasher {
 public:
  bulk::BlockHash hash(ByteView bytes) const override;
};

}  // namespace spindle
