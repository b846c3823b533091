#include "bench/sim/scenarios/output_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace spindled::scenarios {
namespace {

class OutputFolderTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(home_); }

  const std::filesystem::path home_ =
      std::filesystem::path(testing::TempDir()) / ("output-folder-" + std::to_string(getpid()));
};

TEST_F(OutputFolderTest, IsMadeWithAllAboveIt) {
  EXPECT_TRUE(make_output_folder(home_ / "a" / "b", "test"));
  EXPECT_TRUE(std::filesystem::is_directory(home_ / "a" / "b"));
  EXPECT_TRUE(make_output_folder(home_ / "a" / "b", "test")) << "it may be there already";
}

TEST_F(OutputFolderTest, NeedsNone) { EXPECT_TRUE(make_output_folder("", "test")); }

TEST_F(OutputFolderTest, SaysWhyItCannotBeMade) {
  ASSERT_TRUE(make_output_folder(home_, "test"));
  std::ofstream(home_ / "file") << "in the way";
  for (const std::filesystem::path& folder : {home_ / "file", home_ / "file" / "below"}) {
    testing::internal::CaptureStderr();
    EXPECT_FALSE(make_output_folder(folder, "test"));
    EXPECT_NE(testing::internal::GetCapturedStderr().find("test: the folder " + folder.string()), std::string::npos);
  }
}

}  // namespace
}  // namespace spindled::scenarios
