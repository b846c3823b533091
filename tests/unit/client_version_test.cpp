#include <gtest/gtest.h>

#include <string>

#include "libclient/include/spindle/version.h"

namespace spindle {
namespace {

TEST(ClientVersion, IsThatOfTheProject) { EXPECT_EQ(version(), SPINDLE_PROJECT_VERSION); }

TEST(ClientVersion, HasTheNumbersOfTheHeaders) {
  EXPECT_EQ(version(), std::to_string(SPINDLE_VERSION_MAJOR) + "." + std::to_string(SPINDLE_VERSION_MINOR) + "." +
                           std::to_string(SPINDLE_VERSION_PATCH));
  EXPECT_EQ(SPINDLE_VERSION_NUMBER / 10000, SPINDLE_VERSION_MAJOR);
  EXPECT_EQ(SPINDLE_VERSION_NUMBER / 100 % 100, SPINDLE_VERSION_MINOR);
  EXPECT_EQ(SPINDLE_VERSION_NUMBER % 100, SPINDLE_VERSION_PATCH);
}

}  // namespace
}  // namespace spindle
