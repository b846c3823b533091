// The programs that README.md and docs/client.md show, as they stand there: built against the library and run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/integration/clients.h"
#include "tests/integration/pages.h"

namespace spindle::test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Builds programs in a directory of their own.
class Workshop {
 public:
  std::string build(const std::string& name, const std::string& source) {
    write_file(directory_.path(name + ".cpp"), source);
    const std::string program = directory_.path(name);
    const std::string library = SPINDLE_LIBRARY;
    const std::string folder = std::filesystem::path(library).parent_path();
    ProcessOptions options;
    options.environment = {"PATH=/usr/local/bin:/usr/bin:/bin"};
    options.arguments = {"-std=c++20",
                         "-Wall",
                         "-Wextra",
                         "-Werror",
                         "-I",
                         std::string(SPINDLE_SOURCE_DIR) + "/libclient/include",
                         program + ".cpp",
                         library,
                         "-Wl,-rpath," + folder,
                         "-lssl",
                         "-lcrypto",
                         "-pthread",
                         "-o",
                         program};
    const Finished finished = run(SPINDLE_CXX, options, kProgramPatience);
    EXPECT_EQ(finished.code, 0) << finished.error;
    return program;
  }

 private:
  TemporaryDirectory directory_;
};

ProcessOptions at(const Daemon& daemon) {
  ProcessOptions options;
  options.environment = {"SPINDLE_ADDRESS=unix:" + daemon.socket(),
                         "PATH=" + std::string(std::filesystem::path(SPUSER_PATH).parent_path()) + ":/usr/bin:/bin"};
  return options;
}

TEST(Readme, TheClientInTenLinesPrintsItsMessageAndThoseOfOthers) {
  const std::vector<std::string> programs = blocks_with("README.md", "int main()");
  ASSERT_THAT(programs, SizeIs(1));
  Workshop workshop;
  const std::string program = workshop.build("ten_lines", programs.front());
  LineOfThree line;
  wait_for_one_view(line.all());  // its clients are the first ones
  Process first(program, at(line.alpha));
  first.wait_for_line("#c2#alpha: hello");
  // Another at the same daemon, and one at another.
  Process second(program, at(line.alpha));
  second.wait_for_line("#c3#alpha: hello");
  first.wait_for_line("#c3#alpha: hello");
  Process third(program, at(line.gamma));
  third.wait_for_line("#c2#gamma: hello");
  first.wait_for_line("#c2#gamma: hello");
  EXPECT_EQ(first.output(Process::Stream::out), "#c2#alpha: hello\n#c3#alpha: hello\n#c2#gamma: hello\n");
  EXPECT_EQ(third.output(Process::Stream::out), "#c2#gamma: hello\n");
  // They go on with a daemon that is restarted, and are members again.
  Connection watcher = line.beta.connect("watcher");
  EXPECT_FALSE(watcher.join("news"));
  line.alpha.stop();
  line.alpha.start();
  wait_for_members(watcher, "news", {"#c1#alpha", "#c2#alpha", "#c2#gamma", "#watcher#beta"});
  const std::size_t before = first.line_count();
  Process fourth(program, at(line.gamma));
  first.wait_for_line("#c3#gamma: hello", before);
  second.wait_for_line("#c3#gamma: hello");
  third.wait_for_line("#c3#gamma: hello");
}

TEST(Readme, TheShellsLinesPrintTheMessageAndEnd) {
  const std::vector<std::string> lines = blocks_with("README.md", "spuser publish");
  ASSERT_THAT(lines, SizeIs(1));
  Daemon daemon({});
  ProcessOptions options = at(daemon);
  options.arguments = {"-c", lines.front() + "\nwait\n"};
  const Finished finished = run("/bin/sh", options);
  EXPECT_EQ(finished.code, 0) << finished.error;
  EXPECT_EQ(finished.out, "hello\n");
}

TEST(Readme, TheShellsLinesWorkAcrossTwoDaemons) {
  const std::vector<std::string> blocks = blocks_with("README.md", "spuser publish");
  ASSERT_THAT(blocks, SizeIs(1));
  const std::size_t half = blocks.front().find('\n') + 1;
  LineOfThree line;
  wait_for_one_view(line.all());
  ProcessOptions subscribe = at(line.alpha), publish = at(line.gamma);
  subscribe.arguments = {"-c", blocks.front().substr(0, half) + "wait\n"};
  publish.arguments = {"-c", blocks.front().substr(half)};
  Process subscriber("/bin/sh", subscribe);
  const Finished publisher = run("/bin/sh", publish);
  EXPECT_EQ(publisher.code, 0) << publisher.error;
  EXPECT_EQ(subscriber.wait(), 0);
  EXPECT_EQ(subscriber.output(Process::Stream::out), "hello\n");
}

TEST(ClientPage, ItsProgramsTalkToEachOther) {
  const std::vector<std::string> programs = blocks_with("docs/client.md", "int main()");
  ASSERT_THAT(programs, SizeIs(2)) << "a publisher and a subscriber";
  Workshop workshop;
  const std::string publisher = workshop.build("publisher", programs[0]);
  const std::string subscriber = workshop.build("subscriber", programs[1]);
  LineOfThree line;
  wait_for_one_view(line.all());
  Process reader(subscriber, at(line.alpha));
  Connection watcher = line.beta.connect("watcher");
  EXPECT_FALSE(watcher.join("news"));
  wait_for_members(watcher, "news", {"#reader#alpha", "#watcher#beta"});
  const Finished writer = run(publisher, at(line.gamma));
  EXPECT_EQ(writer.code, 0) << writer.error;
  std::string expected;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(next_message(watcher).text(), "item " + std::to_string(i));
    expected += "#writer#gamma: item " + std::to_string(i) + "\n";
  }
  // What it has printed shows when it ends, as it does where it cannot come back.
  line.alpha.reload("[[names]]\npattern = \"reader\"\nwho = []\n");
  line.alpha.stop();
  line.alpha.start();
  EXPECT_EQ(reader.wait(), 0);
  EXPECT_EQ(reader.output(Process::Stream::out), expected);
  EXPECT_THAT(reader.output(Process::Stream::error), testing::StartsWith("reader: the name reader is reserved"));
}

}  // namespace
}  // namespace spindle::test
