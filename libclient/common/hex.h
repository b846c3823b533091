// Bytes as hexadecimal digits, the letters of them small.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "libclient/common/bytes.h"

namespace spindle {

inline std::string to_hex(ByteView bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

/// Whether `text` is `count` such digits.
inline bool are_hex_digits(std::string_view text, std::size_t count) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == count && std::all_of(text.begin(), text.end(), is_digit);
}

}  // namespace spindle
