#include "libclient/include/spindle/error.h"

#include <string>

namespace spindle {

namespace {

class ErrorCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "spindle"; }
  std::string message(int value) const override {
    if (value == 0) return "success";
    if (value < 0 || value > UINT16_MAX) return std::string(describe(Errc{}));
    return std::string(describe(static_cast<Errc>(value)));
  }
  std::error_condition default_error_condition(int value) const noexcept override {
    switch (value) {
#define SPINDLE_CASE(name, condition) \
  case static_cast<int>(Errc::name):  \
    return std::make_error_condition(std::errc::condition);
      SPINDLE_CONDITIONS(SPINDLE_CASE)
#undef SPINDLE_CASE
    }
    return {value, *this};
  }
};

}  // namespace

std::string_view to_string(Errc code) noexcept {
  switch (code) {
#define SPINDLE_CASE(name, number, text) \
  case Errc::name:                       \
    return #name;
    SPINDLE_ERRORS(SPINDLE_CASE)
#undef SPINDLE_CASE
  }
  return "unknown_error";
}

std::string_view describe(Errc code) noexcept {
  switch (code) {
#define SPINDLE_CASE(name, number, text) \
  case Errc::name:                       \
    return text;
    SPINDLE_ERRORS(SPINDLE_CASE)
#undef SPINDLE_CASE
  }
  return "an unknown error occurred";
}

const std::error_category& error_category() noexcept {
  static const ErrorCategory category;
  return category;
}

std::error_code make_error_code(Errc code) noexcept { return {static_cast<int>(code), error_category()}; }

}  // namespace spindle
