// The version of Spindle. docs/versioning.md says what changes with which of the numbers.
#pragma once

#include <string_view>

#include "spindle/export.h"

// Of these headers.
#define SPINDLE_VERSION_MAJOR 0
#define SPINDLE_VERSION_MINOR 1
#define SPINDLE_VERSION_PATCH 0
/// One number that grows with the version, for comparisons: 0.1.0 is 100, 1.2.3 is 10203.
#define SPINDLE_VERSION_NUMBER (SPINDLE_VERSION_MAJOR * 10000 + SPINDLE_VERSION_MINOR * 100 + SPINDLE_VERSION_PATCH)

namespace spindle {

/// That of the library that the program runs with, such as "0.1.0": it may be newer than the headers.
[[nodiscard]] SPINDLE_EXPORT std::string_view version() noexcept;

}  // namespace spindle
