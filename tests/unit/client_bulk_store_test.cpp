// Where the content of a bulk channel is: directories that are sent and received.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "libclient/src/bulk_store.h"
#include "libclient/src/file_tree.h"
#include "tests/support/files.h"

namespace spindle {
namespace {

using bulk::FileList;
using bulk::FileListEntry;
using Kind = FileListEntry::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::uint32_t kBlockBytes = 16u << 10;

FileList tree() {
  return {{{Kind::directory, 0, "a", 0},
           {Kind::directory, 1, "b", 0},
           {Kind::file, 2, "c", 3},
           {Kind::executable, 1, "run", 4},
           {Kind::file, 0, "a.txt", 0},
           {Kind::directory, 0, "empty", 0},
           {Kind::file, 0, "z", 100}}};
}

TEST(FileTree, KnowsWhichFileHasWhat) {
  const FileTree files(tree(), 100);
  EXPECT_EQ(files.path_of(2), "a/b/c");
  EXPECT_EQ(files.path_of(4), "a.txt");
  const auto pieces = files.pieces_of(101, 10);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(std::tuple(pieces[0].entry, pieces[0].at, pieces[0].bytes), std::tuple(2u, 1u, 2u));
  EXPECT_EQ(std::tuple(pieces[1].entry, pieces[1].at, pieces[1].bytes), std::tuple(3u, 0u, 4u));
  EXPECT_EQ(std::tuple(pieces[2].entry, pieces[2].at, pieces[2].bytes), std::tuple(6u, 0u, 4u));
  EXPECT_EQ(files.pieces_of(107 + 99, 10).at(0).bytes, 1u);
  EXPECT_TRUE(files.pieces_of(207, 10).empty());
}

/// A directory with files, its content, and a place where it is received.
class Directories : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(from() + "/deep/er");
    fs::create_directory(from() + "/empty");
    fs::create_directory(to());
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) {
      const std::string name = (i % 3 == 0 ? "/deep/er/" : i % 3 == 1 ? "/deep/" : "/") + std::to_string(i);
      std::string content(random() % 2'000, '\0');
      for (char& each : content) each = static_cast<char>(random());
      std::ofstream(from() + name, std::ios::binary) << content;
    }
    std::ofstream(from() + "/large") << std::string(10 * kBlockBytes, 'x');
    fs::permissions(from() + "/large", fs::perms::owner_all);
  }

  std::string from() const { return directory_.path("from"); }
  std::string to() const { return directory_.path("to"); }

  /// Of `from`, into `content_`.
  void read_source() {
    StoreFailure failure;
    std::uint64_t size = 0;
    source_ = open_source_directory(from(), nullptr, size, failure);
    ASSERT_NE(source_, nullptr) << failure.text;
    content_.resize(size);
    ASSERT_TRUE(source_->read(0, content_));
    layout_.block_bytes = kBlockBytes;
    layout_.symbol_bytes = 1u << 10;
    layout_.size = size;
  }

  std::optional<bulk::ResumeState> open(bool replace = false) {
    store_.reset();
    store_ = make_received_directory(to(), "got", replace);
    failure_ = {};
    return store_->open(layout_, std::nullopt, failure_);
  }
  ByteView block(std::uint32_t number) const {
    return ByteView(content_).subspan(layout_.start_of(number), layout_.bytes_of(number));
  }
  void write(std::uint32_t number) {
    const StoreFailure failure = store_->write_block(layout_.start_of(number), block(number));
    ASSERT_FALSE(failure.error) << failure.text;
    written_.add(number);
  }
  void save() { save(written_); }
  void save(const bulk::BlockSet& written) {
    bulk::ResumeState state{layout_, std::nullopt, written, {}};
    for (const auto& run : written.runs()) {
      for (std::uint32_t each = run.first; each < run.end; ++each) state.index.set(each, {});
    }
    const StoreFailure failure = store_->save(state);
    ASSERT_FALSE(failure.error) << failure.text;
  }
  void expect_all_is_there() {
    std::vector<std::uint8_t> got(content_.size());
    EXPECT_TRUE(store_->read(0, got));
    EXPECT_TRUE(got == content_);
    const StoreFailure failure = store_->finish(layout_.size);
    ASSERT_FALSE(failure.error) << failure.text;
    EXPECT_EQ(std::distance(fs::directory_iterator(to()), {}), 1) << "nothing is left beside it";
    expect_same(from(), to() + "/got");
    EXPECT_TRUE(store_->read(0, got)) << "others can be served";
    EXPECT_TRUE(got == content_);
  }
  static void expect_same(const std::string& one, const std::string& other) {
    const auto count = [](const std::string& path) {
      return std::distance(fs::recursive_directory_iterator(path), {});
    };
    EXPECT_EQ(count(one), count(other));
    for (const fs::directory_entry& each : fs::recursive_directory_iterator(one)) {
      const fs::path there = other / fs::relative(each.path(), one);
      ASSERT_EQ(each.status().type(), fs::status(there).type()) << there;
      if (!each.is_regular_file()) continue;
      EXPECT_EQ(text(each.path()), text(there)) << there;
      const auto executes = [](const fs::path& path) {
        return (fs::status(path).permissions() & fs::perms::owner_exec) != fs::perms::none;
      };
      EXPECT_EQ(executes(each.path()), executes(there)) << there;
    }
  }
  static std::string text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  test::TemporaryDirectory directory_;
  std::shared_ptr<BulkStore> source_, store_;
  std::vector<std::uint8_t> content_;
  bulk::ContentLayout layout_;
  bulk::BlockSet written_;
  StoreFailure failure_;
};

