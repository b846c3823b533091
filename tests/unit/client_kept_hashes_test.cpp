// Hashes of what was offered that are kept for the next time: when they count, and when not.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "libclient/src/kept_hashes.h"
#include "tests/support/files.h"
#include "tests/support/known_content.h"
#include "tests/unit/client_bulk_host.h"

namespace spindle {
namespace {

namespace fs = std::filesystem;
using test::read_file;
using test::write_file;

constexpr std::uint32_t kBlocks = 6, kBlockBytes = 16u << 10, kSymbolBytes = 1'024;
constexpr std::size_t kSize = kBlocks * kBlockBytes;

timespec time_of(time_t seconds) { return {::time(nullptr) + seconds, 0}; }

/// Counts what is read.
class CountedStore final : public BulkStore {
 public:
  explicit CountedStore(std::shared_ptr<BulkStore> store) : store_(std::move(store)) {}
  bool read(std::uint64_t start, std::span<std::uint8_t> to) const override {
    bytes += to.size();
    return store_->read(start, to);
  }
  std::optional<SourceStamp> stamp() const override { return store_->stamp(); }

  mutable std::uint64_t bytes = 0;

 private:
  std::shared_ptr<BulkStore> store_;
};

class KeptHashesTest : public testing::Test {
 protected:
  KeptHashesTest() {
    const auto content = test::content_of(3, kSize);
    write_file(file(), {reinterpret_cast<const char*>(content.data()), content.size()});
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      index_.set(block, hasher_.hash(ByteView(content).subspan(block * kBlockBytes, kBlockBytes)));
    }
  }
  std::string file() const { return files_.path("file"); }
  /// A directory that is made, below one that is.
  std::string cache() const { return files_.path("cache/spindle/hashes"); }
  std::shared_ptr<BulkStore> open() const {
    StoreFailure failure;
    std::uint64_t size = 0;
    auto store = fs::is_directory(file()) ? open_source_directory(file(), nullptr, size, failure)
                                          : open_source_file(file(), size, failure);
    EXPECT_NE(store, nullptr) << failure.text;
    return store;
  }
  /// As if it was offered an hour later.
  std::shared_ptr<KeptHashes> kept(const BulkStore& store, time_t later = 3'600) const {
    return KeptHashes::of(store, layout_, cache(), time_of(later));
  }
  void keep() const {
    const auto store = open();
    const auto hashes = kept(*store);
    ASSERT_NE(hashes, nullptr);
    ASSERT_TRUE(hashes->save(*store, index_));
  }
  std::optional<bulk::BlockIndex> load() const {
    const auto store = open();
    const auto hashes = kept(*store);
    return hashes == nullptr ? std::nullopt : hashes->load();
  }
  std::vector<std::string> files_kept() const {
    std::vector<std::string> files;
    if (!fs::exists(cache())) return files;
    for (const auto& each : fs::directory_iterator(cache())) files.push_back(each.path());
    return files;
  }
  bool is_known(const std::optional<bulk::BlockIndex>& index) const {
    return index && index->known() == index_.known() &&
           std::ranges::equal(index->hashes_from(0, kBlocks), index_.hashes_from(0, kBlocks));
  }

  test::TemporaryDirectory files_;
  const Sha256 hasher_;
  const bulk::ContentLayout layout_{kBlockBytes, kSymbolBytes, kSize};
  bulk::BlockIndex index_;
};

TEST_F(KeptHashesTest, AreThereTheNextTime) {
  EXPECT_FALSE(load());
  keep();
  EXPECT_TRUE(is_known(load()));
  ASSERT_EQ(files_kept().size(), 1u);
  struct stat found {};
  ASSERT_EQ(::stat(files_kept()[0].c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(cache().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700u);
}

TEST_F(KeptHashesTest, MayBeOfAPartOfTheBlocks) {
  index_.forget(2);
  index_.forget(5);
  keep();
  const auto index = load();
  ASSERT_TRUE(index);
  EXPECT_EQ(index->known(), index_.known());
  EXPECT_EQ(*index->find(4), *index_.find(4));
}

TEST_F(KeptHashesTest, OfAFileThatHasChangedDoNotCount) {
  keep();
  std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary).seekp(5).put('x');
  EXPECT_FALSE(load());
}

TEST_F(KeptHashesTest, OfAFileWhoseTimeWasSetBackDoNotCount) {
  struct stat before {};
  ASSERT_EQ(::stat(file().c_str(), &before), 0);
  keep();
  std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary).seekp(5).put('x');
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, file().c_str(), times, 0), 0);
  struct stat after {};
  ASSERT_EQ(::stat(file().c_str(), &after), 0);
  ASSERT_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
  ASSERT_EQ(after.st_size, before.st_size);
  EXPECT_FALSE(load());
}

