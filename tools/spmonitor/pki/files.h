// Files of keys, certificates and lists: read whole, and written so that there is all of one or nothing of it.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tools/spmonitor/result.h"

namespace spmonitor::pki {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, CloseFile>;

/// From where the file is read to its end, or to `bytes_max`. Nothing, and errno set, where that fails.
std::optional<std::string> read_rest(std::FILE& file, std::size_t bytes_max);
/// Writes and sees to it that it is on the disk. False, and errno set, where that fails.
bool write_to_disk(std::FILE& file, std::string_view text);

enum class Access : mode_t { secret = 0600, open = 0644 };
enum class Existing { keep, replace };

/// A file of a megabyte at most; no other than ours comes near it.
Result<std::string> read_file(const std::string& path);
bool exists(const std::string& path);

/// Writes a file beside it, which takes its place once it is on the disk. With Existing::keep a file that is there is
/// an error and stays as it is, also where it appears meanwhile.
Result<void> write_file(const std::string& path, std::string_view text, Access access, Existing existing);

/// "PATH: WHAT: the sentence for errno".
Failure failure_of(const std::string& path, std::string_view what);

}  // namespace spmonitor::pki
