#include "libclient/tls/certificate_text.h"

#include "libclient/common/bytes.h"

namespace spindle {

std::string show_name(const X509_NAME& name) {
  const BioHandle memory(BIO_new(BIO_s_mem()));
  if (!memory) return {};
  X509_NAME_print_ex(memory.get(), &name, 0, XN_FLAG_ONELINE);
  return text_of(*memory);
}

std::string show_serial(const ASN1_INTEGER* serial) {
  const NumberHandle number(ASN1_INTEGER_to_BN(serial, nullptr));
  char* const digits = number ? BN_bn2hex(number.get()) : nullptr;
  std::string text = digits == nullptr ? std::string() : digits;
  OPENSSL_free(digits);
  return text;
}

std::string show_serial(std::string_view der) {
  const unsigned char* at = as_bytes(der).data();
  const AsnIntegerHandle serial(d2i_ASN1_INTEGER(nullptr, &at, static_cast<long>(der.size())));
  if (serial) return show_serial(serial.get());
  ERR_clear_error();
  return {};
}

}  // namespace spindle
