#include "libclient/src/received_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "libclient/bulk/file_list.h"
#include "libclient/src/file_io.h"

namespace spindle {

namespace {

constexpr std::string_view kPartSuffix = ".spindle-part";
constexpr std::string_view kListSuffix = ".spindle-list";
constexpr std::string_view kStateSuffix = ".spindle-state";
constexpr std::string_view kNewStateSuffix = ".spindle-state.new";
constexpr std::string_view kFormerSuffix = ".spindle-former";
/// The longest state: all hashes of 65,536 blocks, and their runs.
constexpr std::size_t kStateBytesMax = 4u << 20;

/// Whoever has given way lets go of it in a moment.
bool lock(const Descriptor& file) {
  constexpr std::chrono::milliseconds kPause{20};
  for (int tries = 0; tries < 100; ++tries) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

}  // namespace

std::string ReceivedPlace::part_name() const { return name_ + std::string(kPartSuffix); }
std::string ReceivedPlace::list_name() const { return name_ + std::string(kListSuffix); }
std::string ReceivedPlace::state_name() const { return name_ + std::string(kStateSuffix); }
std::string ReceivedPlace::former_name() const { return name_ + std::string(kFormerSuffix); }

std::string ReceivedPlace::path_of(const std::string& name) const {
  return directory_path_ + (directory_path_.ends_with('/') ? "" : "/") + name;
}

StoreFailure ReceivedPlace::failure_of(int error, const std::string& name) const {
  const bool is_room = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return {is_room ? Errc::no_space : Errc::file_failed,
          (name.empty() ? directory_path_ : path_of(name)) + ": " + std::strerror(error)};
}

StoreFailure ReceivedPlace::open(bool is_directory) {
  directory_ = Descriptor(::open(directory_path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_) return failure_of(errno, {});
  is_directory_ = is_directory;
  return check_free();
}

StoreFailure ReceivedPlace::check_free() const {
  struct stat found {};
  if (::fstatat(directory_.get(), name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return {};
  // A file takes the place of what is no directory, a directory that of a directory.
  return replace_ && S_ISDIR(found.st_mode) == is_directory_ ? StoreFailure{} : exists();
}

StoreFailure ReceivedPlace::open_locked(const std::string& name, Descriptor& file) const {
  for (;;) {
    Descriptor opened(
        ::openat(directory_.get(), name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
    struct stat found {
    }, named{};
    if (!opened || ::fstat(opened.get(), &found) != 0) return failure_of(errno, name);
    if (!S_ISREG(found.st_mode)) return {Errc::file_failed, path_of(name) + " is not a regular file"};
    if (!lock(opened)) return {Errc::file_exists, path() + " is being received already"};
    const bool has_name = ::fstatat(directory_.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                          named.st_dev == found.st_dev && named.st_ino == found.st_ino;
    if (StoreFailure failure = check_free(); failure.error) {
      if (has_name && named.st_size == 0) remove(name);
      return failure;
    }
    if (!has_name) continue;
    file = std::move(opened);
    return {};
  }
}

std::optional<bulk::ResumeState> ReceivedPlace::load_state() const {
  const Descriptor file(
      ::openat(directory_.get(), state_name().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  if (static_cast<std::uint64_t>(found.st_size) > kStateBytesMax) return std::nullopt;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(found.st_size));
  return read_at(file, 0, bytes) ? bulk::ResumeState::decode(bytes) : std::nullopt;
}

bool ReceivedPlace::may_be_of(const bulk::ResumeState& state, const bulk::ContentLayout& layout,
                              const std::optional<bulk::BlockHash>& root) {
  if (root && state.root && *root != *state.root) return false;
  if (state.layout.block_bytes != layout.block_bytes || state.layout.symbol_bytes != layout.symbol_bytes) return false;
  if (state.layout.has_size() && layout.has_size() && state.layout.size != layout.size) return false;
  return state.written.empty() || state.written.runs().back().end <= layout.blocks();
}

StoreFailure ReceivedPlace::save_state(const bulk::ResumeState& state) const {
  const std::string fresh = name_ + std::string(kNewStateSuffix);
  const Descriptor file(
      ::openat(directory_.get(), fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return may_pass(failure_of(errno, fresh));
  int error = write_at(file, 0, state.encode());
  const bool is_there = error == 0 && ::fdatasync(file.get()) == 0 &&
                        ::renameat(directory_.get(), fresh.c_str(), directory_.get(), state_name().c_str()) == 0;
  if (is_there) return {};
  if (error == 0) error = errno;
  remove(fresh);
  return may_pass(failure_of(error, fresh));
}

void ReceivedPlace::settle_state(bool stays) const {
  if (!stays) remove(state_name());
  sync();
}

void ReceivedPlace::remove(const std::string& name) const { ::unlinkat(directory_.get(), name.c_str(), 0); }

StoreFailure ReceivedPlace::move_here(const std::string& part) const {
  const int directory = directory_.get();
  const auto rename = [&](unsigned flags) {
    return ::renameat2(directory, part.c_str(), directory, name_.c_str(), flags) == 0;
  };
  struct stat found {};
  if (::fstatat(directory, part.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return failure_of(errno, part);
  if (!replace_ || S_ISDIR(found.st_mode)) {
    if (rename(RENAME_NOREPLACE)) return {};
    // What is to go is under the name of the part then.
    if (errno == EEXIST && replace_ && rename(RENAME_EXCHANGE)) return {};
    if (errno == EEXIST) return exists();
    if (errno != EINVAL && errno != ENOSYS) return failure_of(errno, name_);
    // A file system that cannot: a second name is not made where there is one already, nor a directory moved there.
    if (!S_ISDIR(found.st_mode)) {
      if (::linkat(directory, part.c_str(), directory, name_.c_str(), 0) != 0) {
        return errno == EEXIST ? exists() : failure_of(errno, name_);
      }
      ::unlinkat(directory, part.c_str(), 0);
      return {};
    }
    if (::fstatat(directory, name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) {
      return replace_ ? exchange_in_steps(part) : exists();
    }
  }
  return rename(0) ? StoreFailure{} : failure_of(errno, name_);
}

StoreFailure ReceivedPlace::exchange_in_steps(const std::string& part) const {
  const int directory = directory_.get();
  const std::string former = former_name();
  const auto rename = [&](const std::string& from, const std::string& to) {
    return ::renameat(directory, from.c_str(), directory, to.c_str()) == 0;
  };
  // Whoever was killed in the middle of this has left it.
  std::error_code ignored;
  std::filesystem::remove_all(path_of(former), ignored);
  if (!rename(name_, former)) return failure_of(errno, name_);
  if (!rename(part, name_)) {
    StoreFailure failure = failure_of(errno, name_);
    rename(former, name_);
    return failure;
  }
  rename(former, part);
  return {};
}

void ReceivedPlace::sync() const { ::fsync(directory_.get()); }

bool is_file_name(std::string_view name) {
  if (!bulk::is_entry_name(name) || name.size() > 255 - kNewStateSuffix.size()) return false;
  const std::array suffixes{kPartSuffix, kListSuffix, kStateSuffix, kNewStateSuffix, kFormerSuffix};
  return std::none_of(suffixes.begin(), suffixes.end(),
                      [name](std::string_view suffix) { return name.ends_with(suffix); });
}

}  // namespace spindle
