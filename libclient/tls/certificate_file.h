// Reading files of certificates.
#pragma once

#include <optional>
#include <string>

namespace spindle {

/// What a file of PEM says: a bundle, or lists of revoked certificates. Nothing, and the reason in `error`, where it
/// cannot be read, or is larger than such a file can be (16 MiB).
std::optional<std::string> read_certificate_file(const std::string& path, std::string& error);

/// The same of lists of revoked certificates, with the path in `error`; empty where `path` is. A file without a byte is
/// none, as a copy leaves it that found no room: without lists nobody would be revoked.
std::optional<std::string> read_revocation_lists(const std::string& path, std::string& error);

/// Where to look for what is wrong with a bundle and lists that have been read; `lists` may be empty.
inline std::string certificate_paths(const std::string& bundle, const std::string& lists) {
  return lists.empty() ? bundle : bundle + ", with the revocation lists of " + lists;
}

}  // namespace spindle
