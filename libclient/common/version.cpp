#include "libclient/include/spindle/version.h"

#define SPINDLE_TEXT_OF(number) #number
#define SPINDLE_VERSION_TEXT(major, minor, patch) \
  SPINDLE_TEXT_OF(major) "." SPINDLE_TEXT_OF(minor) "." SPINDLE_TEXT_OF(patch)

namespace spindle {

std::string_view version() noexcept {
  return SPINDLE_VERSION_TEXT(SPINDLE_VERSION_MAJOR, SPINDLE_VERSION_MINOR, SPINDLE_VERSION_PATCH);
}

}  // namespace spindle
