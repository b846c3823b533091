// Where in a directory a content is received, and who may.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include "libclient/src/received_place.h"
#include "tests/support/files.h"
#include "tests/support/known_content.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;
namespace fs = std::filesystem;

/// How often this process has the file open, whatever its name is by now.
int count_open(const std::string& path) {
  int count = 0;
  std::error_code gone;
  for (const fs::directory_entry& each : fs::directory_iterator("/proc/self/fd")) {
    const std::string target = fs::read_symlink(each.path(), gone).string();
    if (!gone && (target == path || target == path + " (deleted)")) ++count;
  }
  return count;
}

class ReceivedPlaces : public testing::Test {
 protected:
  struct Opened {
    std::shared_ptr<BulkStore> store;
    StoreFailure failure;
  };

  std::string path(const std::string& name) const { return fs::canonical(directory_.path(".")).string() + "/" + name; }
  Opened open(bool replace = false) const {
    Opened opened{make_received_file(directory_.path("."), "got", replace), {}};
    opened.store->open(*bulk::ContentLayout::of(content_.size()), std::nullopt, opened.failure);
    return opened;
  }
  /// Another one, which waits for who has the part.
  std::future<Opened> open_second(bool replace = false) const {
    const int before = count_open(path("got.spindle-part"));
    std::future<Opened> second = std::async(std::launch::async, [this, replace] { return open(replace); });
    while (count_open(path("got.spindle-part")) == before && second.wait_for(0s) != std::future_status::ready) {
      std::this_thread::yield();
    }
    return second;
  }
  void write_all(BulkStore& store) const {
    EXPECT_FALSE(store.write(0, content_).error);
    const StoreFailure failure = store.finish(content_.size());
    EXPECT_FALSE(failure.error) << failure.text;
  }
  Bytes there() const {
    std::ifstream file(path("got"), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const test::TemporaryDirectory directory_;
  const Bytes content_ = test::content_of(3, 100'000);
};

TEST_F(ReceivedPlaces, WhosePartIsTakenAwayMeanwhileHaveAnother) {
  Opened first = open();
  std::future<Opened> waiting = open_second();
  first.store->discard();
  first.store.reset();
  const Opened second = waiting.get();
  ASSERT_FALSE(second.failure.error) << second.failure.text;
  write_all(*second.store);
  EXPECT_TRUE(there() == content_);
}

TEST_F(ReceivedPlaces, WhosePartIsFinishedMeanwhileLeaveItAsItIs) {
  Opened first = open();
  std::future<Opened> waiting = open_second();
  write_all(*first.store);
  first.store.reset();
  EXPECT_EQ(waiting.get().failure.error, Errc::file_exists);
  EXPECT_TRUE(there() == content_);
}

TEST_F(ReceivedPlaces, WhosePartIsFinishedMeanwhileReplaceItWhereTheyMay) {
  Opened first = open();
  std::future<Opened> waiting = open_second(true);
  write_all(*first.store);
  first.store.reset();
  const Opened second = waiting.get();
  ASSERT_FALSE(second.failure.error) << second.failure.text;
  EXPECT_TRUE(there() == content_) << "until the other is whole";
  write_all(*second.store);
  EXPECT_TRUE(there() == content_);
}

TEST_F(ReceivedPlaces, ReplaceADirectoryAlsoInSteps) {
  fs::create_directory(path("got"));
  fs::create_directory(path("got.spindle-part"));
  std::ofstream(path("got/old")) << "old";
  std::ofstream(path("got.spindle-part/new")) << "new";
  fs::create_directory(path("got.spindle-former"));  // of who was killed in the middle of that
  std::ofstream(path("got.spindle-former/older")) << "older";
  ReceivedPlace place(directory_.path("."), "got", true);
  ASSERT_FALSE(place.open(true).error);
  const StoreFailure failure = place.exchange_in_steps(place.part_name());
  EXPECT_FALSE(failure.error) << failure.text;
  EXPECT_TRUE(fs::exists(path("got/new")));
  EXPECT_TRUE(fs::exists(path("got.spindle-part/old"))) << "it is to go";
  EXPECT_FALSE(fs::exists(path("got.spindle-former")));

  EXPECT_EQ(place.exchange_in_steps("nothing").error, Errc::file_failed);
  EXPECT_TRUE(fs::exists(path("got/new"))) << "it is back where it was";
}

TEST(ReceivedStreams, SayThatThereIsNoDirectoryForWhatIsTemporary) {
  const char* before = std::getenv("TMPDIR");
  const std::string former = before != nullptr ? before : "";
  ASSERT_EQ(::setenv("TMPDIR", "/nowhere/at/all", 1), 0);
  StoreFailure failure;
  make_received_stream([](ByteView) { return true; }, {})->open({}, std::nullopt, failure);
  before != nullptr ? ::setenv("TMPDIR", former.c_str(), 1) : ::unsetenv("TMPDIR");
  EXPECT_EQ(failure.error, Errc::file_failed) << failure.text;
}

}  // namespace
}  // namespace spindle
