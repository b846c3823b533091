#include "libclient/tls/tls_handles.h"

#include <openssl/err.h>

namespace spindle {

void clear_openssl_errors() { ERR_clear_error(); }

std::string take_openssl_error() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason == nullptr ? "no reason is known" : reason;
}

}  // namespace spindle