TEST_F(Directories, ArriveInAnyOrder) {
  read_source();
  std::vector<std::uint32_t> order(layout_.blocks());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  for (unsigned seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    fs::remove_all(to() + "/got");
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    open();
    ASSERT_FALSE(failure_.error) << failure_.text;
    for (const std::uint32_t each : order) write(each);
    expect_all_is_there();
  }
}

TEST_F(Directories, AreGoneOnWithAfterACrash) {
  read_source();
  ASSERT_GT(layout_.blocks(), 8u);
  const std::uint32_t last = layout_.blocks() - 1;
  open();
  // Before the list is there.
  write(3);
  write(last);
  save();
  ASSERT_EQ(open().value().written, written_);
  write(0);
  write(5);
  save();
  // Behind it.
  ASSERT_EQ(open().value().written, written_);
  for (std::uint32_t each = 0; each <= last; ++each) write(each);
  expect_all_is_there();
}

/// Files are made with the block that the list is in, and what is there is noted later.
TEST_F(Directories, AreGoneOnWithWhereTheStateIsOlderThanTheFiles) {
  read_source();
  const std::uint32_t last = layout_.blocks() - 1;
  open();
  write(3);
  write(last);
  const bulk::BlockSet before = written_;
  save();
  write(0);
  write(5);
  ASSERT_TRUE(fs::exists(to() + "/got.spindle-part/deep/1"));
  const std::optional<bulk::ResumeState> state = open();
  ASSERT_TRUE(state.has_value()) << failure_.text;
  EXPECT_EQ(state->written, before);
  for (std::uint32_t each = 0; each <= last; ++each) {
    if (!before.contains(each)) write(each);
  }
  expect_all_is_there();
}

/// The state was made, files were made, and then it is saved. What it tells of may be in files only.
TEST_F(Directories, AreGoneOnWithWhereTheStateWasMadeBeforeTheFiles) {
  read_source();
  const std::uint32_t last = layout_.blocks() - 1;
  open();
  write(3);
  const bulk::BlockSet before = written_;
  save();
  write(last);
  const bulk::BlockSet early = written_;
  bulk::BlockSet late = written_;
  late.add(5);
  write(0);
  write(5);
  for (const bulk::BlockSet& each : {early, late}) save(each);
  {
    const std::optional<bulk::ResumeState> state = open();
    ASSERT_TRUE(state.has_value()) << failure_.text;
    EXPECT_EQ(state->written, before);
  }
  write(0);
  write(last);
  written_ = before;
  for (const std::uint32_t each : {0u, last}) written_.add(each);
  save();
  ASSERT_EQ(open().value().written, written_);
  for (std::uint32_t each = 1; each < last; ++each) {
    if (each != 3) write(each);
  }
  expect_all_is_there();
}

/// Without the list nobody finds what is in the files by then.
TEST_F(Directories, HaveNoFirstStateWithoutTheirList) {
  read_source();
  open();
  write(3);
  const bulk::BlockSet before = written_;
  write(0);
  save(before);
  EXPECT_FALSE(fs::exists(to() + "/got.spindle-state"));
  save();
  EXPECT_EQ(open().value().written, written_);
}

