// What a test does that this machine has no means for.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace spindle::test {

/// Continuous integration sets CI=true. There a test that did not run must not look like one that passed.
inline bool is_continuous_integration() {
  const char* const value = std::getenv("CI");
  return value != nullptr && std::string_view(value) == "true";
}

}  // namespace spindle::test

/// At the head of a test or of SetUp: where `why_not`, a string, is not empty, the test ends as skipped, in continuous
/// integration as failed, and says it.
#define SPINDLE_TEST_NEEDS(why_not)                                                                 \
  if (const std::string spindle_why_not = (why_not); spindle_why_not.empty()) {                     \
  } else if (::spindle::test::is_continuous_integration()) {                                        \
    FAIL() << spindle_why_not << "; in continuous integration (CI=true) tests must not be skipped"; \
  } else                                                                                            \
    GTEST_SKIP() << spindle_why_not
