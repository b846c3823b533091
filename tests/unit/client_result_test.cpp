#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "libclient/include/spindle/result.h"

namespace spindle {
namespace {

TEST(ClientResult, HasAValue) {
  Result<std::string> result(std::string("value"));
  EXPECT_TRUE(result);
  EXPECT_FALSE(result.error());
  EXPECT_EQ(result.text(), "");
  EXPECT_EQ(*result, "value");
  EXPECT_EQ(result->size(), 5u);
  result.value() += "!";
  EXPECT_EQ(std::as_const(result).value(), "value!");
  EXPECT_EQ(std::move(result).value(), "value!");
}

TEST(ClientResult, OrSaysWhyNot) {
  const Result<std::string> result(Failure{Errc::timed_out, "the daemon is busy"});
  EXPECT_FALSE(result);
  EXPECT_EQ(result.error(), Errc::timed_out);
  EXPECT_EQ(result.text(), "the daemon is busy");
  try {
    result.value();
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), Errc::timed_out);
    EXPECT_NE(std::string(error.what()).find("the daemon is busy"), std::string::npos);
  }
}

TEST(ClientResult, HasTheWordsOfTheCodeWhereThereAreNoOthers) {
  EXPECT_EQ(Result<int>(Errc::timed_out).text(), describe(Errc::timed_out));
  EXPECT_EQ(Result<int>(Failure{Errc::timed_out}).text(), describe(Errc::timed_out));
}

TEST(ClientResult, TakesWhatIsOnlyMoved) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 7);
}

}  // namespace
}  // namespace spindle
