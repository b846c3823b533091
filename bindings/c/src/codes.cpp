// What codes are called, and the version.
#include "bindings/c/src/handles.h"
#include "spindle/version.h"

namespace {

// A code of the table, or one that is not in it. The library's texts are literals, so a zero byte stands behind each.
spindle::Errc known(spindle_code code) {
  return code > 0 && code <= UINT16_MAX ? static_cast<spindle::Errc>(code) : spindle::Errc{};
}

}  // namespace

const char* spindle_error_name(spindle_code code) {
  return code == 0 ? "success" : spindle::to_string(known(code)).data();
}

const char* spindle_error_text(spindle_code code) {
  return code == 0 ? "success" : spindle::describe(known(code)).data();
}

const char* spindle_version(void) { return spindle::version().data(); }
