// What a configuration says of tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/config/parse_config.h"
#include "libclient/common/token.h"

namespace spindled {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kDigest(64, 'a');

std::string section(const std::string& more, const std::string& digest = kDigest) {
  return "[[token]]\nname = \"web\"\nsha256 = \"" + digest + "\"\n" + more;
}

std::string errors_of(const std::string& text) {
  const ConfigResult result = parse_config(text, "spindle.toml");
  if (result) return "none";
  std::string errors;
  for (const ConfigError& error : result.error()) errors += to_string(error) + "\n";
  return errors;
}

TEST(ConfigTokens, HaveANameADigestAndPerhapsAnEnd) {
  const ConfigResult result = parse_config(section("") + section("until = 2028-02-29\n", std::string(64, 'b')), "");
  ASSERT_TRUE(result);
  const std::chrono::sys_days leap_day = std::chrono::year(2028) / 2 / 29;
  EXPECT_EQ(result->tokens,
            (std::vector<TokenConfig>{{"web", kDigest, std::nullopt}, {"web", std::string(64, 'b'), leap_day}}))
      << "two may have one name, so that one can take the place of the other";
}

TEST(ConfigTokens, WhatIsMissingOrListedTwice) {
  EXPECT_EQ(errors_of("[[token]]\n"),
            "spindle.toml:1: token.name: is missing\n"
            "spindle.toml:1: token.sha256: is missing\n");
  EXPECT_EQ(errors_of("[token]\nname = \"web\"\n"), "spindle.toml:1: token: must be a list of sections, [[token]]\n");
  EXPECT_EQ(errors_of(section("") + section("")),
            "spindle.toml:6: token.sha256: is that of another section, too: each token stands in one\n");
  EXPECT_EQ(errors_of(section("secret = \"x\"\n")),
            "spindle.toml:4: token.secret: unknown key; [[token]] has name, sha256, until\n");
}

TEST(ConfigTokens, NamesAndDigestsThatAreNone) {
  const std::string no_name =
      "spindle.toml:2: token.name: must have 1 to 64 printable ASCII characters other than '#', '*' and space\n";
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a#b"), std::string("web*"),
                                  std::string("\\u00e4"), std::string(65, 'x')}) {
    EXPECT_EQ(errors_of("[[token]]\nname = \"" + name + "\"\nsha256 = \"" + kDigest + "\"\n"), no_name) << name;
  }
  for (const std::string& digest :
       {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A'), std::string(64, 'g')}) {
    EXPECT_EQ(errors_of(section("", digest)),
              "spindle.toml:3: token.sha256: must have 64 hexadecimal digits with small letters, as `spmonitor token "
              "new` prints them\n")
        << digest;
  }
}

TEST(ConfigTokens, ATokenInPlaceOfItsDigestIsSeenAndNotTold) {
  const std::string token = std::string(spindle::kTokenPrefix) + std::string(64, '7');
  EXPECT_THAT(errors_of(section("", token)), HasSubstr("is a token, which nobody but its client is to have"));
  EXPECT_THAT(errors_of(section("", token)), Not(HasSubstr("777")));
  EXPECT_THAT(errors_of("[[token]]\nname = \"" + token + "\"\nsha256 = \"" + kDigest + "\"\n"), Not(HasSubstr("777")));
}

TEST(ConfigTokens, EndsThatAreNoDays) {
  for (const std::string end : {"\"2027-11-26\"", "2027-11-26T10:00:00Z", "2027-11-26T10:00:00", "10:00:00", "2027",
                                "true", "[2027-11-26]", "{}"}) {
    EXPECT_EQ(errors_of(section("until = " + end + "\n")),
              "spindle.toml:4: token.until: must be a day, without quotes and without a time, such as 2027-11-26\n")
        << end;
  }
  for (const std::string end : {"2027-02-29", "2027-13-01", "2027-00-01", "2027-01-00"}) {
    EXPECT_NE(errors_of(section("until = " + end + "\n")), "none") << end;
  }
  for (const std::string end : {"0000-01-01", "1969-12-31", "9999-12-31"}) {
    EXPECT_EQ(errors_of(section("until = " + end + "\n")), "none") << end;
  }
}

}  // namespace
}  // namespace spindled
