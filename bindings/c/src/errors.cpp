#include <cstring>

#include "bindings/c/src/handles.h"
#include "spindle/version.h"

// What the tables give is a literal each, and ends with a zero byte.

const char* spindle_error_name(spindle_code code) {
  if (code == SPINDLE_OK) return "ok";
  return spindle::to_string(static_cast<spindle::Errc>(code)).data();
}

const char* spindle_error_text(spindle_code code) {
  if (code == SPINDLE_OK) return "success";
  return spindle::describe(static_cast<spindle::Errc>(code)).data();
}

const char* spindle_version(void) { return spindle::version().data(); }

spindle_bytes spindle_text(const char* text) {
  return text == nullptr ? spindle_bytes{nullptr, 0} : spindle_bytes{text, std::strlen(text)};
}
