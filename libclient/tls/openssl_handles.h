// Owners of what OpenSSL allocates, and its errors in words.
#pragma once

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace spindle {

template <auto kFree>
struct OpensslDeleter {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using AsnIntegerHandle = std::unique_ptr<ASN1_INTEGER, OpensslDeleter<ASN1_INTEGER_free>>;
using AsnTimeHandle = std::unique_ptr<ASN1_TIME, OpensslDeleter<ASN1_TIME_free>>;
using BioHandle = std::unique_ptr<BIO, OpensslDeleter<BIO_free_all>>;
using BioMethodHandle = std::unique_ptr<BIO_METHOD, OpensslDeleter<BIO_meth_free>>;
using CertificateHandle = std::unique_ptr<X509, OpensslDeleter<X509_free>>;
using CipherHandle = std::unique_ptr<EVP_CIPHER_CTX, OpensslDeleter<EVP_CIPHER_CTX_free>>;
using ExtensionHandle = std::unique_ptr<X509_EXTENSION, OpensslDeleter<X509_EXTENSION_free>>;
using GeneralNameHandle = std::unique_ptr<GENERAL_NAME, OpensslDeleter<GENERAL_NAME_free>>;
using GeneralNamesHandle = std::unique_ptr<GENERAL_NAMES, OpensslDeleter<GENERAL_NAMES_free>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, OpensslDeleter<EVP_PKEY_free>>;
using NumberHandle = std::unique_ptr<BIGNUM, OpensslDeleter<BN_free>>;
using RevocationListHandle = std::unique_ptr<X509_CRL, OpensslDeleter<X509_CRL_free>>;
using RevokedHandle = std::unique_ptr<X509_REVOKED, OpensslDeleter<X509_REVOKED_free>>;
using SslContextHandle = std::unique_ptr<SSL_CTX, OpensslDeleter<SSL_CTX_free>>;
using SslHandle = std::unique_ptr<SSL, OpensslDeleter<SSL_free>>;
using VerificationHandle = std::unique_ptr<X509_STORE_CTX, OpensslDeleter<X509_STORE_CTX_free>>;

/// Takes all errors of this thread off OpenSSL's queue: "bad end line; wrong tag", the first one first. "unknown error"
/// where there is none.
std::string take_openssl_errors();

/// What was written to a BIO in memory.
std::string text_of(BIO& memory);

}  // namespace spindle
