// A content on its way into the files of a directory, which can be gone on with after a crash.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "libclient/src/bulk_store.h"
#include "libclient/src/file_io.h"
#include "libclient/src/file_tree.h"
#include "libclient/src/received_place.h"

namespace spindle {

namespace {

/// With more files to write to the disk the whole file system is.
constexpr std::size_t kFilesToSyncMax = 64;
constexpr std::size_t kCopyBytes = 1u << 20;

/// "NAME.spindle-part" is a directory with the files. "NAME.spindle-list" is locked as long as it is received: it has
/// the list of files, and, until the list is whole and right, all else that has come, at its place in the content. Then
/// files are made, and get what is theirs. A state that was saved before tells of what is in that file: it is cut to
/// the list only once a state tells of the list, and so of the files.
class ReceivedDirectory final : public BulkStore {
 public:
  explicit ReceivedDirectory(ReceivedPlace place) : place_(std::move(place)) {}

  std::optional<bulk::ResumeState> open(const bulk::ContentLayout& layout, const std::optional<bulk::BlockHash>& root,
                                        StoreFailure& failure) override {
    layout_ = layout;
    failure = place_.open(true);
    if (!failure.error) failure = place_.open_locked(place_.list_name(), early_);
    if (!failure.error) failure = open_part();
    if (failure.error) return std::nullopt;
    std::optional<bulk::ResumeState> state = place_.load_state();
    if (state && !(ReceivedPlace::may_be_of(*state, layout, root) && go_on(*state))) state.reset();
    if (!state) failure = begin_anew();
    if (!failure.error && tree_ == nullptr) failure = reserve();
    // Who finds no room leaves nothing behind that takes some.
    if (failure.error && !state) discard();
    return failure.error ? std::nullopt : std::move(state);
  }

  bool read(std::uint64_t start, std::span<std::uint8_t> to) const override {
    const std::shared_lock lock(mutex_);
    const std::size_t early = bytes_of_early(start, to.size());
    if (!read_at(early_, start, to.first(early))) return false;
    if (early == to.size()) return true;
    to = to.subspan(early);
    FileTreeOpener opener(root_, *tree_);
    for (const FileTree::Piece& piece : tree_->pieces_of(start + early, to.size())) {
      const Descriptor file = opener.open(piece.entry, O_RDONLY);
      if (!file || !read_at(file, piece.at, to.first(piece.bytes))) return false;
      to = to.subspan(piece.bytes);
    }
    return to.empty();
  }

  StoreFailure write(std::uint64_t start, ByteView bytes) override {
    const std::shared_lock lock(mutex_);
    return put(start, bytes);
  }

  StoreFailure write_block(std::uint64_t start, ByteView bytes) override {
    {
      const std::shared_lock lock(mutex_);
      const bool has_files = tree_ != nullptr;
      if (!has_files || has_same_list(start, bytes)) {
        StoreFailure failure = has_files ? put_right(start, bytes) : put(start, bytes);
        if (failure.error || has_files) return failure;
      }
    }
    const std::unique_lock lock(mutex_);
    if (tree_ != nullptr) {
      // Files were made meanwhile, before this was known to be right.
      return has_same_list(start, bytes) ? put_right(start, bytes) : change_list();
    }
    const std::uint32_t block = block_at(start);
    right_.add(block);
    StoreFailure failure = look_for_list();
    if (failure.error) right_.remove(block);
    return failure;
  }

  StoreFailure save(const bulk::ResumeState& state) override {
    const std::shared_lock lock(mutex_);
    std::set<std::uint32_t> written;
    {
      const std::lock_guard guard(written_mutex_);
      written.swap(written_);
    }
    if (::fdatasync(early_.get()) != 0) return place_.failure_of(errno, place_.list_name());
    if (StoreFailure failure = sync(written); failure.error) return failure;
    // It was made before the files were, and they may have some of what it tells of.
    if (is_early_kept_ && !bytes_of_list(state.written)) return {};
    // It was made before the directory became another one, and waited for that.
    if (!is_here(state.written)) return {};
    StoreFailure failure = place_.save_state(state);
    if (!failure.error || failure.may_pass) cut_early();
    return failure;
  }