TEST_F(KeptHashesTest, OfAnotherFileOfThatNameDoNotCount) {
  keep();
  fs::copy_file(file(), files_.path("other"));
  fs::rename(files_.path("other"), file());
  EXPECT_FALSE(load());
}

TEST_F(KeptHashesTest, OfBlocksOfAnotherSizeDoNotCount) {
  keep();
  const auto store = open();
  const auto hashes = KeptHashes::of(*store, {kBlockBytes / 2, kSymbolBytes, kSize}, cache(), time_of(3'600));
  ASSERT_NE(hashes, nullptr);
  EXPECT_FALSE(hashes->load());
}

TEST_F(KeptHashesTest, OfWhatWasChangedJustNowAreNotKept) {
  const auto store = open();
  EXPECT_EQ(kept(*store, 0), nullptr);
  EXPECT_EQ(kept(*store, 1), nullptr);
  EXPECT_NE(kept(*store, 4), nullptr);
  EXPECT_EQ(kept(*store, -3'600), nullptr) << "changed in the future";
}

TEST_F(KeptHashesTest, OfWhatChangesMeanwhileAreNotKept) {
  const auto store = open();
  const auto hashes = kept(*store);
  std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary).seekp(5).put('x');
  EXPECT_FALSE(hashes->save(*store, index_));
  EXPECT_TRUE(files_kept().empty());
}

TEST_F(KeptHashesTest, OfLittleAreNotKept) {
  const auto store = open();
  EXPECT_EQ(KeptHashes::of(*store, {kBlockBytes, kSymbolBytes, 3 * kBlockBytes}, cache(), time_of(3'600)), nullptr);
  EXPECT_EQ(KeptHashes::of(*store, layout_, {}, time_of(3'600)), nullptr) << "no directory";
  EXPECT_EQ(KeptHashes::of(*open_source_bytes(std::make_shared<std::vector<std::uint8_t>>(kSize)), layout_, cache(),
                           time_of(3'600)),
            nullptr)
      << "no file";
}

TEST_F(KeptHashesTest, ThatAreNotWholeOrDamagedDoNotCount) {
  keep();
  const std::string path = files_kept().at(0), whole = read_file(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(path, std::string_view(whole).substr(0, size));
    EXPECT_FALSE(load()) << size;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    write_file(path, damaged);
    EXPECT_FALSE(load()) << at;
  }
  write_file(path, whole + "x");
  EXPECT_FALSE(load());
  write_file(path, std::string(8u << 20, 'x'));
  EXPECT_FALSE(load());
  write_file(path, whole);
  EXPECT_TRUE(is_known(load()));
}

TEST_F(KeptHashesTest, ThatAreNoFileDoNotCount) {
  keep();
  const std::string path = files_kept().at(0);
  fs::rename(path, files_.path("elsewhere"));
  fs::create_symlink(files_.path("elsewhere"), path);
  EXPECT_FALSE(load()) << "a symbolic link";
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(load()) << "a pipe";
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_FALSE(load()) << "a directory";
}

TEST_F(KeptHashesTest, OfSomebodyElseDoNotCount) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  keep();
  ASSERT_EQ(::chown(files_kept().at(0).c_str(), 12'345, 12'345), 0);
  EXPECT_FALSE(load());
}

TEST_F(KeptHashesTest, ThatHaveNoRoomAreNotKept) {
  keep();
  const std::string before = read_file(files_kept().at(0));
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit former{};
  ::getrlimit(RLIMIT_FSIZE, &former);
  const rlimit little{100, former.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &little);
  const auto store = open();
  const bool is_saved = kept(*store)->save(*store, index_);
  ::setrlimit(RLIMIT_FSIZE, &former);
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_FALSE(is_saved);
  ASSERT_EQ(files_kept().size(), 1u) << "nothing is left of what was not whole";
  EXPECT_EQ(read_file(files_kept().at(0)), before);
}

TEST_F(KeptHashesTest, WithoutADirectoryAreNotKept) {
  write_file(files_.path("cache"), "a file");
  const auto store = open();
  EXPECT_FALSE(kept(*store)->save(*store, index_));
  EXPECT_FALSE(load());
}

TEST_F(KeptHashesTest, AreNoMoreThanSoMany) {
  fs::create_directories(cache());
  const std::string other = cache() + "/mine.txt";
  write_file(other, "of somebody else");
  const auto add = [&](int number, std::size_t bytes, time_t age) {
    char name[80];
    std::snprintf(name, sizeof name, "/%064d.hashes", number);
    write_file(cache() + name, {});
    fs::resize_file(cache() + name, bytes);
    const timespec times[] = {time_of(-age), time_of(-age)};
    ::utimensat(AT_FDCWD, (cache() + name).c_str(), times, 0);
    return cache() + name;
  };
  std::string oldest;
  for (std::size_t i = 0; i < KeptHashes::kFilesMax; ++i) {
    const std::string path = add(static_cast<int>(i), 10, static_cast<time_t>(1'000 + i));
    if (i + 1 == KeptHashes::kFilesMax) oldest = path;
  }
  write_file(cache() + "/.aside-123456", "of a program that was killed");
  const timespec long_ago[] = {time_of(-10'000), time_of(-10'000)};
  ::utimensat(AT_FDCWD, (cache() + "/.aside-123456").c_str(), long_ago, 0);
  keep();
  EXPECT_EQ(files_kept().size(), KeptHashes::kFilesMax + 1);
  EXPECT_FALSE(fs::exists(oldest));
  EXPECT_FALSE(fs::exists(cache() + "/.aside-123456"));
  EXPECT_EQ(read_file(other), "of somebody else");
  EXPECT_TRUE(is_known(load()));
  const std::string large = add(9'999, KeptHashes::kBytesMax, 500);
  keep();
  EXPECT_FALSE(fs::exists(large));
  EXPECT_TRUE(is_known(load())) << "what was used last stays";
}

TEST_F(KeptHashesTest, OfADirectoryAreThoseOfItsFiles) {
  fs::remove(file());
  fs::create_directories(file() + "/in");
  write_file(file() + "/in/a", "aaaa");
  write_file(file() + "/b", "bbbb");
  keep();
  EXPECT_TRUE(is_known(load()));
  struct stat before {};
  ASSERT_EQ(::stat((file() + "/in/a").c_str(), &before), 0);
  write_file(file() + "/in/a", "aaax");
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, (file() + "/in/a").c_str(), times, 0), 0);
  EXPECT_FALSE(load());
  keep();
  EXPECT_TRUE(is_known(load()));
  write_file(file() + "/c", "cccc");
  EXPECT_FALSE(load());
}

TEST(UsersHashDirectory, IsInTheCacheOfTheUser) {
  const auto set = [](const char* name, const char* value) {
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  };
  const auto get = [](const char* name) {
    const char* const value = ::getenv(name);
    return value == nullptr ? std::optional<std::string>() : std::optional<std::string>(value);
  };
  const auto cache = get("XDG_CACHE_HOME"), home = get("HOME");
  set("XDG_CACHE_HOME", "/var/tmp/x");
  set("HOME", "/home/u");
  EXPECT_EQ(users_hash_directory(), "/var/tmp/x/spindle/hashes");
  set("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(users_hash_directory(), "/home/u/.cache/spindle/hashes");
  set("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(users_hash_directory(), "/home/u/.cache/spindle/hashes");
  set("HOME", nullptr);
  EXPECT_EQ(users_hash_directory(), "");
  set("XDG_CACHE_HOME", cache ? cache->c_str() : nullptr);
  set("HOME", home ? home->c_str() : nullptr);
}

/// A source that is started again.
class KeptHashesOfASource : public KeptHashesTest {
 protected:
  void start() {
    store_ = std::make_shared<CountedStore>(open());
    const std::shared_ptr<KeptHashes> hashes = kept(*store_);
    ASSERT_NE(hashes, nullptr);
    host_ = std::make_unique<test::BulkHost>();
    transfer_ = std::make_shared<BulkTransfer>(
        *host_, BulkTransfer::Offer{{"alpha", 7, 8}, layout_, store_, 0, nullptr, hashes, hashes->load()});
    transfer_->start();
  }
  void pump(int times) {
    for (int i = 0; i < times; ++i) transfer_->pump(now_ += std::chrono::seconds(1));
  }
  /// Until nobody lacks anything: gives each symbol once.
  std::size_t give() {
    bulk::BulkHolder& holder = *transfer_->engines().holder;
    holder.handle_grant(bulk::kLiveStream, 1'000);
    std::size_t symbols = 0;
    for (int i = 0; i < 20 && transfer_->engines().holder != nullptr; ++i) {
      for (; holder.next_symbol(); ++symbols) continue;
      pump(1);
    }
    return symbols;
  }
  void run_once() {
    start();
    pump(20);
    ASSERT_EQ(host_->seals.size(), 1u);
    EXPECT_EQ(store_->bytes, kSize);
    transfer_->end(false);
  }

  std::shared_ptr<CountedStore> store_;
  std::unique_ptr<test::BulkHost> host_;
  std::shared_ptr<BulkTransfer> transfer_;
  bulk::Nanoseconds now_ = std::chrono::steady_clock::now().time_since_epoch();
};

TEST_F(KeptHashesOfASource, SealWhatNobodyReads) {
  run_once();
  const bulk::BlockHash root = host_->seals.at(0).root;
  start();
  pump(1);
  ASSERT_EQ(host_->seals.size(), 1u);
  EXPECT_EQ(host_->seals[0].root, root);
  EXPECT_EQ(host_->seals[0].size, kSize);
  EXPECT_EQ(store_->bytes, 0u);
  EXPECT_EQ(give(), kSize / kSymbolBytes);
}

TEST_F(KeptHashesOfASource, AreKeptWhereItEndsBefore) {
  start();
  host_->holds_jobs = true;
  pump(1);
  host_->do_jobs();
  EXPECT_TRUE(host_->seals.empty());
  const std::uint64_t read = store_->bytes;
  EXPECT_EQ(read, 2 * kBlockBytes);
  transfer_->save_at_end();
  start();
  pump(20);
  EXPECT_EQ(host_->seals.size(), 1u);
  EXPECT_EQ(store_->bytes, kSize - read);
}

TEST_F(KeptHashesOfASource, ThatAreWrongEndTheChannelAndGo) {
  bulk::BlockHash wrong = *index_.find(4);
  wrong[0] ^= 1;
  index_.set(4, wrong);
  keep();
  start();
  pump(1);
  EXPECT_EQ(host_->seals.size(), 1u) << "nobody can see it yet";
  EXPECT_EQ(give(), 4 * kBlockBytes / kSymbolBytes);
  EXPECT_TRUE(host_->is_cancelled);
  EXPECT_TRUE(files_kept().empty());
  run_once();
}

TEST_F(KeptHashesOfASource, OfWhatChangesEndTheChannelAsEver) {
  run_once();
  start();
  std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary).seekp(5).put('x');
  EXPECT_EQ(give(), 0u);
  EXPECT_TRUE(host_->is_cancelled);
}

}  // namespace
}  // namespace spindle
