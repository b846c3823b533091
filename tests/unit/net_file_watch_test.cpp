#include "daemon/net/file_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/files.h"

namespace spindled {
namespace {

namespace fs = std::filesystem;
using spindle::test::write_file;

/// A file that was last written long ago, as far as its times can be set: whatever a test does to it shows, however
/// coarse the clock of the file system is.
class FileWatchTest : public testing::Test {
 protected:
  FileWatchTest() { write_long_ago(path_, "old"); }

  static void write_long_ago(const std::string& path, const std::string& text) {
    write_file(path, text);
    set_time(path, {1'000'000'000, 5});
  }
  static void set_time(const std::string& path, timespec time) {
    const timespec times[] = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  spindle::test::TemporaryDirectory folder_;
  std::string path_ = folder_.path("bundle.pem");
};

TEST_F(FileWatchTest, NothingChangesByItself) {
  const FileWatch watch({path_, folder_.path("none")});
  EXPECT_FALSE(watch.changed());
  EXPECT_EQ(watch, FileWatch({path_, folder_.path("none")}));
  EXPECT_FALSE(FileWatch().changed());
}

TEST_F(FileWatchTest, AFileThatIsWrittenInPlaceShows) {
  const FileWatch watch({path_});
  write_file(path_, "new");  // as long as before
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(FileWatch({path_}).changed());
}

TEST_F(FileWatchTest, ANanosecondShows) {
  const FileWatch watch({path_});
  set_time(path_, {1'000'000'000, 6});
  EXPECT_TRUE(watch.changed());
}

TEST_F(FileWatchTest, AFileThatTakesTheNameShows) {
  const std::string other = folder_.path("other");
  write_long_ago(other, "new");
  const FileWatch watch({path_});
  fs::rename(other, path_);
  EXPECT_TRUE(watch.changed());
}

TEST_F(FileWatchTest, ALinkThatIsLedElsewhereShows) {
  const std::string link = folder_.path("link"), other = folder_.path("other");
  write_long_ago(other, "new");
  fs::create_symlink(path_, link);
  const FileWatch watch({link});
  fs::create_symlink(other, link + ".next");
  fs::rename(link + ".next", link);
  EXPECT_TRUE(watch.changed());
}

TEST_F(FileWatchTest, AFileThatGoesAndComesShows) {
  const FileWatch there({path_});
  fs::remove(path_);
  EXPECT_TRUE(there.changed());
  const FileWatch gone({path_});
  EXPECT_FALSE(gone.changed());
  write_long_ago(path_, "old");
  EXPECT_TRUE(gone.changed());
}

TEST_F(FileWatchTest, TheSecondFileCountsToo) {
  const std::string lists = folder_.path("lists.crl");
  const FileWatch watch({path_, lists});
  write_file(lists, "list");
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(FileWatch({path_}).is_of_same_files(watch));
  EXPECT_TRUE(FileWatch({path_, lists}).is_of_same_files(watch));
}

}  // namespace
}  // namespace spindled
