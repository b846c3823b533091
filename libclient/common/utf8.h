// UTF-8: which bytes are text. Names of groups and payloads may be anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spindle {

/// Bytes of the well-formed character at the front of `text`; 0 where there is none. Overlong forms, surrogates and
/// what lies beyond U+10FFFF are not well-formed.
constexpr std::size_t utf8_character_size(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  // The range of the second byte is what rules the exceptions out.
  std::size_t size = 0;
  std::uint8_t low = 0x80, high = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) {
    size = 2;
  } else if ((first & 0xf0) == 0xe0) {
    size = 3;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    size = 4;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  }
  if (size == 0 || text.size() < size || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return size;
}

constexpr bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = utf8_character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace spindle
