#include "tools/spmonitor/pki/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace spmonitor::pki {

namespace {

constexpr std::size_t kFileBytesMax = 1'000'000;

/// rename(2), which fails with EEXIST where it would replace a file that is to be kept.
int move_file(const std::string& from, const std::string& to, Existing existing) {
  if (existing == Existing::replace) return ::rename(from.c_str(), to.c_str());
  const int outcome = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
  if (outcome == 0 || errno != EINVAL) return outcome;
  // A file system that cannot, such as NFS: it has links, which never replace anything.
  return ::link(from.c_str(), to.c_str()) == 0 ? ::unlink(from.c_str()) : -1;
}

/// So that the name, too, is on the disk. Not all file systems can, and the file itself is there already.
void sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const FileHandle opened(std::fopen(folder.c_str(), "re"));
  if (opened) ::fsync(::fileno(opened.get()));
}

}  // namespace

std::optional<std::string> read_rest(std::FILE& file, std::size_t bytes_max) {
  std::string text;
  std::array<char, 4096> part;
  while (text.size() < bytes_max) {
    const std::size_t count = std::fread(part.data(), 1, std::min(part.size(), bytes_max - text.size()), &file);
    if (count == 0) break;
    text.append(part.data(), count);
  }
  if (std::ferror(&file) != 0) return std::nullopt;
  return text;
}

bool write_to_disk(std::FILE& file, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), &file) == text.size() && std::fflush(&file) == 0 &&
         ::fsync(::fileno(&file)) == 0;
}

Failure failure_of(const std::string& path, std::string_view what) {
  return fmt::format("{}: {}: {}", path, what, std::generic_category().message(errno));
}

Result<std::string> read_file(const std::string& path) {
  const FileHandle file(std::fopen(path.c_str(), "re"));
  if (!file) return fail(failure_of(path, "cannot be opened"));
  std::optional<std::string> text = read_rest(*file, kFileBytesMax + 1);
  if (!text) return fail(failure_of(path, "cannot be read"));
  if (text->size() > kFileBytesMax) return fail(path + ": is too large to be a file of certificates");
  return *std::move(text);
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

Result<void> write_file(const std::string& path, std::string_view text, Access access, Existing existing) {
  std::string temporary = path + ".XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);  // for its owner only
  const FileHandle file(descriptor < 0 ? nullptr : ::fdopen(descriptor, "w"));
  if (!file) return fail(failure_of(path, "cannot be written"));
  // A file system without access rights keeps its own.
  if (access != Access::secret) static_cast<void>(::fchmod(descriptor, static_cast<mode_t>(access)));
  if (write_to_disk(*file, text) && move_file(temporary, path, existing) == 0) {
    sync_folder_of(path);
    return {};
  }
  Failure failure = errno == EEXIST ? path + ": is there already, and stays as it is; give another --output"
                                    : failure_of(path, "cannot be written");
  ::unlink(temporary.c_str());
  return fail(std::move(failure));
}

}  // namespace spmonitor::pki
