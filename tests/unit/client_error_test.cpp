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

TEST(ClientErrors, EqualTheConditionsOfTheStandardThatMeanTheSame) {
  const auto code = [](Errc value) { return std::error_code(value); };
  EXPECT_EQ(code(Errc::timed_out), std::errc::timed_out);
  EXPECT_EQ(code(Errc::handshake_timeout), std::errc::timed_out);
  EXPECT_EQ(code(Errc::would_block), std::errc::operation_would_block);
  EXPECT_EQ(code(Errc::would_block), std::errc::resource_unavailable_try_again) << "the same number on Linux";
  EXPECT_EQ(code(Errc::not_connected), std::errc::not_connected);
  EXPECT_EQ(code(Errc::bad_group_name), std::errc::invalid_argument);
  EXPECT_EQ(code(Errc::access_denied), std::errc::permission_denied);
  EXPECT_EQ(code(Errc::message_too_large), std::errc::message_size);
  EXPECT_EQ(code(Errc::name_in_use), std::errc::address_in_use);
  EXPECT_EQ(code(Errc::cancelled), std::errc::operation_canceled);
  EXPECT_NE(code(Errc::timed_out), std::errc::not_connected);
}

TEST(ClientErrors, EveryConditionOfTheTableHolds) {
#define CHECK_CONDITION(name, condition) EXPECT_EQ(std::error_code(Errc::name), std::errc::condition) << #name;
  SPINDLE_CONDITIONS(CHECK_CONDITION)
#undef CHECK_CONDITION
}

TEST(ClientErrors, CodesWithoutAConditionEqualNone) {
  for (const Errc code : {Errc::cluster_mismatch, Errc::internal_error}) {
    EXPECT_EQ(std::error_code(code).default_error_condition().category(), error_category());
  }
}

}  // namespace
}  // namespace spindle
