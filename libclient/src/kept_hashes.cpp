#include "libclient/src/kept_hashes.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "libclient/bulk/resume_state.h"
#include "libclient/src/file_io.h"

namespace spindle {

namespace {

constexpr std::string_view kMark = "spindle hashes 1\n";
constexpr std::string_view kSuffix = ".hashes";
constexpr std::string_view kAside = ".aside-";
constexpr time_t kAsideSeconds = 3600;  // one that is older was left by a program that has ended
/// What a content of the most blocks takes, and room for what is around that.
constexpr std::size_t kFileBytesMax = (std::size_t{bulk::kBlocksMax} * bulk::kBlockHashBytes) + (64u << 10);

std::string hex(ByteView bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

/// Whether the directory is there, or could be made, with those that it is in.
bool make_directory(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return false;
    if (at == std::string::npos) return true;
  }
}

Descriptor open_own(const std::string& path, struct stat& found) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  const bool is_good = file && ::fstat(file.get(), &found) == 0 && S_ISREG(found.st_mode) &&
                       found.st_uid == ::geteuid() && static_cast<std::uint64_t>(found.st_size) <= kFileBytesMax;
  return is_good ? std::move(file) : Descriptor();
}

/// Whole, and on the disk. Nothing is left of one that could not be written.
bool write_file(const std::string& directory, const std::string& path, ByteView bytes) {
  std::string aside = directory + "/" + std::string(kAside) + "XXXXXX";
  const Descriptor file(::mkostemp(aside.data(), O_CLOEXEC));
  if (!file) return false;
  const bool is_written = write_at(file, 0, bytes) == 0 && ::fdatasync(file.get()) == 0;
  if (is_written && ::rename(aside.c_str(), path.c_str()) == 0) return true;
  ::unlink(aside.c_str());
  return false;
}

}  // namespace

std::string users_hash_directory() {
  const auto absolute = [](const char* name) -> std::string_view {
    const char* const value = ::secure_getenv(name);
    return value != nullptr && value[0] == '/' ? value : std::string_view();
  };
  std::string cache(absolute("XDG_CACHE_HOME"));
  if (cache.empty() && !absolute("HOME").empty()) cache = std::string(absolute("HOME")) + "/.cache";
  return cache.empty() ? cache : cache + "/spindle/hashes";
}

std::shared_ptr<KeptHashes> KeptHashes::of(const BulkStore& store, const bulk::ContentLayout& layout,
                                           const std::string& directory, const timespec& began) {
  if (directory.empty() || !layout.has_size() || layout.blocks() < kBlocksLeast) return nullptr;
  const std::optional<SourceStamp> stamp = store.stamp();
  const timespec settled{began.tv_sec - kSettledSeconds, began.tv_nsec};
  const bool is_settled = stamp && (stamp->newest.tv_sec < settled.tv_sec || (stamp->newest.tv_sec == settled.tv_sec &&
                                                                              stamp->newest.tv_nsec < settled.tv_nsec));
  return is_settled ? std::shared_ptr<KeptHashes>(new KeptHashes(*stamp, layout, directory)) : nullptr;
}

KeptHashes::KeptHashes(SourceStamp stamp, const bulk::ContentLayout& layout, std::string directory)
    : stamp_(stamp),
      layout_(layout),
      directory_(std::move(directory)),
      path_(directory_ + "/" + hex(stamp_.key) + std::string(kSuffix)) {}

std::optional<bulk::BlockIndex> KeptHashes::load() const {
  struct stat found {};
  const Descriptor file = open_own(path_, found);
  const std::size_t head = kMark.size() + stamp_.key.size();
  if (!file || static_cast<std::size_t>(found.st_size) < head) return std::nullopt;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(found.st_size));
  if (!read_at(file, 0, bytes)) return std::nullopt;
  const bool is_of_it = std::equal(kMark.begin(), kMark.end(), bytes.begin()) &&
                        std::equal(stamp_.key.begin(), stamp_.key.end(), bytes.begin() + kMark.size());
  std::optional<bulk::ResumeState> state;
  if (is_of_it) state = bulk::ResumeState::decode(ByteView(bytes).subspan(head));
  if (!state || state->layout != layout_) return std::nullopt;
  ::futimens(file.get(), nullptr);  // it was used now
  return std::move(state->index);
}

bool KeptHashes::save(const BulkStore& store, const bulk::BlockIndex& index) const {
  if (store.stamp() != stamp_ || index.known().empty() || !make_directory(directory_)) return false;
  bulk::ResumeState state;
  state.layout = layout_;
  state.written = index.known();
  state.index = index;
  const std::vector<std::uint8_t> hashes = state.encode();
  std::vector<std::uint8_t> bytes(kMark.begin(), kMark.end());
  bytes.insert(bytes.end(), stamp_.key.begin(), stamp_.key.end());
  bytes.insert(bytes.end(), hashes.begin(), hashes.end());
  if (!write_file(directory_, path_, bytes)) return false;
  trim();
  return true;
}

void KeptHashes::forget() const { ::unlink(path_.c_str()); }

void KeptHashes::trim() const {
  struct Kept {
    timespec used{};
    std::size_t bytes = 0;
    std::string name;
  };
  DIR* const directory = ::opendir(directory_.c_str());
  if (directory == nullptr) return;
  std::vector<Kept> all;
  std::size_t bytes = 0;
  const time_t now = ::time(nullptr);
  while (const dirent* each = ::readdir(directory)) {
    const std::string_view name = each->d_name;
    const bool is_aside = name.substr(0, kAside.size()) == kAside;
    const bool is_kept =
        name.size() == 2 * stamp_.key.size() + kSuffix.size() && name.substr(2 * stamp_.key.size()) == kSuffix;
    struct stat found {};
    if (!is_aside && !is_kept) continue;
    if (::fstatat(::dirfd(directory), each->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (is_aside && now - found.st_mtim.tv_sec > kAsideSeconds) ::unlinkat(::dirfd(directory), each->d_name, 0);
    if (is_aside) continue;
    all.push_back({found.st_mtim, static_cast<std::size_t>(found.st_size), std::string(name)});
    bytes += all.back().bytes;
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  std::size_t files = all.size();
  for (const Kept& each : all) {
    if (files <= kFilesMax && bytes <= kBytesMax) break;
    ::unlinkat(::dirfd(directory), each.name.c_str(), 0);
    --files;
    bytes -= each.bytes;
  }
  ::closedir(directory);
}

}  // namespace spindle
