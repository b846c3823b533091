// A test without its means is skipped, and fails in continuous integration.
#include "tests/integration/needs.h"

#include <gtest/gtest-spi.h>

#include <optional>

namespace spindle::test {
namespace {

/// CI as given, for as long as this lives.
class Environment {
 public:
  explicit Environment(const char* value) {
    if (const char* before = std::getenv("CI")) before_ = before;
    set(value);
  }
  ~Environment() { set(before_ ? before_->c_str() : nullptr); }

 private:
  static void set(const char* value) { value == nullptr ? ::unsetenv("CI") : ::setenv("CI", value, 1); }

  std::optional<std::string> before_;
};

/// What a test that needs something reports, where `why_not` is why it has it not.
void run_needing(const std::string& why_not, testing::TestPartResultArray& results) {
  testing::ScopedFakeTestPartResultReporter reporter(
      testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
  [&] {
    SPINDLE_TEST_NEEDS(why_not);
    ADD_FAILURE() << "ran";
  }();
}

TEST(Needs, WhatIsMissingSkipsATest) {
  for (const char* ci : {static_cast<const char*>(nullptr), "false"}) {
    const Environment environment(ci);
    testing::TestPartResultArray results;
    run_needing("no namespaces here", results);
    ASSERT_EQ(results.size(), 1);
    EXPECT_TRUE(results.GetTestPartResult(0).skipped());
    EXPECT_NE(std::string(results.GetTestPartResult(0).message()).find("no namespaces here"), std::string::npos);
  }
}

TEST(Needs, AndFailsItInContinuousIntegration) {
  const Environment environment("true");
  testing::TestPartResultArray results;
  run_needing("no namespaces here", results);
  ASSERT_EQ(results.size(), 1);
  EXPECT_TRUE(results.GetTestPartResult(0).fatally_failed());
  EXPECT_NE(std::string(results.GetTestPartResult(0).message()).find("no namespaces here"), std::string::npos);
}

TEST(Needs, WhatIsThereLetsItRun) {
  const Environment environment("true");
  testing::TestPartResultArray results;
  run_needing("", results);
  ASSERT_EQ(results.size(), 1);
  EXPECT_NE(std::string(results.GetTestPartResult(0).message()).find("ran"), std::string::npos);
}

}  // namespace
}  // namespace spindle::test
