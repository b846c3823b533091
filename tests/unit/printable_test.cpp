// Text of others, for people to read.
#include "libclient/common/printable.h"

#include <gtest/gtest.h>

namespace spindle {
namespace {

TEST(Printable, LeavesNothingThatATerminalObeys) {
  EXPECT_EQ(printable("plain text, ümläut, \xe2\x82\xac"), "plain text, ümläut, \xe2\x82\xac");
  EXPECT_EQ(printable("a\\b"), "a\\x5cb");
  EXPECT_EQ(printable("a\\b\n", Backslash::kept), "a\\b\\x0a");
  EXPECT_EQ(printable("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
}

}  // namespace
}  // namespace spindle
