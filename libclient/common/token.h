// Tokens: secrets by which clients prove who they are.
#pragma once

#include <cstddef>
#include <string_view>

#include "libclient/common/hex.h"

namespace spindle {

/// So that whoever finds one in a file or a log knows what it is, and programs that look for secrets do.
inline constexpr std::string_view kTokenPrefix = "spindle-token-";
inline constexpr std::size_t kTokenRandomBytes = 32;
inline constexpr std::size_t kTokenBytes = kTokenPrefix.size() + 2 * kTokenRandomBytes;

/// Whether `text` has the form of a token: the prefix, and 256 bits as hexadecimal digits.
inline bool is_token(std::string_view text) {
  return text.starts_with(kTokenPrefix) && are_hex_digits(text.substr(kTokenPrefix.size()), 2 * kTokenRandomBytes);
}

}  // namespace spindle
