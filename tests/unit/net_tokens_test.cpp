// Whose a token is, and when it counts.
#include "daemon/net/tokens.h"

#include <gtest/gtest.h>

#include "libclient/common/token.h"
#include "libclient/tls/token_digest.h"

namespace spindled {
namespace {

using spindle::WallTime;

constexpr std::chrono::sys_days kLastDay = std::chrono::year(2027) / 11 / 26;

std::string token_of(char digit) { return std::string(spindle::kTokenPrefix) + std::string(64, digit); }

TEST(TokenDigest, IsTheSha256OfTheText) {
  EXPECT_EQ(spindle::token_digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(spindle::token_digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Tokens, AreKnownByTheirDigests) {
  const Tokens tokens({{"web", spindle::token_digest(token_of('1')), std::nullopt},
                       {"web", spindle::token_digest(token_of('2')), std::nullopt},
                       {"feed", spindle::token_digest(token_of('3')), std::nullopt}});
  for (const auto& [digit, identity] : {std::pair('1', "token:web"), {'2', "token:web"}, {'3', "token:feed"}}) {
    const Result<Tokens::Known> known = tokens.find(token_of(digit), WallTime{});
    ASSERT_TRUE(known) << digit;
    EXPECT_EQ(known->identity, identity);
    EXPECT_TRUE(tokens.has(known->digest));
    EXPECT_FALSE(Tokens().has(known->digest));
  }
}

TEST(Tokens, UnknownOnesAndWhatIsNoneAreRefusedInTheSameWords) {
  const Tokens tokens({{"web", spindle::token_digest(token_of('1')), std::nullopt},
                       {"bad", spindle::token_digest("short"), std::nullopt},
                       {"bad", spindle::token_digest(""), std::nullopt}});
  const Error unknown = tokens.find(token_of('9'), WallTime{}).error();
  EXPECT_EQ(unknown.code, Errc::token_unknown);
  for (const std::string& text : {std::string(), std::string("short"), token_of('1') + "1", token_of('1') + '\n',
                                  token_of('A'), std::string(255, '\0'), spindle::token_digest(token_of('1'))}) {
    EXPECT_EQ(tokens.find(text, WallTime{}).error(), unknown) << text;
  }
  EXPECT_EQ(Tokens().find(token_of('1'), WallTime{}).error(), unknown);
}

TEST(Tokens, CountToTheEndOfTheirLastDay) {
  const Tokens tokens({{"web", spindle::token_digest(token_of('1')), kLastDay}});
  EXPECT_TRUE(tokens.find(token_of('1'), kLastDay - std::chrono::days(100)));
  EXPECT_TRUE(tokens.find(token_of('1'), kLastDay + std::chrono::hours(24) - std::chrono::seconds(1)));
  const Result<Tokens::Known> late = tokens.find(token_of('1'), kLastDay + std::chrono::hours(24));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error(), (Error{Errc::token_expired, "the token web has expired: it counted until 2027-11-26"}));
  EXPECT_TRUE(tokens.has(spindle::token_digest(token_of('1')))) << "who is connected stays so";
}

}  // namespace
}  // namespace spindled
