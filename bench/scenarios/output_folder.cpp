#include "bench/scenarios/output_folder.h"

#include <fmt/format.h>

#include <cstdio>
#include <system_error>

namespace spindled::scenarios {

bool make_output_folder(const std::filesystem::path& folder, const char* program) {
  if (folder.empty()) return true;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && !std::filesystem::is_directory(folder, error) && !error) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (!error) return true;
  fmt::print(stderr, "{}: the folder {} for --output cannot be made: {}\n", program, folder.string(), error.message());
  return false;
}

}  // namespace spindled::scenarios
