// What `spmonitor token new` makes, and that a daemon takes it.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "daemon/config/parse_config.h"
#include "daemon/net/tokens.h"
#include "libclient/common/token.h"
#include "tests/support/files.h"
#include "tools/spmonitor/token/new_token.h"

namespace spmonitor::token {
namespace {

using testing::HasSubstr;

constexpr pki::Time kNow = std::chrono::sys_days(std::chrono::year(2026) / 11 / 26) + std::chrono::hours(23);

/// The section as a daemon reads it.
std::vector<spindled::TokenConfig> read_section(const std::string& text) {
  const spindled::ConfigResult config = spindled::parse_config(text, "spindle.toml");
  EXPECT_TRUE(config) << text << to_string(config.error().front());
  return config ? config->tokens : std::vector<spindled::TokenConfig>();
}

TEST(NewToken, IsPrintedWithItsSection) {
  const Result<std::string> made = make_token({"web", 365, {}}, kNow);
  ASSERT_TRUE(made) << made.error();
  const std::string token = made->substr(0, made->find('\n'));
  EXPECT_TRUE(spindle::is_token(token)) << token;
  const std::string section = made->substr(token.size());
  EXPECT_EQ(section.find(token), std::string::npos);
  const spindled::Tokens tokens(read_section(section));
  const auto known = tokens.find(token, kNow + std::chrono::days(365));
  ASSERT_TRUE(known);
  EXPECT_EQ(known->identity, "token:web");
  EXPECT_EQ(tokens.find(token, kNow + std::chrono::days(366)).error().code, spindle::Errc::token_expired);
  EXPECT_NE(make_token({"web", 365, {}}, kNow), made) << "each is another one";
}

TEST(NewToken, HasNoEndUnlessItIsSaid) {
  const std::string made = make_token({"web", std::nullopt, {}}, kNow).value();
  const std::vector<spindled::TokenConfig> tokens = read_section(made.substr(made.find("[[")));
  ASSERT_EQ(tokens.size(), 1u);
  EXPECT_FALSE(tokens[0].until);
}

TEST(NewToken, GoesIntoAFileOfItsOwn) {
  spindle::test::TemporaryDirectory folder;
  const std::string path = folder.path("web.token");
  const Result<std::string> made = make_token({R"(a"b\c)", {}, path}, kNow);
  ASSERT_TRUE(made) << made.error();
  std::string token = spindle::test::read_file(path);
  EXPECT_EQ(token.back(), '\n');
  token.pop_back();
  const auto known = spindled::Tokens(read_section(*made)).find(token, kNow);
  ASSERT_TRUE(known) << *made;
  EXPECT_EQ(known->identity, R"(token:a"b\c)");
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_THAT(make_token({"web", {}, path}, kNow).error(), HasSubstr("is there already"));
  EXPECT_EQ(spindle::test::read_file(path), token + '\n');
}

TEST(NewToken, NeedsAName) {
  for (const char* name : {"", "a b", "a#b", "web*", "\xc3\xa4"}) {
    EXPECT_THAT(make_token({name, {}, {}}, kNow).error(), HasSubstr("is no name")) << name;
  }
  EXPECT_FALSE(make_token({std::string(65, 'x'), {}, {}}, kNow));
}

}  // namespace
}  // namespace spmonitor::token
