#include "daemon/admission/benefit.h"

#include <algorithm>
#include <cmath>

namespace spindled {

namespace {
bool fits(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}
}  // namespace

double worth_of(BenefitKind benefit, const Quote& quote) {
  switch (benefit) {
    case BenefitKind::receiving:
      return std::max(1.0, static_cast<double>(quote.receivers));
    case BenefitKind::fair:
      // What a flow sends in balance falls with the cube of the price (balance.h).
      return quote.congestion / std::cbrt(quote.cubes);
    case BenefitKind::sending:
      break;
  }
  return 1;
}

BenefitKind benefit_of(const AdmissionConfig& config, std::span<const std::string> names) {
  for (const BenefitKind kind : {BenefitKind::fair, BenefitKind::receiving, BenefitKind::sending}) {
    for (const std::string& pattern : config.groups_of(kind)) {
      const auto is_of_it = [&](const std::string& name) { return fits(name, pattern); };
      if (std::any_of(names.begin(), names.end(), is_of_it)) return kind;
    }
  }
  return config.benefit;
}

}  // namespace spindled
