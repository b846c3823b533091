// Mistakes that can be switched on, to see whether the hunt finds them: docs/simulator.md, "Broken variants".
#pragma once

#include <cstdint>

namespace spindled {

enum class Broken : std::uint8_t {
  none,
#define X(name, text) name,
#include "mistakes.inc"
#undef X
  count_
};

/// Whether `variant` is the one switched on.
bool broken(Broken variant);

}  // namespace spindled
