// Owners of OpenSSL's objects, and its queue of errors.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace spindle {

template <auto kFree>
struct OpensslDeleter {
  template <typename Object>
  void operator()(Object* object) const {
    kFree(object);
  }
};

using BioHandle = std::unique_ptr<BIO, OpensslDeleter<&BIO_free>>;
using BioMethodHandle = std::unique_ptr<BIO_METHOD, OpensslDeleter<&BIO_meth_free>>;
using CertificateHandle = std::unique_ptr<X509, OpensslDeleter<&X509_free>>;
using GeneralNamesHandle = std::unique_ptr<GENERAL_NAMES, OpensslDeleter<&GENERAL_NAMES_free>>;
using IntegerHandle = std::unique_ptr<ASN1_INTEGER, OpensslDeleter<&ASN1_INTEGER_free>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, OpensslDeleter<&EVP_PKEY_free>>;
using RevocationListHandle = std::unique_ptr<X509_CRL, OpensslDeleter<&X509_CRL_free>>;
using SslContextHandle = std::unique_ptr<SSL_CTX, OpensslDeleter<&SSL_CTX_free>>;
using SslHandle = std::unique_ptr<SSL, OpensslDeleter<&SSL_free>>;
using VerificationHandle = std::unique_ptr<X509_STORE_CTX, OpensslDeleter<&X509_STORE_CTX_free>>;

/// Each thread has one queue of errors for all that it does with OpenSSL: it is emptied before a call whose errors will
/// be looked at, so that they are of that call alone.
void clear_openssl_errors();
/// The reason of the latest error, such as "wrong version number", and an empty queue.
std::string take_openssl_error();

}  // namespace spindle
