// The files of a directory that is one content, by their list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libclient/bulk/file_list.h"
#include "libclient/src/socket.h"

namespace spindle {

/// Which bytes of the content are in which file. Does not change: any threads may use it at once.
class FileTree {
 public:
  /// `list_bytes`: what the list takes at the head of the content.
  FileTree(bulk::FileList list, std::uint64_t list_bytes);

  /// Bytes of one file.
  struct Piece {
    std::uint32_t entry = 0;
    std::uint64_t at = 0;  // in the file
    std::size_t bytes = 0;
  };
  /// Of so many bytes of the content from `start` on, which are behind the list: in the order in which they are there.
  std::vector<Piece> pieces_of(std::uint64_t start, std::size_t bytes) const;

  std::uint64_t list_bytes() const { return list_bytes_; }
  const bulk::FileList& list() const { return list_; }
  const std::vector<bulk::FileListEntry>& entries() const { return list_.entries; }
  const bulk::FileListEntry& entry(std::uint32_t number) const { return list_.entries[number]; }
  /// The directory that the entry is in; nothing: that of the content.
  std::optional<std::uint32_t> parent(std::uint32_t number) const;
  /// From the directory of the content on.
  std::string path_of(std::uint32_t number) const;
  bool operator==(const FileTree& other) const { return list_ == other.list_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  bulk::FileList list_;
  std::uint64_t list_bytes_;
  std::vector<std::uint32_t> parents_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> starts_;  // in the content, of the files that are not empty
};

/// Opens files below a directory. No symbolic link is followed on the way. For one thread; the last directory stays
/// open, as neighbours in the list are often in the same.
class FileTreeOpener {
 public:
  FileTreeOpener(const Descriptor& root, const FileTree& tree) : root_(root), tree_(tree) {}

  /// Closed, with errno, where it cannot be opened.
  Descriptor open(std::uint32_t entry, int flags, unsigned mode = 0);
  /// Of the directory that the entry is in; -1, with errno, where it cannot be opened.
  int directory_of(std::uint32_t entry);

 private:
  const Descriptor& root_;
  const FileTree& tree_;
  std::optional<std::uint32_t> open_;  // nothing: the root
  Descriptor directory_;
};

}  // namespace spindle
