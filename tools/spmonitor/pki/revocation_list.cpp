#include "tools/spmonitor/pki/revocation_list.h"

namespace spmonitor::pki {

using namespace spindle;

namespace {

AsnIntegerHandle to_serial(const std::string& digits) {
  BIGNUM* number = nullptr;
  BN_hex2bn(&number, digits.c_str());
  const NumberHandle owner(number);
  return AsnIntegerHandle(number == nullptr ? nullptr : BN_to_ASN1_INTEGER(number, nullptr));
}

bool add_revoked(X509_CRL& list, const std::string& serial, const ASN1_TIME& now) {
  const AsnIntegerHandle number = to_serial(serial);
  RevokedHandle revoked(X509_REVOKED_new());
  if (!number || !revoked || X509_REVOKED_set_serialNumber(revoked.get(), number.get()) != 1 ||
      X509_REVOKED_set_revocationDate(revoked.get(), const_cast<ASN1_TIME*>(&now)) != 1 ||
      X509_CRL_add0_revoked(&list, revoked.get()) != 1) {
    return false;
  }
  static_cast<void>(revoked.release());  // it is the list's now
  return true;
}

/// Lists of a CA are numbered (RFC 5280, section 5.2.3), from 1 on.
bool set_next_number(X509_CRL& list) {
  const AsnIntegerHandle before(
      static_cast<ASN1_INTEGER*>(X509_CRL_get_ext_d2i(&list, NID_crl_number, nullptr, nullptr)));
  const AsnIntegerHandle next(ASN1_INTEGER_new());
  const long number = before ? ASN1_INTEGER_get(before.get()) + 1 : 1;
  return next && ASN1_INTEGER_set(next.get(), number) == 1 &&
         X509_CRL_add1_ext_i2d(&list, NID_crl_number, next.get(), 0, X509V3_ADD_REPLACE) == 1;
}

RevocationListHandle begin_revocation_list(const Authority& authority) {
  RevocationListHandle list(X509_CRL_new());
  X509V3_CTX context{};
  X509V3_set_ctx(&context, authority.certificate.get(), nullptr, nullptr, list.get(), 0);
  const ExtensionHandle key_identifier(
      X509V3_EXT_conf_nid(nullptr, &context, NID_authority_key_identifier, "keyid:always"));
  const bool is_done = list && key_identifier && X509_CRL_set_version(list.get(), X509_CRL_VERSION_2) == 1 &&
                       X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(authority.certificate.get())) == 1 &&
                       X509_CRL_add_ext(list.get(), key_identifier.get(), -1) == 1;
  if (!is_done) list.reset();
  return list;
}

}  // namespace

Result<RevocationListHandle> make_revocation_list(const Authority& authority, X509_CRL* earlier,
                                                  const std::vector<std::string>& serials, const Validity& validity) {
  RevocationListHandle list(earlier != nullptr ? X509_CRL_dup(earlier) : begin_revocation_list(authority).release());
  const AsnTimeHandle from = to_asn_time(validity.from), until = to_asn_time(validity.until);
  bool is_done = list && from && until && X509_CRL_set1_lastUpdate(list.get(), from.get()) == 1 &&
                 X509_CRL_set1_nextUpdate(list.get(), until.get()) == 1 && set_next_number(*list);
  for (const std::string& serial : serials) {
    is_done = is_done && (is_revoked(*list, serial) || add_revoked(*list, serial, *from));
  }
  if (!is_done || X509_CRL_sort(list.get()) != 1 || X509_CRL_sign(list.get(), authority.key.get(), EVP_sha256()) <= 0) {
    return fail(openssl_failure("make a list of revoked certificates"));
  }
  return list;
}

bool is_revoked(X509_CRL& list, const std::string& serial) {
  const AsnIntegerHandle number = to_serial(serial);
  X509_REVOKED* found = nullptr;
  return number && X509_CRL_get0_by_serial(&list, &found, number.get()) == 1;
}

}  // namespace spmonitor::pki
