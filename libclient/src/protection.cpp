#include "libclient/src/protection.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include "libclient/common/defaults.h"
#include "libclient/tls/tls_stream.h"

namespace spindle {

namespace {

constexpr std::size_t kFileBytesMax = 16u << 20;

std::optional<std::string> read_file(const std::string& path, std::string& text) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::string contents;
  for (char piece[4096]; stream.read(piece, sizeof piece), stream.gcount() > 0 && contents.size() <= kFileBytesMax;) {
    contents.append(piece, static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.eof() && !stream.bad() && contents.size() <= kFileBytesMax) return contents;
  text = path + ": " + (errno != 0 ? std::strerror(errno) : "is too large for a file of certificates");
  return std::nullopt;
}

}  // namespace

std::unique_ptr<ByteStream> make_protected_stream(int socket, const ConnectOptions& options, std::string& text) {
  std::string path = options.tls_bundle;
  if (path.empty()) {
    const char* variable = std::getenv(kTlsBundleVariable);
    if (variable != nullptr) path = variable;
  }
  if (path.empty()) {
    text =
        std::string("\"tls:\" needs a file with the CA certificate of the cluster: ConnectOptions::tls_bundle, or ") +
        kTlsBundleVariable;
    return nullptr;
  }
  const std::optional<std::string> bundle = read_file(path, text);
  if (!bundle) return nullptr;
  std::string lists;
  if (!options.tls_revocation_lists.empty()) {
    std::optional<std::string> read = read_file(options.tls_revocation_lists, text);
    if (!read) return nullptr;
    lists = std::move(*read);
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  std::string wrong;
  std::shared_ptr<const TlsContext> context =
      TlsContext::make(TlsRole{TlsPort::client, TlsSide::dialling}, *bundle, lists, now, wrong);
  if (context == nullptr) {
    text = path + ": " + wrong;
    return nullptr;
  }
  return std::make_unique<TlsStream>(socket, std::move(context), now);
}

}  // namespace spindle
