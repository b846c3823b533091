// SHA-256 for the engines of bulk channels.
#pragma once

#include <openssl/sha.h>

#include "libclient/bulk/block_index.h"

namespace spindle {

class Sha256 final : public bulk::Hasher {
 public:
  bulk::BlockHash hash(ByteView bytes) const override {
    bulk::BlockHash hash{};
    ::SHA256(bytes.data(), bytes.size(), hash.data());
    return hash;
  }
};

}  // namespace spindle
