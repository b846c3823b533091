// Writes what the fuzz targets start from: small inputs, named after what they hold, made by the product's encoders.
//
//   make_seeds <folder>   writes <folder>/<subject>/<seed> for every seed; nothing else is left in <folder>/<subject>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/seeds.h"

namespace {

namespace fs = std::filesystem;
using spindle_fuzz::Seed;

bool write_seed(const fs::path& path, const Seed& seed) {
  fs::create_directories(path.parent_path());
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << seed.bytes;
  stream.close();
  if (stream.fail()) std::fprintf(stderr, "cannot write %s\n", path.c_str());
  return !stream.fail();
}

bool write_seeds(const fs::path& folder) {
  const spindle_fuzz::Seeds seeds = spindle_fuzz::all_seeds();
  for (const Seed& seed : seeds) fs::remove_all(folder / seed.subject);
  bool good = true;
  for (const Seed& seed : seeds) good &= write_seed(folder / seed.subject / seed.name, seed);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc == 2 ? argv[1] : "--";
  // Nothing that looks like an option names a folder: a mistyped one would be written to.
  if (folder.empty() || folder.starts_with('-')) {
    const bool help = folder == "--help" || folder == "-h";
    std::fprintf(help ? stdout : stderr, "usage: make_seeds <folder>\n");
    return help ? 0 : 2;
  }
  try {
    return write_seeds(folder) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_seeds: %s\n", error.what());
    return 1;
  }
}