  StoreFailure finish(std::uint64_t) override {
    const std::unique_lock lock(mutex_);
    std::string why;
    if (tree_ == nullptr) return {Errc::bad_content_name, "the content has no list of files"};
    // What was told of the first blocks may have been something else before the source has sealed it.
    const std::optional<bulk::FileList> list = read_list(tree_->list_bytes(), why);
    if (!list || !(FileTree(*list, tree_->list_bytes()) == *tree_)) {
      discard();
      return {Errc::file_failed, place_.path() + ": the list of files has changed while it was received"};
    }
    if (::syncfs(root_.get()) != 0) return place_.failure_of(errno, place_.part_name());
    if (StoreFailure failure = place_.move_here(place_.part_name()); failure.error) return failure;
    is_finished_ = true;
    place_.remove(place_.state_name());
    if (place_.replaces()) remove_part();  // what was there before
    place_.remove(place_.list_name());     // the last: whoever makes another may receive here
    place_.sync();
    return {};
  }

  void discard() override {
    if (is_finished_ || !root_) return;
    place_.remove(place_.state_name());
    remove_part();
    place_.remove(place_.list_name());
  }

  std::string path() const override { return place_.path(); }

 protected:
  void settle_state(bool stays) override { place_.settle_state(stays); }

 private:
  StoreFailure failure_of(int error, std::uint32_t entry) const {
    return place_.failure_of(error, place_.part_name() + "/" + tree_->path_of(entry));
  }

