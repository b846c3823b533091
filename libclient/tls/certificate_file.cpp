#include "libclient/tls/certificate_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace spindle {

namespace {

constexpr std::size_t kBytesMax = 16u << 20;

}  // namespace

std::optional<std::string> read_certificate_file(const std::string& path, std::string& error) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::string text;
  for (char piece[4096]; stream.read(piece, sizeof piece), stream.gcount() > 0 && text.size() <= kBytesMax;) {
    text.append(piece, static_cast<std::size_t>(stream.gcount()));
  }
  if (text.size() > kBytesMax) {
    error = "the file is too large to be one of certificates";
  } else if (!stream.eof() || stream.bad()) {
    error = std::strerror(errno);
  } else {
    return text;
  }
  return std::nullopt;
}

std::optional<std::string> read_revocation_lists(const std::string& path, std::string& error) {
  if (path.empty()) return std::string();
  std::optional<std::string> text = read_certificate_file(path, error);
  if (text && !text->empty()) return text;
  error = text ? path + " is empty" : path + ": " + error;
  return std::nullopt;
}

}  // namespace spindle
