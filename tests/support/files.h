// Files that a test makes and looks at.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace spindle::test {

/// An empty directory that goes away with its contents.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    char name[] = "/tmp/spindle-test-XXXXXX";
    if (::mkdtemp(name) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp");
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path(std::string_view file) const { return path_ + "/" + std::string(file); }

 private:
  std::string path_;
};

inline void write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text << std::flush)) throw std::system_error(errno, std::generic_category(), path);
}

/// Empty where there is no such file.
inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace spindle::test
