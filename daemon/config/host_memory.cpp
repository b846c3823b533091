#include "daemon/config/host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

namespace spindled {

namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A number, or nothing where the file has none: "max", or is not there.
std::optional<std::size_t> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::size_t bytes = 0;
  return file >> bytes ? std::optional(bytes) : std::nullopt;
}

void keep_least(std::optional<std::size_t>& least, std::optional<std::size_t> bytes) {
  if (bytes && (!least || *bytes < *least)) least = bytes;
}

/// The least that `file` says in `folder` or a folder above it, up to `root`.
std::optional<std::size_t> least_upwards(const std::filesystem::path& root, std::string_view folder, const char* file) {
  std::optional<std::size_t> least;
  std::filesystem::path relative = std::filesystem::path(folder).relative_path();
  for (;;) {
    keep_least(least, read_bytes(root / relative / file));
    if (relative.empty()) return least;
    relative = relative.parent_path();
  }
}

}  // namespace

std::optional<std::size_t> control_group_memory(std::string_view membership, const std::filesystem::path& root) {
  // Lines of "number:controllers:folder"; in version 2 there are no controllers.
  std::optional<std::size_t> least;
  while (!membership.empty()) {
    const std::string_view line = membership.substr(0, membership.find('\n'));
    membership.remove_prefix(std::min(membership.size(), line.size() + 1));
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string controllers = ',' + std::string(line.substr(first + 1, second - first - 1)) + ',';
    const std::string_view folder = line.substr(second + 1);
    if (controllers == ",,") keep_least(least, least_upwards(root, folder, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos) {
      keep_least(least, least_upwards(root / "memory", folder, "memory.limit_in_bytes"));
    }
  }
  return least;
}

std::size_t host_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  const std::size_t physical =
      pages > 0 && page_bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes) : 0;
  const std::optional<std::size_t> group = control_group_memory(read_file("/proc/self/cgroup"), "/sys/fs/cgroup");
  if (!group || *group == 0) return physical;
  return physical == 0 ? *group : std::min(physical, *group);
}

}  // namespace spindled
