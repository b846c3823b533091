// Standard output of spmonitor.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spmonitor {

/// Writes all of it. Nothing on success; otherwise why not, and an empty text where nobody reads any more.
std::optional<std::string> print(std::string_view text);

}  // namespace spmonitor
