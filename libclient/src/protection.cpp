#include "libclient/src/protection.h"

#include <cstdlib>
#include <optional>

#include "libclient/common/defaults.h"
#include "libclient/common/token.h"
#include "libclient/tls/certificate_file.h"
#include "libclient/tls/tls_stream.h"

namespace spindle {

namespace {

/// What the program says, or else the environment; empty where neither does.
std::string said_or_in_environment(const std::string& said, const char* variable) {
  const char* const value = said.empty() ? std::getenv(variable) : nullptr;
  return value != nullptr ? value : said;
}

}  // namespace

std::unique_ptr<ByteStream> make_protected_stream(int socket, const ConnectOptions& options, std::string& text) {
  const std::string path = said_or_in_environment(options.tls_bundle, kTlsBundleVariable);
  if (path.empty()) {
    text =
        std::string("\"tls:\" needs a file with the CA certificate of the cluster: ConnectOptions::tls_bundle, or ") +
        kTlsBundleVariable;
    return nullptr;
  }
  const std::optional<std::string> bundle = read_certificate_file(path, text);
  if (!bundle) {
    text.insert(0, path + ": ");
    return nullptr;
  }
  const std::string lists_path = said_or_in_environment(options.tls_revocation_lists, kRevocationListsVariable);
  const std::optional<std::string> lists = read_revocation_lists(lists_path, text);
  if (!lists) return nullptr;
  const WallTime now = wall_time();
  std::string wrong;
  std::shared_ptr<const TlsContext> context =
      TlsContext::make(TlsRole{TlsPort::client, TlsSide::dialling}, *bundle, *lists, now, wrong);
  if (context == nullptr) {
    text = certificate_paths(path, lists_path) + ": " + wrong;
    return nullptr;
  }
  return std::make_unique<TlsStream>(socket, std::move(context), now);
}

std::string find_token(const ConnectOptions& options, const Address& address, std::error_code& error,
                       std::string& text) {
  std::string token = said_or_in_environment(options.token, kTokenVariable);
  const std::string source = options.token.empty() ? kTokenVariable : "ConnectOptions::token";
  if (token.empty()) return token;
  const bool is_unix = !address.path.empty();
  if (!is_token(token)) {
    error = Errc::bad_argument;
    text = source + " holds no token: one has " + std::to_string(kTokenBytes) + " characters and begins with \"" +
           std::string(kTokenPrefix) + "\"; `spmonitor token new` makes one";
  } else if (!is_unix && !address.is_protected) {
    error = Errc::token_exposed;
    text = source + " is set, and others could read it on its way to " + address.host + ":" + address.port +
           ": connect by \"tls:\" or to a unix socket, or without a token";
  } else {
    return token;
  }
  return {};
}

}  // namespace spindle
