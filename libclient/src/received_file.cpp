// A content on its way into a file, which can be gone on with after a crash.
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "libclient/src/bulk_store.h"
#include "libclient/src/file_io.h"

namespace spindle {

namespace {

constexpr std::string_view kPartSuffix = ".spindle-part";
constexpr std::string_view kStateSuffix = ".spindle-state";
/// The longest state: all hashes of 65,536 blocks, and their runs.
constexpr std::size_t kStateBytesMax = 4u << 20;

/// "NAME.spindle-part" is locked as long as it is received. Symbolic links are not followed, so that nobody who may
/// write to the directory can have something else written to.
class ReceivedFile final : public BulkStore {
 public:
  ReceivedFile(std::string directory, std::string name, bool replace)
      : directory_path_(std::move(directory)), name_(std::move(name)), replace_(replace) {}

  std::optional<bulk::ResumeState> open(const bulk::ContentLayout& layout, const std::optional<bulk::BlockHash>& root,
                                        StoreFailure& failure) override {
    failure = open_part();
    if (failure.error) return std::nullopt;
    std::optional<bulk::ResumeState> state = load_state();
    if (state && !is_of(*state, layout, root)) state.reset();
    if (!state) failure = begin_anew();
    if (!failure.error && layout.has_size() && layout.size > 0) failure = allocate(layout.size);
    // Who finds no room leaves nothing behind that takes some.
    if (failure.error && !state) discard();
    return failure.error ? std::nullopt : std::move(state);
  }

  bool read(std::uint64_t start, std::span<std::uint8_t> to) const override { return read_at(file_, start, to); }

  StoreFailure write(std::uint64_t start, ByteView bytes) override {
    const int error = write_at(file_, start, bytes);
    return error == 0 ? StoreFailure{} : failure_of(error, part_name());
  }

