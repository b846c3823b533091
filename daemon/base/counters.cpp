#include "daemon/base/counters.h"

namespace spindled {

std::string_view to_string(Counter counter) {
  switch (counter) {
#define SPINDLE_COUNTER(name, text) \
  case Counter::name:               \
    return #name;
    SPINDLE_COUNTERS(SPINDLE_COUNTER)
#undef SPINDLE_COUNTER
    case Counter::count_:
      break;
  }
  return "unknown";
}

std::string_view describe(Counter counter) {
  switch (counter) {
#define SPINDLE_COUNTER(name, text) \
  case Counter::name:               \
    return text;
    SPINDLE_COUNTERS(SPINDLE_COUNTER)
#undef SPINDLE_COUNTER
    case Counter::count_:
      break;
  }
  return "unknown";
}

}  // namespace spindled
