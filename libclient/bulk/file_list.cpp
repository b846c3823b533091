#include "libclient/bulk/file_list.h"

#include <algorithm>

#include "libclient/common/utf8.h"

namespace spindle::bulk {

namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kNameBytesMax = 255;

std::size_t entry_size(const FileListEntry& entry) {
  return 1 + varint_size(entry.depth) + 1 + entry.name.size() + (entry.is_directory() ? 0 : varint_size(entry.size));
}

/// Looks at one entry behind the other.
class Checker {
 public:
  /// Empty: it can follow those before it.
  std::string check(const FileListEntry& entry) {
    if (!is_entry_name(entry.name)) return "a name in the list of files cannot be one";
    if (entry.depth > FileList::kDepthMax) return "the list of files has too many directories in each other";
    // Names above it, and the one before it in the same directory, if it has one.
    if (entry.depth >= open_.size()) return "the list of files has a file in what is no directory";
    std::string& last = open_[entry.depth];
    if (!last.empty() && entry.name == last) return "the list of files has a name twice";
    if (!last.empty() && entry.name < last) return "the list of files is not in order";
    last = entry.name;
    open_.resize(entry.depth + std::size_t{1});
    if (entry.is_directory()) open_.emplace_back();
    return {};
  }

 private:
  std::vector<std::string> open_{{}};  // by depth: the last name there
};

}  // namespace

bool is_entry_name(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax || name == "." || name == ".." || !is_utf8(name)) return false;
  return std::none_of(name.begin(), name.end(), [](char each) {
    const auto byte = static_cast<unsigned char>(each);
    return byte < 0x20 || byte == 0x7f || each == '/';
  });
}

std::vector<std::uint8_t> FileList::encode() const {
  std::size_t size = kHeadBytes;
  for (const FileListEntry& entry : entries) size += entry_size(entry);
  std::vector<std::uint8_t> bytes(size);
  Writer writer(bytes.data());
  writer.u8(kVersion);
  writer.u32(static_cast<std::uint32_t>(size - kHeadBytes));
  for (const FileListEntry& entry : entries) {
    writer.u8(static_cast<std::uint8_t>(entry.kind));
    writer.varint(entry.depth);
    writer.short_string(entry.name);
    if (!entry.is_directory()) writer.varint(entry.size);
  }
  return bytes;
}

std::optional<std::size_t> FileList::size_of(ByteView head) {
  Reader reader(head);
  const std::uint8_t version = reader.u8();
  const std::size_t size = kHeadBytes + std::size_t{reader.u32()};
  if (!reader.ok() || version != kVersion || size > kBytesMax) return std::nullopt;
  return size;
}

std::optional<FileList> FileList::decode(ByteView bytes, std::uint64_t content_bytes, std::string& why) {
  constexpr const char* kMalformed = "the content does not begin with a list of files";
  why = kMalformed;
  const std::optional<std::size_t> size = size_of(bytes);
  if (!size || *size != bytes.size() || *size > content_bytes) return std::nullopt;
  Reader reader(bytes.subspan(kHeadBytes));
  FileList list;
  Checker checker;
  std::uint64_t left = content_bytes - *size;
  while (reader.remaining() > 0) {
    if (list.entries.size() == kEntriesMax) {
      why = "the list of files is too long";
      return std::nullopt;
    }
    FileListEntry entry;
    const std::uint8_t kind = reader.u8();
    const std::uint64_t depth = reader.varint();
    entry.name = reader.short_string();
    entry.kind = static_cast<FileListEntry::Kind>(kind);
    entry.depth = static_cast<std::uint32_t>(std::min<std::uint64_t>(depth, UINT32_MAX));
    if (!entry.is_directory()) entry.size = reader.varint();
    why = kMalformed;
    if (!reader.ok() || kind > static_cast<std::uint8_t>(FileListEntry::Kind::executable)) return std::nullopt;
    if (why = checker.check(entry); !why.empty()) return std::nullopt;
    why = "the files of the list are not what is in the content";
    if (entry.size > left) return std::nullopt;
    left -= entry.size;
    list.entries.push_back(std::move(entry));
  }
  if (left != 0) return std::nullopt;
  why.clear();
  return list;
}

}  // namespace spindle::bulk
