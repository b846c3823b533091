// A log whose reader comes late, and one that cannot be written.
#include "daemon/net/daemon_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace spindled {
namespace {

using namespace std::chrono_literals;

/// For what comes as soon as a thread gets its turn.
constexpr auto kPatience = 30s;

/// A FIFO that nobody reads yet.
class Fifo {
 public:
  Fifo() {
    char name[] = "/tmp/spindle-log-XXXXXX";
    folder_ = ::mkdtemp(name);
    path_ = folder_ + "/log";
    ::mkfifo(path_.c_str(), 0600);
  }
  ~Fifo() {
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  std::string folder_;
  std::string path_;
};

LogConfig log_to(const std::string& file) {
  LogConfig config;
  config.file = file;
  config.queue_bytes = 4096;
  config.lines_per_minute = 0;
  return config;
}

TEST(DaemonLog, WaitsForNoReaderAndTellsWhatWasLost) {
  const Fifo fifo;
  auto log = DaemonLog::open(log_to(fifo.path()));
  ASSERT_TRUE(log);
  constexpr std::uint64_t kLines = 5'000;
  for (std::uint64_t i = 0; i < kLines; ++i) (*log)->write(LogLevel::info, "test", std::string(100, 'x'));
  const std::uint64_t lost = (*log)->losses().lost;
  EXPECT_GT(lost, kLines / 2);

  // What was written, and wherever something was not, how much.
  std::ifstream reader(fifo.path());
  std::uint64_t written = 0, told = 0;
  for (std::string line; written + told < kLines && std::getline(reader, line);) {
    const std::size_t note = line.find(" lines were lost here");
    if (note == std::string::npos) {
      ++written;
    } else {
      const std::size_t number = line.rfind(' ', note - 1) + 1;
      told += std::stoull(line.substr(number, note - number));
    }
  }
  EXPECT_EQ(written, kLines - lost);
  EXPECT_EQ(told, lost);
  EXPECT_EQ((*log)->losses().lost, lost);
  (*log)->write(LogLevel::info, "test", "afterwards");
  std::string line;
  std::getline(reader, line);
  EXPECT_TRUE(line.ends_with(" info test: afterwards")) << line;
}

TEST(DaemonLog, NothingIsLostForWantOfRoomOnceTheBoundsAreLifted) {
  const Fifo fifo;
  auto log = DaemonLog::open(log_to(fifo.path()));
  ASSERT_TRUE(log);
  (*log)->lift_bounds();
  for (int i = 0; i < 2'000; ++i) (*log)->write(LogLevel::error, "dump", std::string(100, 'x'));
  EXPECT_FALSE((*log)->drain(0ms));
  EXPECT_EQ((*log)->losses().lost, 0u);
  std::ifstream reader(fifo.path());
  int lines = 0;
  for (std::string line; lines < 2'000 && std::getline(reader, line);) ++lines;
  EXPECT_EQ(lines, 2'000);
  EXPECT_TRUE((*log)->drain(kPatience));
}

TEST(DaemonLog, WhatCannotBeWrittenIsCounted) {
  auto log = DaemonLog::open(log_to("/dev/full"));
  ASSERT_TRUE(log);
  for (int i = 0; i < 10; ++i) {
    (*log)->write(LogLevel::info, "test", "a line");
    EXPECT_TRUE((*log)->drain(kPatience));
  }
  EXPECT_EQ((*log)->losses().lost, 10u);
}

TEST(DaemonLog, LinesOfAKindAreLeftOutBeyondTheirNumber) {
  const Fifo fifo;
  LogConfig config = log_to(fifo.path());
  config.lines_per_minute = 3;
  std::ifstream reader;
  {
    auto log = DaemonLog::open(config);
    ASSERT_TRUE(log);
    reader.open(fifo.path());
    const Log room(**log, "test");
    for (int i = 0; i < 10; ++i) room.info("line {}", i);
    EXPECT_EQ((*log)->losses().left_out, 7u);
  }
  std::string all(std::istreambuf_iterator<char>(reader), {});
  EXPECT_NE(all.find("line 2\n"), std::string::npos) << all;
  EXPECT_EQ(all.find("line 3\n"), std::string::npos) << all;
  EXPECT_NE(all.find("test: 7 more lines of this kind within"), std::string::npos) << all;
}

TEST(DaemonLog, TextOfAPeerIsOneLine) {
  const Fifo fifo;
  std::ifstream reader;
  {
    auto log = DaemonLog::open(log_to(fifo.path()));
    ASSERT_TRUE(log);
    reader.open(fifo.path());
    (*log)->write(LogLevel::info, "test", "a name\nwith\x1b controls");
  }
  std::string all(std::istreambuf_iterator<char>(reader), {});
  EXPECT_TRUE(all.ends_with(" info test: a name?with? controls\n")) << all;
}

}  // namespace
}  // namespace spindled
