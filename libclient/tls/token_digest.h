// What is kept of a token where clients are checked.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spindle {

inline constexpr std::size_t kTokenDigestDigits = 64;

/// SHA-256 (FIPS 180-4) of the text of `token`, as `printf %s TOKEN | sha256sum` writes it. A token has 256 random
/// bits: nobody finds it from its digest, so that salt and many rounds, as passwords need them, would only cost time.
std::string token_digest(std::string_view token);

}  // namespace spindle
