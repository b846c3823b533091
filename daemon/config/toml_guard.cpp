#include "daemon/config/toml_guard.h"

namespace spindled {

namespace {

/// Dots on one line outside of strings and comments. A key of ours has one.
constexpr std::size_t kDotsMax = 16;

/// Whether each byte that starts a UTF-8 sequence is followed by as many as it says.
bool has_whole_characters(std::string_view line) {
  std::size_t missing = 0;
  for (const char byte : line) {
    const auto bits = static_cast<unsigned char>(byte);
    const bool continues = (bits & 0xc0) == 0x80;
    if (continues != (missing != 0)) return false;
    if (continues) {
      --missing;
    } else if (bits >= 0xc0) {
      missing = bits < 0xe0 ? 1 : bits < 0xf0 ? 2 : 3;
    }
  }
  return missing == 0;
}

/// What is wrong with `line`, or nothing.
const char* objection_to(std::string_view line) {
  // The library finds this, too, but as it decodes ahead it names an earlier line.
  if (!has_whole_characters(line)) return "is not valid UTF-8";
  std::size_t dots = 0;
  char quote = 0;  // of the string that the character at `i` is in
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char byte = line[i];
    if (quote != 0) {
      if (byte == quote) quote = 0;
      if (byte == '\\' && quote == '"') ++i;
    } else if (byte == '"' || byte == '\'') {
      if (line.substr(i, 3) == std::string(3, byte)) return "multi-line strings are not supported";
      quote = byte;
    } else if (byte == '#') {
      break;
    } else if (byte == '.' && ++dots > kDotsMax) {
      return "a key has too many parts";
    }
  }
  return nullptr;
}

}  // namespace

std::optional<TomlObjection> find_objection(std::string_view text) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (const char* objection = objection_to(text.substr(0, end))) return TomlObjection{number, objection};
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace spindled
