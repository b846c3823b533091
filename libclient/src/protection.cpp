#include "libclient/src/protection.h"

#include <cstdlib>
#include <optional>

#include "libclient/common/defaults.h"
#include "libclient/tls/certificate_file.h"
#include "libclient/tls/tls_stream.h"

namespace spindle {

namespace {

std::optional<std::string> read_file(const std::string& path, std::string& text) {
  std::optional<std::string> contents = read_certificate_file(path, text);
  if (!contents) text = path + ": " + text;
  return contents;
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
  const WallTime now = wall_time();
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