  StoreFailure open_part() {
    if (::mkdirat(place_.directory().get(), place_.part_name().c_str(), 0777) != 0 && errno != EEXIST) {
      return place_.failure_of(errno, place_.part_name());
    }
    root_ = Descriptor(::openat(place_.directory().get(), place_.part_name().c_str(),
                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return root_ ? StoreFailure{} : place_.failure_of(errno, place_.part_name());
  }

  void remove_part() const {
    std::error_code ignored;
    std::filesystem::remove_all(place_.path_of(place_.part_name()), ignored);
  }

  /// Whether what the block has of the list is what the files were made by.
  bool has_same_list(std::uint64_t start, ByteView block) const {
    if (start >= tree_->list_bytes()) return true;
    const std::vector<std::uint8_t> list = tree_->list().encode();
    const ByteView there = ByteView(list).subspan(static_cast<std::size_t>(start));
    return std::equal(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(std::min(there.size(), block.size())),
                      block.begin());
  }

  /// The directory has become another one since the files were made: nothing is at its place any more.
  StoreFailure change_list() {
    settle_state(false);
    StoreFailure failure = begin_anew();
    if (!failure.error) failure = reserve();
    if (failure.error) return failure;
    return {Errc::file_failed, place_.path() + ": the list of files has changed", false, true};
  }

  /// There are no files, or there will be others.
  void forget_written() {
    const std::lock_guard guard(written_mutex_);
    written_.clear();
  }

  StoreFailure begin_anew() {
    forget_written();
    tree_.reset();
    right_.clear();
    is_early_kept_ = false;
    place_.remove(place_.state_name());
    if (::ftruncate(early_.get(), 0) != 0) return place_.failure_of(errno, place_.list_name());
    remove_part();
    return open_part();
  }

  /// Whether what the state says is there.
  bool go_on(const bulk::ResumeState& state) {
    right_ = state.written;
    if (right_.empty()) return true;
    if (const std::optional<std::uint64_t> list_bytes = bytes_of_list(right_)) {
      std::string why;
      std::optional<bulk::FileList> list = read_list(*list_bytes, why);
      if (!list) return false;
      auto tree = std::make_unique<FileTree>(*std::move(list), *list_bytes);
      if (!has_files(*tree)) return false;
      tree_ = std::move(tree);
      is_early_kept_ = true;
      cut_early();
      return true;
    }
    const std::uint32_t last = right_.runs().back().end - 1;
    if (early_bytes() < layout_.start_of(last) + layout_.bytes_of(last)) return false;
    // Files that were made lack some of what is there, and have nothing else that the state tells of.
    remove_part();
    return !open_part().error;
  }

  bool has_files(const FileTree& tree) const {
    FileTreeOpener opener(root_, tree);
    for (std::uint32_t i = 0; i < tree.entries().size(); ++i) {
      const bulk::FileListEntry& entry = tree.entry(i);
      const int directory = opener.directory_of(i);
      struct stat found {};
      if (directory < 0 || ::fstatat(directory, entry.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return false;
      if (entry.is_directory() ? !S_ISDIR(found.st_mode) : !S_ISREG(found.st_mode)) return false;
      if (!entry.is_directory() && static_cast<std::uint64_t>(found.st_size) != entry.size) return false;
    }
    return true;
  }

  std::uint64_t early_bytes() const {
    struct stat found {};
    return ::fstat(early_.get(), &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
  }

  /// Who has no room says so at once, although nobody knows yet which files there are.
  StoreFailure reserve() {
    const auto size = static_cast<off_t>(layout_.size);
    if (size == 0) return {};
    int error = 0;
    do {
      error = ::fallocate(early_.get(), FALLOC_FL_KEEP_SIZE, 0, size) == 0 ? 0 : errno;
    } while (error == EINTR);
    if (error == EOPNOTSUPP || error == ENOSYS) {
      struct statvfs room {};
      const bool has_room = ::fstatvfs(early_.get(), &room) != 0 || layout_.size / room.f_frsize <= room.f_bavail;
      error = has_room ? 0 : ENOSPC;
    }
    return error == 0 ? StoreFailure{} : place_.failure_of(error, place_.list_name());
  }

  /// How many of these bytes are in the early file, or go there.
  std::size_t bytes_of_early(std::uint64_t start, std::size_t bytes) const {
    if (tree_ == nullptr) return bytes;
    if (start >= tree_->list_bytes()) return 0;
    return static_cast<std::size_t>(std::min<std::uint64_t>(bytes, tree_->list_bytes() - start));
  }

  /// Whether that gives room. Where there is none it is worth more than what would be fetched again after a crash.
  bool cut_early() {
    return is_early_kept_.exchange(false) && ::ftruncate(early_.get(), static_cast<off_t>(tree_->list_bytes())) == 0;
  }

  StoreFailure put(std::uint64_t start, ByteView bytes) {
    const std::size_t early = bytes_of_early(start, bytes.size());
    if (const int error = write_at(early_, start, bytes.first(early))) {
      return may_pass(place_.failure_of(error, place_.list_name()));
    }
    if (early == bytes.size()) return {};
    StoreFailure failure = put_to_files(*tree_, start + early, bytes.subspan(early));
    if (!failure.may_pass || !cut_early()) return failure;
    return put_to_files(*tree_, start + early, bytes.subspan(early));
  }

  /// A whole block, as far as is known.
  StoreFailure put_right(std::uint64_t start, ByteView bytes) {
    StoreFailure failure = put(start, bytes);
    if (failure.error) return failure;
    const std::lock_guard guard(written_mutex_);
    right_.add(block_at(start));
    return {};
  }

  std::uint32_t block_at(std::uint64_t start) const { return static_cast<std::uint32_t>(start / layout_.block_bytes); }

  bool is_here(const bulk::BlockSet& blocks) {
    const std::lock_guard guard(written_mutex_);
    return bulk::difference(blocks, right_).empty();
  }

  StoreFailure put_to_files(const FileTree& tree, std::uint64_t start, ByteView bytes) {
    FileTreeOpener opener(root_, tree);
    for (const FileTree::Piece& piece : tree.pieces_of(start, bytes.size())) {
      const Descriptor file = opener.open(piece.entry, O_WRONLY);
      const int error = file ? write_at(file, piece.at, bytes.first(piece.bytes)) : errno;
      if (error != 0) {
        return may_pass(place_.failure_of(error, place_.part_name() + "/" + tree.path_of(piece.entry)));
      }
      bytes = bytes.subspan(piece.bytes);
      const std::lock_guard guard(written_mutex_);
      written_.insert(piece.entry);
    }
    return {};
  }

  StoreFailure sync(const std::set<std::uint32_t>& written) const {
    if (written.size() > kFilesToSyncMax) {
      return ::syncfs(root_.get()) == 0 ? StoreFailure{} : place_.failure_of(errno, place_.part_name());
    }
    if (written.empty()) return {};
    FileTreeOpener opener(root_, *tree_);
    for (const std::uint32_t entry : written) {
      const Descriptor file = opener.open(entry, O_WRONLY);
      if (!file || ::fdatasync(file.get()) != 0) return failure_of(errno, entry);
    }
    return {};
  }

  /// What the list takes, where all blocks that have some of it are among those that are right.
  std::optional<std::uint64_t> bytes_of_list(const bulk::BlockSet& right) const {
    std::array<std::uint8_t, bulk::FileList::kHeadBytes> head{};
    if (!right.contains(0) || !read_at(early_, 0, head)) return std::nullopt;
    const std::optional<std::size_t> bytes = bulk::FileList::size_of(head);
    if (!bytes) return std::nullopt;
    return std::uint64_t{right.first_missing()} * layout_.block_bytes >= std::min<std::uint64_t>(*bytes, layout_.size)
               ? std::optional<std::uint64_t>(*bytes)
               : std::nullopt;
  }

  std::optional<bulk::FileList> read_list(std::uint64_t list_bytes, std::string& why) const {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(std::min(list_bytes, layout_.size)));
    why = "the list of files cannot be read";
    return read_at(early_, 0, bytes) ? bulk::FileList::decode(bytes, layout_.size, why) : std::nullopt;
  }

  /// Makes the files once the list is there.
  StoreFailure look_for_list() {
    if (!right_.contains(0)) return {};
    std::array<std::uint8_t, bulk::FileList::kHeadBytes> head{};
    if (!read_at(early_, 0, head) || !bulk::FileList::size_of(head)) {
      return {Errc::bad_content_name, place_.path() + ": the content does not begin with a list of files"};
    }
    const std::optional<std::uint64_t> list_bytes = bytes_of_list(right_);
    if (!list_bytes) return {};
    std::string why;
    std::optional<bulk::FileList> list = read_list(*list_bytes, why);
    if (!list) return {Errc::bad_content_name, place_.path() + ": " + why};
    auto tree = std::make_unique<FileTree>(*std::move(list), *list_bytes);
    const std::uint64_t early = early_bytes();
    // Gives what was reserved to the files.
    if (::ftruncate(early_.get(), static_cast<off_t>(std::max(layout_.size, early))) != 0 ||
        ::ftruncate(early_.get(), static_cast<off_t>(early)) != 0) {
      return may_pass(place_.failure_of(errno, place_.list_name()));
    }
    // There may be some from the last time, when there was no room for all.
    remove_part();
    if (StoreFailure failure = open_part(); failure.error) return may_pass(failure);
    StoreFailure failure = make_files(*tree);
    if (!failure.error) failure = hand_over(*tree, early);
    if (failure.error) {
      forget_written();
      return failure;
    }
    tree_ = std::move(tree);
    is_early_kept_ = true;
    return {};
  }

  /// None is there yet: where a file system takes two names for one, the second is not to be the file of the first.
  StoreFailure make_files(const FileTree& tree) const {
    FileTreeOpener opener(root_, tree);
    for (std::uint32_t i = 0; i < tree.entries().size(); ++i) {
      const bulk::FileListEntry& entry = tree.entry(i);
      int error = 0;
      if (entry.is_directory()) {
        const int directory = opener.directory_of(i);
        if (directory < 0 || ::mkdirat(directory, entry.name.c_str(), 0777) != 0) error = errno;
      } else {
        const bool is_executable = entry.kind == bulk::FileListEntry::Kind::executable;
        const Descriptor file = opener.open(i, O_RDWR | O_CREAT | O_EXCL, is_executable ? 0777 : 0666);
        error = !file ? errno : entry.size == 0 ? 0 : allocate(file, entry.size);
      }
      if (error != 0) {
        return may_pass(place_.failure_of(error, place_.part_name() + "/" + tree.path_of(i)));
      }
    }
    return {};
  }

  /// What has come before goes to the files. What has not come is passed over where the file system knows it.
  StoreFailure hand_over(const FileTree& tree, std::uint64_t end) {
    std::vector<std::uint8_t> bytes;
    for (std::uint64_t at = tree.list_bytes(); at < end;) {
      if (const off_t data = ::lseek(early_.get(), static_cast<off_t>(at), SEEK_DATA); data >= 0) {
        at = static_cast<std::uint64_t>(data);
      } else if (errno == ENXIO) {
        break;
      }
      bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, end - at)));
      if (!read_at(early_, at, bytes)) return place_.failure_of(EIO, place_.list_name());
      if (StoreFailure failure = put_to_files(tree, at, bytes); failure.error) return failure;
      at += bytes.size();
    }
    return {};
  }

  ReceivedPlace place_;
  bulk::ContentLayout layout_;
  Descriptor early_;
  Descriptor root_;
  bool is_finished_ = false;
  std::atomic<bool> is_early_kept_ = false;  // what has come before the list was there

  /// Whoever reads and writes shares it; whoever makes the files has it alone.
  mutable std::shared_mutex mutex_;
  std::unique_ptr<FileTree> tree_;  // null: the list is not there yet
  /// Blocks that are right, and once were, of this directory: who has it alone, or `written_mutex_` too.
  bulk::BlockSet right_;

  std::mutex written_mutex_;
  std::set<std::uint32_t> written_;  // files that were written to since the last save
};

}  // namespace

std::shared_ptr<BulkStore> make_received_directory(std::string directory, std::string name, bool replace) {
  return std::make_shared<ReceivedDirectory>(ReceivedPlace(std::move(directory), std::move(name), replace));
}

}  // namespace spindle
