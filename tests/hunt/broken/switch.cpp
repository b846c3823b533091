#include "tests/hunt/broken/switch.h"

#include <array>

namespace spindled {

namespace {

constexpr std::array kTexts{
    hunt::VariantText{},
#define X(name, text) hunt::VariantText{#name, text},
#include "mistakes.inc"
#undef X
};
static_assert(kTexts.size() == static_cast<std::size_t>(Broken::count_));

Broken active = Broken::none;
bool reached = false;

}  // namespace

bool broken(Broken variant) {
  if (variant != active) return false;
  reached = true;
  return true;
}

namespace hunt {

VariantText text_of(Broken variant) { return kTexts.at(static_cast<std::size_t>(variant)); }

std::optional<Broken> find_variant(std::string_view name) {
  for (std::size_t i = 1; i < kTexts.size(); ++i) {
    if (kTexts[i].name == name) return static_cast<Broken>(i);
  }
  return std::nullopt;
}

void switch_on(Broken variant) {
  active = variant;
  reached = false;
}

bool is_reached() { return reached; }

}  // namespace hunt
}  // namespace spindled
