// The list of files at the head of a directory as content. The input is how many bytes of files there are (u32), and
// the list.
#include "libclient/bulk/file_list.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spindle::bulk;
  spindle_fuzz::Input input(data, size);
  std::uint64_t files = input.u16();
  files |= std::uint64_t{input.u16()} << 16;
  const spindle::ByteView bytes = input.rest();
  std::string why;
  const auto list = FileList::decode(bytes, bytes.size() + files, why);
  SPINDLE_CHECK(list.has_value() == why.empty());
  if (!list) return 0;
  std::uint64_t sum = 0;
  for (const FileListEntry& entry : list->entries) {
    SPINDLE_CHECK(is_entry_name(entry.name));
    sum += entry.size;
  }
  SPINDLE_CHECK(sum == files);
  const std::vector<std::uint8_t> written = list->encode();
  SPINDLE_CHECK(FileList::size_of(written) == written.size());
  SPINDLE_CHECK(FileList::decode(written, written.size() + files, why) == *list);
  return 0;
}
