// Reading files of certificates.
#pragma once

#include <optional>
#include <string>

namespace spindle {

/// What a file of PEM says: a bundle, or lists of revoked certificates. Nothing, and the reason in `error`, where it
/// cannot be read, or is larger than such a file can be (16 MiB).
std::optional<std::string> read_certificate_file(const std::string& path, std::string& error);

}  // namespace spindle