TEST_F(Directories, TakeRoomOnceWhenAStateTellsOfTheirList) {
  read_source();
  open();
  write(3);
  save();
  write(0);
  EXPECT_GT(fs::file_size(to() + "/got.spindle-list"), layout_.start_of(3));
  save();
  EXPECT_LT(fs::file_size(to() + "/got.spindle-list"), kBlockBytes);
}

/// No file of this process gets longer than that.
class LimitOfFiles {
 public:
  explicit LimitOfFiles(rlim_t bytes) : former_signal_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &former_);
    const rlimit limit{bytes, former_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LimitOfFiles() {
    ::setrlimit(RLIMIT_FSIZE, &former_);
    ::signal(SIGXFSZ, former_signal_);
  }

 private:
  const sighandler_t former_signal_;
  rlimit former_{};
};

TEST_F(Directories, TakeRoomOnceWhereThereIsNoMore) {
  read_source();
  for (const bool saves : {false, true}) {
    SCOPED_TRACE(saves);
    written_ = {};
    fs::remove_all(to());
    fs::create_directory(to());
    open();
    write(3);
    save();
    write(0);
    bulk::ResumeState state{layout_, std::nullopt, written_, {}};
    for (const std::uint32_t each : {0u, 3u}) state.index.set(each, {});
    {
      const LimitOfFiles limit(1);
      const StoreFailure failure = saves ? store_->save(state) : store_->write_block(layout_.start_of(5), block(5));
      EXPECT_EQ(failure.error, Errc::no_space) << failure.text;
      EXPECT_TRUE(failure.may_pass);
    }
    EXPECT_LT(fs::file_size(to() + "/got.spindle-list"), kBlockBytes);
    for (std::uint32_t each = 1; each < layout_.blocks(); ++each) write(each);
    expect_all_is_there();
  }
}

/// Has the calling thread, for good, find no room where it writes so many bytes at once.
bool find_no_room_for(std::uint32_t bytes) {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_pwrite64, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, bytes, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(steps)), steps};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Some of what came before the list is in files then, of which there will be others.
TEST_F(Directories, AreSavedWhereThereWasNoRoomToMakeTheirFiles) {
  read_source();
  open();
  write(3);
  const bulk::BlockSet before = written_;
  std::string why;
  const std::optional<std::size_t> list_bytes = FileList::size_of(content_);
  ASSERT_TRUE(list_bytes.has_value());
  const std::optional<FileList> list = FileList::decode(ByteView(content_).first(*list_bytes), layout_.size, why);
  ASSERT_TRUE(list.has_value()) << why;
  const auto pieces = FileTree(*list, *list_bytes).pieces_of(layout_.start_of(3), kBlockBytes);
  ASSERT_GT(pieces.size(), 2u);
  StoreFailure failure;
  bool is_filtered = false;
  std::thread([&] {
    is_filtered = find_no_room_for(static_cast<std::uint32_t>(pieces[pieces.size() - 2].bytes));
    if (is_filtered) failure = store_->write_block(layout_.start_of(0), block(0));
  }).join();
  if (!is_filtered) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_EQ(failure.error, Errc::no_space) << failure.text;
  EXPECT_TRUE(failure.may_pass);
  save(before);
  for (std::uint32_t each = 0; each < layout_.blocks(); ++each) write(each);
  expect_all_is_there();
}

TEST_F(Directories, MakeFilesWhereThereAreNone) {
  read_source();
  open();
  std::ofstream(to() + "/got.spindle-part/deep") << "of a time when there was no room for all";
  for (std::uint32_t each = 0; each < layout_.blocks(); ++each) write(each);
  expect_all_is_there();
}

TEST_F(Directories, WhoseFilesAreGoneAreReceivedAnew) {
  read_source();
  open();
  for (std::uint32_t each = 0; each + 1 < layout_.blocks(); ++each) write(each);
  save();
  fs::remove(to() + "/got.spindle-part/deep/1");
  EXPECT_FALSE(open().has_value());
  EXPECT_FALSE(failure_.error) << failure_.text;
  for (std::uint32_t each = 0; each < layout_.blocks(); ++each) write(each);
  expect_all_is_there();
}

