// A directory as a content: the list of its files, and what is in them.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libclient/src/bulk_store.h"
#include "libclient/src/file_io.h"
#include "libclient/src/file_tree.h"

namespace spindle {

namespace {

/// Files are opened when they are read: there may be more of them than descriptors. One that is not what it was when
/// the content was offered cannot be read.
class SourceDirectory final : public BulkStore {
 public:
  SourceDirectory(Descriptor root, bulk::FileList list, std::vector<timespec> changed, std::vector<std::uint8_t> head)
      : root_(std::move(root)),
        tree_(std::move(list), head.size()),
        changed_(std::move(changed)),
        head_(std::move(head)) {}

  bool read(std::uint64_t start, std::span<std::uint8_t> to) const override {
    if (start < head_.size()) {
      const std::size_t bytes = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), head_.size() - start));
      std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(start), bytes, to.begin());
      to = to.subspan(bytes);
      start += bytes;
    }
    FileTreeOpener opener(root_, tree_);
    for (const FileTree::Piece& piece : tree_.pieces_of(start, to.size())) {
      const Descriptor file = opener.open(piece.entry, O_RDONLY);
      if (!file || !read_at(file, piece.at, to.first(piece.bytes)) || !is_same(file, piece.entry)) return false;
      to = to.subspan(piece.bytes);
    }
    return to.empty();
  }
  std::optional<SourceStamp> stamp() const override {
    StampMaker maker;
    maker.add(head_);
    FileTreeOpener opener(root_, tree_);
    for (std::uint32_t entry = 0; entry < tree_.entries().size(); ++entry) {
      if (tree_.entry(entry).kind == bulk::FileListEntry::Kind::directory) continue;
      const int directory = opener.directory_of(entry);
      struct stat found {};
      const char* const name = tree_.entry(entry).name.c_str();
      if (directory < 0 || ::fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
      if (!is_same(found, entry)) return std::nullopt;
      maker.add(found);
    }
    return maker.make();
  }

 private:
  bool is_same(const Descriptor& file, std::uint32_t entry) const {
    struct stat found {};
    return ::fstat(file.get(), &found) == 0 && is_same(found, entry);
  }
  bool is_same(const struct stat& found, std::uint32_t entry) const {
    return S_ISREG(found.st_mode) && static_cast<std::uint64_t>(found.st_size) == tree_.entry(entry).size &&
           is_same_time(found.st_mtim, changed_[entry]);
  }

  const Descriptor root_;
  const FileTree tree_;
  const std::vector<timespec> changed_;  // of each entry: when it was written to last
  const std::vector<std::uint8_t> head_;
};

/// Makes the list.
class Walk {
 public:
  Walk(std::string path, std::vector<std::string>* left_out) : path_(std::move(path)), left_out_(left_out) {}

  StoreFailure go(const Descriptor& root) { return go(::dup(root.get()), {}, 0); }
  bulk::FileList& list() { return list_; }
  std::vector<timespec>& changed() { return changed_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  static StoreFailure failed(const std::string& path) {
    return {Errc::file_failed, path + ": " + std::strerror(errno)};
  }

  static bool read_names(DIR* directory, std::vector<std::string>& names) {
    for (errno = 0; const dirent* each = ::readdir(directory);) {
      if (std::strcmp(each->d_name, ".") != 0 && std::strcmp(each->d_name, "..") != 0) names.emplace_back(each->d_name);
    }
    std::sort(names.begin(), names.end());
    return errno == 0;
  }

  /// Takes the descriptor.
  StoreFailure go(int number, const std::string& inside, std::uint32_t depth) {
    const std::string here = inside.empty() ? path_ : path_ + "/" + inside;
    if (depth > bulk::FileList::kDepthMax) return {Errc::limit_exceeded, here + " is too deep"};
    DIR* directory = number < 0 ? nullptr : ::fdopendir(number);
    if (directory == nullptr) {
      StoreFailure failure = failed(here);
      if (number >= 0) ::close(number);
      return failure;
    }
    std::vector<std::string> names;
    StoreFailure failure = read_names(directory, names) ? StoreFailure{} : failed(here);
    for (std::size_t i = 0; i < names.size() && !failure.error; ++i) {
      failure = add(number, inside.empty() ? names[i] : inside + "/" + names[i], names[i], depth);
    }
    ::closedir(directory);
    return failure;
  }

  StoreFailure add(int directory, const std::string& inside, const std::string& name, std::uint32_t depth) {
    const std::string path = path_ + "/" + inside;
    struct stat found {};
    if (::fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return failed(path);
    if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) return leave_out(inside, found.st_mode);
    if (!bulk::is_entry_name(name)) {
      return {Errc::bad_content_name, path + ": a name that is sent is UTF-8 without control characters"};
    }
    if (list_.entries.size() == bulk::FileList::kEntriesMax) {
      return {Errc::limit_exceeded, path_ + " has more than 1,000,000 files"};
    }
    using Kind = bulk::FileListEntry::Kind;
    changed_.push_back(found.st_mtim);
    if (S_ISDIR(found.st_mode)) {
      list_.entries.push_back({Kind::directory, depth, name, 0});
      return go(::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), inside, depth + 1);
    }
    if (::faccessat(directory, name.c_str(), R_OK, AT_EACCESS) != 0) return failed(path);
    const bool is_executable = (found.st_mode & S_IXUSR) != 0;
    const auto size = static_cast<std::uint64_t>(found.st_size);
    list_.entries.push_back({is_executable ? Kind::executable : Kind::file, depth, name, size});
    bytes_ += size;
    return {};
  }

  StoreFailure leave_out(const std::string& inside, mode_t mode) {
    if (left_out_ != nullptr) {
      left_out_->push_back(inside);
      return {};
    }
    return {Errc::file_failed,
            path_ + "/" + inside + (S_ISLNK(mode) ? " is a symbolic link" : " is neither a file nor a directory")};
  }

  const std::string path_;
  std::vector<std::string>* left_out_;
  bulk::FileList list_;
  std::vector<timespec> changed_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::shared_ptr<BulkStore> open_source_directory(const std::string& path, std::vector<std::string>* left_out,
                                                 std::uint64_t& size, StoreFailure& failure) {
  Descriptor root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) {
    failure = {Errc::file_failed, path + ": " + std::strerror(errno)};
    return nullptr;
  }
  Walk walk(path, left_out);
  failure = walk.go(root);
  if (failure.error) return nullptr;
  std::vector<std::uint8_t> head = walk.list().encode();
  if (head.size() > bulk::FileList::kBytesMax) {
    failure = {Errc::limit_exceeded, path + " has too many files"};
    return nullptr;
  }
  size = head.size() + walk.bytes();
  return std::make_shared<SourceDirectory>(std::move(root), std::move(walk.list()), std::move(walk.changed()),
                                           std::move(head));
}

}  // namespace spindle
