// The switch of the broken variants, and their names.
#pragma once

#include <optional>
#include <string_view>

#include "tests/hunt/broken/broken.h"

namespace spindled::hunt {

struct VariantText {
  std::string_view name;
  std::string_view text;  // what the daemon then does wrong
};

/// Nothing for Broken::none.
VariantText text_of(Broken variant);
std::optional<Broken> find_variant(std::string_view name);

/// From now on every daemon of this process makes this mistake; Broken::none: none does.
void switch_on(Broken variant);
/// Whether a daemon has come by the place of the mistake since it was switched on.
bool is_reached();

}  // namespace spindled::hunt