  StoreFailure save(const bulk::ResumeState& state) override {
    if (::fdatasync(file_.get()) != 0) return failure_of(errno, part_name());
    const std::string fresh = state_name() + ".new";
    const Descriptor file(
        ::openat(directory_.get(), fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return failure_of(errno, fresh);
    if (const int error = write_at(file, 0, state.encode())) return failure_of(error, fresh);
    if (::fdatasync(file.get()) != 0 ||
        ::renameat(directory_.get(), fresh.c_str(), directory_.get(), state_name().c_str()) != 0) {
      return failure_of(errno, state_name());
    }
    return {};
  }

  StoreFailure finish(std::uint64_t size) override {
    if (::ftruncate(file_.get(), static_cast<off_t>(size)) != 0 || ::fsync(file_.get()) != 0) {
      return failure_of(errno, part_name());
    }
    if (const int error = rename_part()) {
      if (error == EEXIST) return file_exists();
      return failure_of(error, name_);
    }
    is_finished_ = true;
    ::unlinkat(directory_.get(), state_name().c_str(), 0);
    ::fsync(directory_.get());
    return {};
  }

  void discard() override {
    if (is_finished_ || !file_) return;
    ::unlinkat(directory_.get(), state_name().c_str(), 0);
    ::unlinkat(directory_.get(), part_name().c_str(), 0);
  }

  std::string path() const override { return directory_path_ + (directory_path_.ends_with('/') ? "" : "/") + name_; }

 private:
  std::string part_name() const { return name_ + std::string(kPartSuffix); }
  std::string state_name() const { return name_ + std::string(kStateSuffix); }

  StoreFailure failure_of(int error, const std::string& name) const {
    const bool is_room = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return {is_room ? Errc::no_space : Errc::file_failed,
            (name.empty() ? directory_path_ : directory_path_ + "/" + name) + ": " + std::strerror(error)};
  }
  StoreFailure file_exists() const { return {Errc::file_exists, path() + " is there already"}; }

  StoreFailure open_part() {
    directory_ = Descriptor(::open(directory_path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory_) return failure_of(errno, {});
    struct stat found {};
    if (::fstatat(directory_.get(), name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) {
      if (!replace_ || S_ISDIR(found.st_mode)) return file_exists();
    }
    Descriptor file(
        ::openat(directory_.get(), part_name().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
    if (!file || ::fstat(file.get(), &found) != 0) return failure_of(errno, part_name());
    if (!S_ISREG(found.st_mode)) return {Errc::file_failed, part_name() + " is not a regular file"};
    if (!lock(file)) return {Errc::file_exists, path() + " is being received already"};
    file_ = std::move(file);
    return {};
  }

  /// Whoever has given way lets go of it in a moment.
  static bool lock(const Descriptor& file) {
    constexpr std::chrono::milliseconds kPause{20};
    for (int tries = 0; tries < 100; ++tries) {
      if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return true;
      if (errno != EWOULDBLOCK && errno != EINTR) return false;
      std::this_thread::sleep_for(kPause);
    }
    return false;
  }

  std::optional<bulk::ResumeState> load_state() const {
    const Descriptor file(
        ::openat(directory_.get(), state_name().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat found {};
    if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
    if (static_cast<std::uint64_t>(found.st_size) > kStateBytesMax) return std::nullopt;
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(found.st_size));
    return read_at(file, 0, bytes) ? bulk::ResumeState::decode(bytes) : std::nullopt;
  }

  /// Whether the state may be that of what is offered, and its blocks are in the file.
  bool is_of(const bulk::ResumeState& state, const bulk::ContentLayout& layout,
             const std::optional<bulk::BlockHash>& root) const {
    if (root && state.root && *root != *state.root) return false;
    if (state.layout.block_bytes != layout.block_bytes || state.layout.symbol_bytes != layout.symbol_bytes)
      return false;
    if (state.layout.has_size() && layout.has_size() && state.layout.size != layout.size) return false;
    if (state.written.empty()) return true;
    const std::uint32_t last = state.written.runs().back().end - 1;
    struct stat found {};
    return last < layout.blocks() && ::fstat(file_.get(), &found) == 0 &&
           static_cast<std::uint64_t>(found.st_size) >= layout.start_of(last) + layout.bytes_of(last);
  }

  StoreFailure begin_anew() {
    ::unlinkat(directory_.get(), state_name().c_str(), 0);
    return ::ftruncate(file_.get(), 0) == 0 ? StoreFailure{} : failure_of(errno, part_name());
  }

  StoreFailure allocate(std::uint64_t size) {
    int error = 0;
    do {
      error = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(size));
    } while (error == EINTR);
    return error == 0 ? StoreFailure{} : failure_of(error, part_name());
  }

  /// 0, or an errno.
  int rename_part() const {
    const int directory = directory_.get();
    if (replace_) return ::renameat(directory, part_name().c_str(), directory, name_.c_str()) == 0 ? 0 : errno;
    if (::renameat2(directory, part_name().c_str(), directory, name_.c_str(), RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    // A file system that cannot: a second name is not made where there is one already.
    if (::linkat(directory, part_name().c_str(), directory, name_.c_str(), 0) != 0) return errno;
    ::unlinkat(directory, part_name().c_str(), 0);
    return 0;
  }

  const std::string directory_path_;
  const std::string name_;
  const bool replace_;
  Descriptor directory_;
  Descriptor file_;
  bool is_finished_ = false;
};

}  // namespace

bool is_file_name(std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.size() > 255 - kStateSuffix.size() - 4) return false;
  if (name.ends_with(kPartSuffix) || name.ends_with(kStateSuffix) || name.ends_with(".spindle-state.new")) return false;
  return std::none_of(name.begin(), name.end(), [](char each) {
    const auto byte = static_cast<unsigned char>(each);
    return byte < 0x20 || byte == 0x7f || each == '/';
  });
}

std::shared_ptr<BulkStore> make_received_file(std::string directory, std::string name, bool replace) {
  return std::make_shared<ReceivedFile>(std::move(directory), std::move(name), replace);
}

}  // namespace spindle
