#include "libclient/tls/openssl_handles.h"

#include <array>

namespace spindle {

namespace {

/// The reason alone, where OpenSSL has one: its long form names the library's sources.
std::string describe(unsigned long code) {
  if (const char* const reason = ERR_reason_error_string(code)) return reason;
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

}  // namespace

std::string take_openssl_errors() {
  std::string text;
  const char* data = nullptr;
  int flags = 0;
  while (const unsigned long code = ERR_get_error_all(nullptr, nullptr, nullptr, &data, &flags)) {
    if (!text.empty()) text += "; ";
    text += describe(code);
    if ((flags & ERR_TXT_STRING) != 0 && *data != '\0') text += std::string(" (") + data + ")";
  }
  return text.empty() ? "unknown error" : text;
}

std::string text_of(BIO& memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(&memory, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace spindle
