#include "bench/sim/scenarios/output_folder.h"

#include <fmt/format.h>

#include <cstdio>
#include <system_error>

namespace spindled::scenarios {

bool make_output_folder(const std::filesystem::path& folder, const char* program) {
  if (folder.empty()) return true;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::error_code unseen;
  if (std::filesystem::is_directory(folder, unseen)) return true;
  if (!error) error = std::make_error_code(std::errc::not_a_directory);
  fmt::print(stderr, "{}: the folder {} for --output cannot be made: {}\n", program, folder.string(), error.message());
  return false;
}

}  // namespace spindled::scenarios
