// Looks at a configuration before the TOML library does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace spindled {

struct TomlObjection {
  std::size_t line = 0;
  std::string text;
};

/// The library builds a table for each part of a dotted key and destroys them by recursion, so that a long enough key
/// would overflow the stack. Refuses keys of many parts, and the multi-line strings in which they could hide from
/// this look; no key of ours needs either.
std::optional<TomlObjection> find_objection(std::string_view text);

}  // namespace spindled
