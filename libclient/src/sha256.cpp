#include "libclient/src/sha256.h"

#include <openssl/sha.h>

namespace spindle {

bulk::BlockHash Sha256::hash(ByteView bytes) const {
  bulk::BlockHash hash{};
  ::SHA256(bytes.data(), bytes.size(), hash.data());
  return hash;
}

}  // namespace spindle
