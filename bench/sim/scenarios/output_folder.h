// The folder of --output.
#pragma once

#include <filesystem>

namespace spindled::scenarios {

/// Makes the folder before anything runs, so that no run is for nothing; an empty name stands for no folder. False,
/// with a message of `program` on standard error, where it cannot be made.
bool make_output_folder(const std::filesystem::path& folder, const char* program);

}  // namespace spindled::scenarios