TEST_F(Directories, AreReceivedByOneAtATimeAndReplacedOnlyWhereThatIsSaid) {
  read_source();
  open();
  const auto other = make_received_directory(to(), "got", false);
  StoreFailure failure;
  other->open(layout_, std::nullopt, failure);
  EXPECT_EQ(failure.error, Errc::file_exists) << failure.text;
  fs::create_directory(to() + "/got");
  std::ofstream(to() + "/got/former") << "former";
  for (std::uint32_t each = 0; each < layout_.blocks(); ++each) write(each);
  EXPECT_EQ(store_->finish(layout_.size).error, Errc::file_exists);
  store_->discard();
  open();
  EXPECT_EQ(failure_.error, Errc::file_exists);
  open(true);
  ASSERT_FALSE(failure_.error) << failure_.text;
  for (std::uint32_t each = 0; each < layout_.blocks(); ++each) write(each);
  expect_all_is_there();
  EXPECT_FALSE(fs::exists(to() + "/got/former"));
}

TEST_F(Directories, FollowNoLinks) {
  read_source();
  open();
  write(0);
  fs::create_directory(directory_.path("outside"));
  fs::remove_all(to() + "/got.spindle-part/deep");
  fs::create_directory_symlink(directory_.path("outside"), to() + "/got.spindle-part/deep");
  StoreFailure failure;
  for (std::uint32_t each = 0; each < layout_.blocks() && !failure.error; ++each) {
    failure = store_->write_block(layout_.start_of(each), block(each));
  }
  EXPECT_EQ(failure.error, Errc::file_failed);
  EXPECT_TRUE(fs::is_empty(directory_.path("outside")));
  store_->discard();
  EXPECT_TRUE(fs::is_empty(to()));
  EXPECT_TRUE(fs::exists(directory_.path("outside")));
}

TEST_F(Directories, WhoseListIsNoGoodLeaveNothingBehind) {
  read_source();
  for (const std::string& first : {std::string("\x01\x02\0\0\0\0\x07", 7), std::string(7, 'x')}) {
    content_.assign(first.begin(), first.end());
    content_.resize(kBlockBytes);
    layout_.size = content_.size();
    open();
    const StoreFailure failure = store_->write_block(0, block(0));
    EXPECT_EQ(failure.error, Errc::bad_content_name) << failure.text;
    store_->discard();
    EXPECT_TRUE(fs::is_empty(to()));
  }
}

TEST_F(Directories, WithWhatIsNoFileAreRefusedUnlessItIsLeftOut) {
  StoreFailure failure;
  std::uint64_t size = 0;
  fs::create_symlink("/etc/passwd", from() + "/deep/link");
  EXPECT_EQ(open_source_directory(from(), nullptr, size, failure), nullptr);
  EXPECT_EQ(failure.error, Errc::file_failed);
  EXPECT_THAT(failure.text, HasSubstr("deep/link is a symbolic link"));
  ASSERT_EQ(::mkfifo((from() + "/pipe").c_str(), 0600), 0);
  std::vector<std::string> left_out;
  EXPECT_NE(open_source_directory(from(), &left_out, size, failure), nullptr) << failure.text;
  EXPECT_THAT(left_out, ElementsAre("deep/link", "pipe"));
  std::ofstream(from() + "/a\nb") << "x";
  EXPECT_EQ(open_source_directory(from(), &left_out, size, failure), nullptr);
  EXPECT_EQ(failure.error, Errc::bad_content_name);
  EXPECT_EQ(open_source_directory(from() + "/nothing", nullptr, size, failure), nullptr);
  EXPECT_EQ(failure.error, Errc::file_failed);
}

TEST_F(Directories, HaveOneListWhateverTheOrderInWhichTheyWereMade) {
  read_source();
  const std::vector<std::uint8_t> before = content_;
  fs::copy(from(), directory_.path("copy"), fs::copy_options::recursive);
  StoreFailure failure;
  std::uint64_t size = 0;
  const auto copy = open_source_directory(directory_.path("copy"), nullptr, size, failure);
  ASSERT_EQ(size, before.size()) << failure.text;
  std::vector<std::uint8_t> content(size);
  EXPECT_TRUE(copy->read(0, content));
  EXPECT_TRUE(content == before);
}

TEST_F(Directories, WhoseFilesChangeCannotBeRead) {
  read_source();
  std::ofstream(from() + "/large", std::ios::app) << 'y';
  EXPECT_FALSE(source_->read(0, content_));
}

TEST(SourceFiles, ThatChangeCannotBeRead) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("file");
  std::ofstream(path) << std::string(10'000, 'x');
  StoreFailure failure;
  std::uint64_t size = 0;
  const auto source = open_source_file(path, size, failure);
  std::vector<std::uint8_t> content(size);
  EXPECT_TRUE(source->read(0, content));
  // What was written in the same tick of the clock cannot be told from it.
  const timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_FALSE(source->read(0, content));
}

}  // namespace
}  // namespace spindle
