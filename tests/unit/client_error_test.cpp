#include <gtest/gtest.h>

#include <set>
#include <string>

#include "libclient/include/spindle/error.h"

namespace spindle {
namespace {

TEST(ClientErrors, EveryCodeHasItsNumberNameAndText) {
  std::set<int> numbers;
  std::set<std::string_view> texts;
  int count = 0;
#define CHECK_CODE(name, number, text)                    \
  ++count;                                                \
  numbers.insert(number);                                 \
  texts.insert(text);                                     \
  EXPECT_EQ(static_cast<int>(Errc::name), number);        \
  EXPECT_EQ(to_string(static_cast<Errc>(number)), #name); \
  EXPECT_EQ(describe(Errc::name), text);
  SPINDLE_ERRORS(CHECK_CODE)
#undef CHECK_CODE
  EXPECT_EQ(numbers.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(count));
  EXPECT_FALSE(numbers.contains(0)) << "zero says that nothing is wrong";
}

TEST(ClientErrors, NumbersFromElsewhereAreNamedToo) {
  EXPECT_EQ(to_string(static_cast<Errc>(60'000)), "unknown_error");
  EXPECT_EQ(std::error_code(60'000, error_category()).message(), "an unknown error occurred");
  EXPECT_EQ(std::error_code(-1, error_category()).message(), "an unknown error occurred");
  EXPECT_EQ(std::error_code(0, error_category()).message(), "success");
}

TEST(ClientErrors, CodesWorkAsStandardErrorCodes) {
  const std::error_code error = Errc::slow_receiver;
  EXPECT_TRUE(error);
  EXPECT_EQ(error, Errc::slow_receiver);
  EXPECT_NE(error, Errc::malformed_frame);
  EXPECT_STREQ(error.category().name(), "spindle");
  EXPECT_EQ(error.message(), "the client did not read its messages in time");
}

}  // namespace
}  // namespace spindle
