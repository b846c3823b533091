// How much memory the control groups around a process leave it.
#include "daemon/config/host_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace spindled {
namespace {

namespace fs = std::filesystem;

class HostMemoryTest : public testing::Test {
 protected:
  HostMemoryTest() { fs::create_directories(root_); }
  ~HostMemoryTest() override { fs::remove_all(root_); }
  void say(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  fs::path root_ = fs::temp_directory_path() / ("host-memory-" + std::to_string(::getpid()));
};

TEST_F(HostMemoryTest, TheLeastOfTheGroupsAboveCounts) {
  say("memory.max", "max\n");
  say("system.slice/memory.max", "1000000\n");
  say("system.slice/spindled.service/memory.max", "max\n");
  EXPECT_EQ(control_group_memory("0::/system.slice/spindled.service\n", root_), 1'000'000u);
  say("system.slice/spindled.service/memory.max", "400000\n");
  EXPECT_EQ(control_group_memory("0::/system.slice/spindled.service\n", root_), 400'000u);
  EXPECT_EQ(control_group_memory("0::/\n", root_), std::nullopt);
}

TEST_F(HostMemoryTest, KnowsVersionOne) {
  say("memory/docker/abc/memory.limit_in_bytes", "300000\n");
  say("memory/memory.limit_in_bytes", "9223372036854771712\n");
  const std::string text = "12:cpu,cpuacct:/docker/abc\n7:memory:/docker/abc\n0::/docker/abc\n";
  EXPECT_EQ(control_group_memory(text, root_), 300'000u);
}

TEST_F(HostMemoryTest, TakesNothingFromWhatItCannotRead) {
  say("memory.max", "a lot\n");
  for (const char* text : {"", "\n", "0", "0:", "0:/x", "0::/\n", "7:memory\n:::\n"}) {
    EXPECT_EQ(control_group_memory(text, root_), std::nullopt) << text;
  }
}

TEST(HostMemory, IsKnownHere) { EXPECT_GT(host_memory(), 64u << 20); }

}  // namespace
}  // namespace spindled
