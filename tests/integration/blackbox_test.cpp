// A client that was written from docs/wire-format.md alone, in another language, against real daemons.
#include <gtest/gtest.h>

#include "tests/integration/clients.h"

namespace spindle::test {
namespace {

TEST(BlackBox, AClientWrittenFromThePageFindsAllThatThePageSays) {
  LineOfThree line;
  ProcessOptions options;
  options.environment = {"PYTHONDONTWRITEBYTECODE=1"};
  options.arguments = {std::string(SPINDLE_SOURCE_DIR) + "/tests/blackbox/conversation.py", line.alpha.socket(),
                       line.gamma.client_address()};
  const Finished finished = run(SPINDLE_PYTHON, options, kProgramPatience);
  EXPECT_EQ(finished.code, 0) << finished.error;
  EXPECT_EQ(finished.out, "all is as the page says\n");
}

}  // namespace
}  // namespace spindle::test
