#include "libclient/tls/token_digest.h"

#include <openssl/sha.h>

#include "libclient/common/hex.h"

namespace spindle {

std::string token_digest(std::string_view token) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(as_bytes(token).data(), token.size(), digest);
  return to_hex(digest);
}

}  // namespace spindle
