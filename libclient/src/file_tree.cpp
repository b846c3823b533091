#include "libclient/src/file_tree.h"

#include <fcntl.h>

#include <algorithm>

namespace spindle {

FileTree::FileTree(bulk::FileList list, std::uint64_t list_bytes) : list_(std::move(list)), list_bytes_(list_bytes) {
  std::vector<std::uint32_t> open;  // directories around the entry
  std::uint64_t start = list_bytes;
  parents_.reserve(list_.entries.size());
  for (std::uint32_t i = 0; i < list_.entries.size(); ++i) {
    const bulk::FileListEntry& entry = list_.entries[i];
    open.resize(entry.depth);
    parents_.push_back(open.empty() ? kNone : open.back());
    if (entry.is_directory()) open.push_back(i);
    if (entry.size > 0) starts_.emplace_back(start, i);
    start += entry.size;
  }
}

std::optional<std::uint32_t> FileTree::parent(std::uint32_t number) const {
  return parents_[number] == kNone ? std::nullopt : std::optional(parents_[number]);
}

std::string FileTree::path_of(std::uint32_t number) const {
  std::string path = entry(number).name;
  for (auto above = parent(number); above; above = parent(*above)) path = entry(*above).name + "/" + path;
  return path;
}

std::vector<FileTree::Piece> FileTree::pieces_of(std::uint64_t start, std::size_t bytes) const {
  std::vector<Piece> pieces;
  auto at = std::upper_bound(starts_.begin(), starts_.end(), std::pair(start, UINT32_MAX));
  if (at == starts_.begin()) return pieces;
  for (--at; bytes > 0 && at != starts_.end(); ++at) {
    const std::uint64_t from = start - at->first;
    const std::uint64_t size = entry(at->second).size;
    if (from >= size) break;  // beyond the content
    const std::size_t part = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, size - from));
    pieces.push_back({at->second, from, part});
    start += part;
    bytes -= part;
  }
  return pieces;
}

int FileTreeOpener::directory_of(std::uint32_t entry) {
  const std::optional<std::uint32_t> wanted = tree_.parent(entry);
  if (!wanted) return root_.get();
  if (directory_ && open_ == wanted) return directory_.get();
  std::vector<std::uint32_t> way;
  for (auto above = wanted; above; above = tree_.parent(*above)) way.push_back(*above);
  Descriptor directory;
  for (auto each = way.rbegin(); each != way.rend(); ++each) {
    const int from = directory ? directory.get() : root_.get();
    directory =
        Descriptor(::openat(from, tree_.entry(*each).name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory) return -1;
  }
  directory_ = std::move(directory);
  open_ = wanted;
  return directory_.get();
}

Descriptor FileTreeOpener::open(std::uint32_t entry, int flags, unsigned mode) {
  const int directory = directory_of(entry);
  if (directory < 0) return {};
  return Descriptor(
      ::openat(directory, tree_.entry(entry).name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode));
}

}  // namespace spindle
