// The list of files at the head of a content that is a directory.
//
// The content is the list, and behind it the files of the list one behind the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libclient/common/bytes.h"

namespace spindle::bulk {

/// A file or directory by the last part of its name.
struct FileListEntry {
  enum class Kind : std::uint8_t { directory = 0, file = 1, executable = 2 };

  Kind kind = Kind::file;
  /// Directories around it within the content. It is in the last directory before it in the list that has one less.
  std::uint32_t depth = 0;
  std::string name;
  std::uint64_t size = 0;  // of a file

  bool is_directory() const { return kind == Kind::directory; }
  bool operator==(const FileListEntry&) const = default;
};

/// What is directly behind a directory is in it. Entries of one directory are in rising order of their names, byte by
/// byte: a list has one form, and no two entries of one name.
struct FileList {
  static constexpr std::uint32_t kEntriesMax = 1'000'000;
  static constexpr std::uint32_t kDepthMax = 128;
  static constexpr std::size_t kBytesMax = 64u << 20;
  /// Of the list before its entries: what tells how long it is.
  static constexpr std::size_t kHeadBytes = 5;

  std::vector<FileListEntry> entries;

  /// u8 version, u32 bytes that follow; of each entry u8 kind, varint depth, the name as a short string, and of a file
  /// its size as a varint.
  std::vector<std::uint8_t> encode() const;
  /// What it takes in all, as its head says. Nothing where that is not the head of a list, or one of too many bytes.
  static std::optional<std::size_t> size_of(ByteView head);
  /// Nothing, with the reason in words, where the bytes are not exactly one list whose files fit behind it into a
  /// content of `content_bytes`, to its end.
  static std::optional<FileList> decode(ByteView bytes, std::uint64_t content_bytes, std::string& why);

  bool operator==(const FileList&) const = default;
};

/// Whether a file may have the name, which others have given to it: UTF-8 of 1 to 255 bytes, without '/' and control
/// characters, and neither "." nor "..".
bool is_entry_name(std::string_view name);

}  // namespace spindle::bulk
