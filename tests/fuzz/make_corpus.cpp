// Writes the seeds of the fuzz corpora: small, named after what they hold, made by the product's own encoders.
//
//   make_corpus <folder>           writes <folder>/<subject>/<seed> for every seed
//   make_corpus --check <folder>   fails where a seed is missing or differs from what the encoders give today
//
// Inputs that a fuzzer found and that are worth keeping lie beside the seeds; neither form touches them.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/seeds.h"

namespace {

namespace fs = std::filesystem;
using spindle_fuzz::Seed;

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

bool write_seed(const fs::path& path, const Seed& seed) {
  fs::create_directories(path.parent_path());
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << seed.bytes;
  stream.close();
  if (stream.fail()) std::fprintf(stderr, "cannot write %s\n", path.c_str());
  return !stream.fail();
}

bool check_seed(const fs::path& path, const Seed& seed) {
  if (fs::exists(path) && read_file(path) == seed.bytes) return true;
  std::fprintf(stderr, "%s is missing or not what the encoders give: run make_corpus\n", path.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  const bool check = !arguments.empty() && arguments[0] == "--check";
  // Nothing that looks like an option names a folder: a mistyped one would be written to.
  if (arguments.size() != (check ? 2 : 1) || arguments.back().starts_with('-')) {
    const bool help = arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h");
    std::fprintf(help ? stdout : stderr, "usage: make_corpus [--check] <folder>\n");
    return help ? 0 : 2;
  }
  const fs::path folder = arguments.back();
  bool good = true;
  for (const Seed& seed : spindle_fuzz::all_seeds()) {
    const fs::path path = folder / seed.subject / seed.name;
    good &= check ? check_seed(path, seed) : write_seed(path, seed);
  }
  return good ? 0 : 1;
}
