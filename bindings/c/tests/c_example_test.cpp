// The programs that are shown, at a real daemon.
#include <gtest/gtest.h>

#include "tests/integration/clients.h"
#include "tests/integration/daemon.h"
#include "tests/integration/process.h"

namespace spindle::test {
namespace {

TEST(CExample, NewsPrintsWhatIsSentAndWhoIsThere) {
  Daemon daemon({});
  Connection editor = daemon.connect("editor");
  ASSERT_TRUE(editor.join("news", kPatience));
  ProcessOptions options;
  options.arguments = {"news", "hello"};
  options.environment = {"SPINDLE_ADDRESS=" + daemon.socket()};
  Process news(NEWS_PATH, options);
  EXPECT_EQ(next_message(editor).text(), "hello");
  ASSERT_FALSE(editor.multicast(Service::agreed, "news", "end"));
  EXPECT_EQ(news.wait(), 0) << news.transcript();
  const std::string out = news.output(Process::Stream::out);
  EXPECT_NE(out.find("news has 2 members\n"), std::string::npos) << out;
  EXPECT_NE(out.find(": hello\n#editor#"), std::string::npos) << out;
}

TEST(CExample, NewsSaysWhyItCannotConnect) {
  ProcessOptions options;
  options.arguments = {"news", "hello"};
  options.environment = {"SPINDLE_ADDRESS=/nowhere"};
  const Finished finished = run(NEWS_PATH, options);
  EXPECT_EQ(finished.code, 1);
  EXPECT_NE(finished.error.find("/nowhere"), std::string::npos) << finished.error;
}

}  // namespace
}  // namespace spindle::test
