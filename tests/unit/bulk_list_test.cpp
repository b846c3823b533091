// The list of files of a directory that is one content.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libclient/bulk/file_list.h"

namespace spindle::bulk {
namespace {

using testing::HasSubstr;
using Kind = FileListEntry::Kind;

/// Why a receiver does not take the list; empty: it does.
std::string refusal(const FileList& list) {
  const std::vector<std::uint8_t> bytes = list.encode();
  std::uint64_t files = 0;
  for (const FileListEntry& entry : list.entries) files += entry.size;
  std::string why;
  const auto read = FileList::decode(bytes, bytes.size() + files, why);
  EXPECT_EQ(read.has_value(), why.empty());
  if (read) {
    EXPECT_EQ(*read, list);
  }
  return why;
}

FileList tree() {
  return {{{Kind::directory, 0, "a", 0},
           {Kind::directory, 1, "b", 0},
           {Kind::file, 2, "c", 3},
           {Kind::executable, 1, "run", 4},
           {Kind::file, 0, "a.txt", 0},
           {Kind::directory, 0, "empty", 0},
           {Kind::file, 0, "z", 1'000'000'000'000}}};
}

TEST(FileList, IsReadAsItWasWritten) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal(tree()), "");
}

TEST(FileList, LeadsNowhereElse) {
  for (const char* name : {"", ".", "..", "/", "/etc", "a/b", "a\nb", "\x7f", "\xff", "\xc0\xaf", "\xed\xa0\x80"}) {
    EXPECT_THAT(refusal({{{Kind::file, 0, name, 1}}}), HasSubstr("name")) << name;
  }
  EXPECT_EQ(refusal({{{Kind::file, 0, std::string(255, 'a'), 1}}}), "");
}

TEST(FileList, HasNoNameTwiceAndNoFileThatIsADirectory) {
  EXPECT_THAT(refusal({{{Kind::file, 0, "a", 1}, {Kind::file, 0, "a", 1}}}), HasSubstr("twice"));
  EXPECT_THAT(refusal({{{Kind::directory, 0, "a", 0}, {Kind::file, 1, "b", 1}, {Kind::file, 0, "a", 1}}}),
              HasSubstr("twice"));
  EXPECT_THAT(refusal({{{Kind::file, 0, "b", 1}, {Kind::file, 0, "a", 1}}}), HasSubstr("order"));
  EXPECT_THAT(refusal({{{Kind::file, 0, "a", 1}, {Kind::file, 1, "b", 1}}}), HasSubstr("no directory"));
  EXPECT_THAT(refusal({{{Kind::directory, 0, "a", 0}, {Kind::file, 2, "b", 1}}}), HasSubstr("no directory"));
  EXPECT_THAT(refusal({{{Kind::file, 1, "b", 1}}}), HasSubstr("no directory"));
}

TEST(FileList, HasABoundOfDepth) {
  FileList list;
  for (std::uint32_t depth = 0; depth <= FileList::kDepthMax; ++depth) {
    list.entries.push_back({Kind::directory, depth, "d", 0});
  }
  EXPECT_EQ(refusal(list), "");
  list.entries.push_back({Kind::directory, FileList::kDepthMax + 1, "d", 0});
  EXPECT_THAT(refusal(list), HasSubstr("too many directories"));
}

TEST(FileList, SaysWhatIsInTheContent) {
  const std::vector<std::uint8_t> bytes =
      FileList{{{Kind::file, 0, "a", 10}, {Kind::file, 0, "b", UINT64_MAX}}}.encode();
  std::string why;
  EXPECT_FALSE(FileList::decode(bytes, bytes.size() + 9, why));
  EXPECT_THAT(why, HasSubstr("not what is in the content"));
  // Sizes whose sum is beyond what a number holds.
  EXPECT_FALSE(FileList::decode(bytes, bytes.size() + 9, why));
  const std::vector<std::uint8_t> one = FileList{{{Kind::file, 0, "a", 10}}}.encode();
  for (const std::uint64_t files : {9u, 11u}) EXPECT_FALSE(FileList::decode(one, one.size() + files, why)) << files;
  EXPECT_TRUE(FileList::decode(one, one.size() + 10, why)) << why;
}

TEST(FileList, IsNothingElse) {
  const std::vector<std::uint8_t> good = tree().encode();
  std::string why;
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_FALSE(FileList::decode(ByteView(good).first(bytes), UINT64_MAX, why)) << bytes;
  }
  std::vector<std::uint8_t> other_version = good;
  other_version[0] = 2;
  EXPECT_FALSE(FileList::size_of(other_version));
  const std::vector<std::uint8_t> too_long{1, 0, 0, 0, 4};  // 64 MiB, and its head
  EXPECT_FALSE(FileList::size_of(too_long));
  std::vector<std::uint8_t> other_kind = good;
  other_kind[FileList::kHeadBytes] = 3;
  EXPECT_FALSE(FileList::decode(other_kind, other_kind.size() + 1'000'000'000'007, why));
}

}  // namespace
}  // namespace spindle::bulk
