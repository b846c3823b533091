// Feeds from a shell, with real daemons and sockets.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/integration/clients.h"
#include "tests/support/files.h"

namespace spindle::test {
namespace {

using testing::HasSubstr;

ProcessOptions spuser_options(Daemon& daemon, const std::vector<std::string>& arguments) {
  ProcessOptions options;
  options.arguments = {"--connect", daemon.socket()};
  options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
  return options;
}

TEST(FeedsFromAShell, BringLinesToWhoListens) {
  Daemon daemon({});
  Process listener(SPUSER_PATH, spuser_options(daemon, {"listen", "news", "--count", "3", "--deadline", "60000"}));
  const TemporaryDirectory directory;
  {
    std::ofstream file(directory.path("lines"));
    file << "one\ntwo\n\nthree\n";
  }
  ProcessOptions options = spuser_options(daemon, {"feed", "news", "--wait-members", "1"});
  const Descriptor input(::open(directory.path("lines").c_str(), O_RDONLY | O_CLOEXEC));
  options.input = input.get();
  const Finished source = run(SPUSER_PATH, options);
  EXPECT_EQ(source.code, 0) << source.error;
  EXPECT_EQ(listener.wait(), 0) << listener.transcript();
  EXPECT_EQ(listener.output(Process::Stream::out), "one\ntwo\nthree\n");
  EXPECT_THAT(listener.output(Process::Stream::error), HasSubstr("* a feed of #"));
}

TEST(FeedsFromAShell, MakeUpMessagesAndCountThem) {
  Daemon daemon({});
  Process listener(SPUSER_PATH, spuser_options(daemon, {"listen", "news", "--json", "--until-end"}));
  const Finished source = run(SPUSER_PATH, spuser_options(daemon, {"feed", "news", "--wait-members", "1", "--size",
                                                                   "3000", "--count", "20", "--rate", "500"}));
  EXPECT_EQ(source.code, 0) << source.error;
  EXPECT_EQ(listener.wait(), 0) << listener.transcript();
  EXPECT_THAT(listener.output(Process::Stream::out), HasSubstr(R"("event":"packet","source":"#)"));
  EXPECT_THAT(listener.output(Process::Stream::error), HasSubstr("is over: closed"));
}

TEST(FeedsFromAShell, SayFiguresOnceASecond) {
  Daemon daemon({});
  Process listener(SPUSER_PATH, spuser_options(daemon, {"listen", "news", "--stats", "--until-end"}));
  const Finished source = run(
      SPUSER_PATH, spuser_options(daemon, {"feed", "news", "--wait-members", "1", "--size", "100", "--count", "5"}));
  EXPECT_EQ(source.code, 0) << source.error;
  EXPECT_EQ(listener.wait(), 0) << listener.transcript();
  EXPECT_THAT(listener.output(Process::Stream::out), HasSubstr(" messages, "));
}

TEST(FeedsFromAShell, SayWhatIsRefused) {
  Daemon daemon({});
  const Finished source = run(SPUSER_PATH, spuser_options(daemon, {"feed", "#ann#x", "--size", "1", "--count", "1"}));
  EXPECT_EQ(source.code, 2);
  EXPECT_THAT(source.error, HasSubstr("cannot open a feed to #ann#x"));
  const Finished too_large = run(SPUSER_PATH, spuser_options(daemon, {"feed", "news", "--size", "65537"}));
  EXPECT_EQ(too_large.code, 2);
}

}  // namespace
}  // namespace spindle::test
