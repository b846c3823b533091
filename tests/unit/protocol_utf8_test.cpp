#include "libclient/common/utf8.h"

#include <gtest/gtest.h>

namespace spindle::protocol {
namespace {

TEST(Utf8, WellFormedTextIsRecognised) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
  EXPECT_TRUE(is_utf8("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"));
}

TEST(Utf8, EverythingElseIsNot) {
  for (const char* bytes :
       {"\x80", "\xbf", "a\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3(", "\xe2(\xac", "\xe2\x82(", "\xc0\xaf", "\xc1\xbf",
        "\xe0\x80\xaf", "\xe0\x9f\xbf", "\xf0\x80\x80\xaf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_FALSE(is_utf8(bytes)) << bytes;
  }
}

TEST(Utf8, SizeIsThatOfTheFirstCharacter) {
  EXPECT_EQ(utf8_character_size(""), 0u);
  EXPECT_EQ(utf8_character_size("ab"), 1u);
  EXPECT_EQ(utf8_character_size("\xc3\xa9z"), 2u);
  EXPECT_EQ(utf8_character_size("\xe2\x82\xac\xff"), 3u);
  EXPECT_EQ(utf8_character_size("\xff\xe2"), 0u);
}

}  // namespace
}  // namespace spindle::protocol
