#include "tools/spmonitor/token/new_token.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/rand.h>

#include <array>

#include "libclient/common/names.h"
#include "libclient/common/token.h"
#include "libclient/tls/token_digest.h"
#include "tools/spmonitor/pki/files.h"

namespace spmonitor::token {

namespace {

/// As a daemon's configuration takes them, which holds '"' and '\' to the rules of TOML.
bool is_token_name(const std::string& name) {
  return spindle::is_client_name(name) && name.find('*') == std::string::npos;
}

std::string in_quotes(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return text + '"';
}

Result<std::string> draw_token() {
  std::array<unsigned char, spindle::kTokenRandomBytes> random;
  if (RAND_priv_bytes(random.data(), static_cast<int>(random.size())) != 1) {
    ERR_clear_error();
    return fail("OpenSSL has no random numbers: see whether the system has a source of them");
  }
  return std::string(spindle::kTokenPrefix) + spindle::to_hex(random);
}

}  // namespace

Result<std::string> make_token(const NewTokenOptions& options, pki::Time now) {
  if (!is_token_name(options.name)) {
    return fail(
        fmt::format("\"{}\" is no name: it must have 1 to 64 printable ASCII characters other than '#', '*' and space",
                    options.name));
  }
  const Result<std::string> token = draw_token();
  if (!token) return tl::unexpected(token.error());
  std::string text;
  if (options.output.empty()) {
    text = *token + "\n\n";
  } else {
    const Result<void> written =
        pki::write_file(options.output, *token + '\n', pki::Access::secret, pki::Existing::keep);
    if (!written) return tl::unexpected(written.error());
  }
  text +=
      fmt::format("[[token]]\nname = {}\nsha256 = \"{}\"\n", in_quotes(options.name), spindle::token_digest(*token));
  if (options.days) {
    constexpr std::size_t kDateBytes = 10;
    text += fmt::format("until = {}\n", pki::show_time(now + std::chrono::days(*options.days)).substr(0, kDateBytes));
  }
  return text;
}

}  // namespace spmonitor::token
