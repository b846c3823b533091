#include "daemon/admission/benefit.h"

#include <algorithm>
#include <cmath>

namespace spindled {

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

}  // namespace spindled
