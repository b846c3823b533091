// Sends messages of one size along one path, for callgrind to count: `tools/bench check` starts it.
#include <fmt/format.h>
#include <gnu/libc-version.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "bench/micro/instructions/paths.h"

namespace spindled::bench {
namespace {

#ifdef __clang__
constexpr std::string_view kCompiler = "Clang " __clang_version__;
#else
constexpr std::string_view kCompiler = "GCC " __VERSION__;
#endif

/// What the paths are, and what counts depend on besides the code, as JSON.
std::string about() {
  std::string names;
  for (const Path& path : paths()) {
    names += fmt::format(R"({}{{"name": "{}", "what": "{}"}})", names.empty() ? "" : ", ", path.name, path.what);
  }
  return fmt::format(
      R"({{"built": {{"compiler": "{}", "build_type": "{}", "flags": "{}", "c_library": "glibc {}"}}, "paths": [{}]}})",
      kCompiler, SPINDLE_BUILD_TYPE, SPINDLE_BUILD_FLAGS, ::gnu_get_libc_version(), names);
}

int run(std::string_view name, std::size_t bytes, std::size_t messages) {
  for (const Path& path : paths()) {
    if (path.name != name) continue;
    Meter meter;
    fmt::print("{}\n", path.run(meter, bytes, messages));
    return 0;
  }
  fmt::print(stderr, "instruction_paths: there is no path {}\n", name);
  return 2;
}

}  // namespace
}  // namespace spindled::bench

int main(int argc, char** argv) {
  CLI::App app("Sends messages of one size along one path, for callgrind to count; prints how many");
  std::string path;
  std::size_t bytes = 100, messages = 4096;
  bool wants_about = false;
  app.add_flag("--about", wants_about, "Print the paths, and how this program was built, as JSON");
  app.add_option("--path", path, "Name of the path");
  app.add_option("--bytes", bytes, "Bytes of a message")->capture_default_str();
  app.add_option("--messages", messages, "Messages that are counted, at least")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (wants_about) {
    fmt::print("{}\n", spindled::bench::about());
    return 0;
  }
  return spindled::bench::run(path, bytes, messages);
}
