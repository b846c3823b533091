// Words that help whoever wrote a configuration that is not valid.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spindled {

/// What to say about a section, or a value outside of all sections, that does not exist.
std::string unknown_section(std::string_view name, bool is_value);

/// What may have been meant by a key that `section` does not have.
std::string suggest_key(std::string_view section, std::string_view name);

/// The key on a line of a text that is no TOML, with the section that it is in; empty where there is none to be seen.
std::string find_key_at(std::string_view text, std::size_t line);

}  // namespace spindled
