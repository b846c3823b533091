#include "libclient/common/printable.h"

#include <algorithm>

#include "libclient/common/utf8.h"

namespace spindle {

namespace {

/// C1 control characters, which terminals obey, are two bytes long.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  return first < 0x20 || first == 0x7f ||
         (character.size() == 2 && first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
}

}  // namespace

std::string printable(std::string_view text, Backslash backslash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result;
  while (!text.empty()) {
    const std::size_t size = utf8_character_size(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
    text.remove_prefix(character.size());
    if (size != 0 && !is_control(character) && (character != "\\" || backslash == Backslash::kept)) {
      result += character;
      continue;
    }
    for (const char byte : character) {
      const auto value = static_cast<unsigned char>(byte);
      result += {'\\', 'x', kDigits[value >> 4], kDigits[value & 0xf]};
    }
  }
  return result;
}

}  // namespace spindle
