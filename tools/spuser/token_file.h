// The file that holds the token of a client.
#pragma once

#include <string>

namespace spuser {

/// The first line of the file. Throws Exit where it cannot be read or holds no token; what it holds is never told.
std::string read_token_file(const std::string& path);

}  // namespace spuser
