// Files of keys, certificates and lists of revoked ones. The input is what two files hold, a bundle and the lists
// (bundle_parts.h). Any text is a bundle, or there is an error that says why not. What was read, written again, reads
// as the same; whoever a certificate names has one URI; and a context for TLS comes of the files, or an error.
#include <openssl/pem.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "libclient/tls/bundle_check.h"
#include "libclient/tls/certificate_file.h"
#include "libclient/tls/certificate_record.h"
#include "libclient/tls/tls_context.h"
#include "tests/fuzz/bundle_parts.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/tls_certificates.h"

namespace {

using namespace spindle;
using spindle_fuzz::BundlePart;
using spindle_fuzz::Input;

/// The PEM of a block of this kind; empty for text.
const char* label_of(BundlePart part) {
  switch (part) {
    case BundlePart::text:
      return "";
    case BundlePart::certificate:
      return PEM_STRING_X509;
    case BundlePart::revocation_list:
      return PEM_STRING_X509_CRL;
    case BundlePart::key:
      return PEM_STRING_PKCS8INF;
    case BundlePart::key_of_curve:
      return PEM_STRING_ECPRIVATEKEY;
    case BundlePart::encrypted_key:
      return PEM_STRING_PKCS8;
    case BundlePart::other:
      return PEM_STRING_ECPARAMETERS;
  }
  return "";
}

std::string to_pem(BundlePart part, ByteView bytes) {
  const std::string label = label_of(part);
  if (label.empty()) return std::string(as_text(bytes));
  const BioHandle memory(BIO_new(BIO_s_mem()));
  PEM_write_bio(memory.get(), label.c_str(), "", bytes.data(), static_cast<long>(bytes.size()));
  ERR_clear_error();  // it takes a block of nothing for one, and writes it
  return text_of(*memory);
}

struct Files {
  bool makes_context = true;
  TlsRole role;
  std::string bundle;
  std::string revocation_lists;
};

Files read_input(Input input) {
  Files files;
  const std::uint8_t role = input.u8();
  files.makes_context = (role & spindle_fuzz::kBundleIsRead) == 0;
  files.role.port = TlsPort((role & (spindle_fuzz::kBundleRoleDials - 1)) % 3);
  files.role.side = (role & spindle_fuzz::kBundleRoleDials) != 0 ? TlsSide::dialling : TlsSide::accepting;
  while (!input.empty()) {
    const std::uint8_t code = input.u8();
    const std::uint16_t size = input.u16();
    const auto part = BundlePart(code & (spindle_fuzz::kBundlePartOfLists - 1));
    std::string& file = (code & spindle_fuzz::kBundlePartOfLists) != 0 ? files.revocation_lists : files.bundle;
    file += to_pem(part, input.bytes(size));
  }
  return files;
}

/// Through a file: what is read of it is what is in it.
std::string through_file(const std::string& text) {
  static const int kFile = ::memfd_create("bundle", MFD_CLOEXEC);
  static const std::string kPath = "/proc/self/fd/" + std::to_string(kFile);
  SPINDLE_CHECK(::ftruncate(kFile, 0) == 0);
  SPINDLE_CHECK(::pwrite(kFile, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  std::string error;
  std::optional<std::string> read = read_certificate_file(kPath, error);
  SPINDLE_CHECK(read.has_value() && *read == text && error.empty());
  return *std::move(read);
}

/// What OpenSSL writes by one of its functions for PEM; nothing where it cannot.
template <typename Write, typename Object>
std::optional<std::string> written(Write write, Object* object) {
  const BioHandle memory(BIO_new(BIO_s_mem()));
  if (write(memory.get(), object) != 1) return std::nullopt;
  return text_of(*memory);
}

/// All but the key, which may be one that OpenSSL reads and does not write.
std::optional<std::string> write_bundle(const CertificateBundle& bundle) {
  std::string text;
  bool is_good = true;
  const auto add = [&](const std::optional<std::string>& pem) {
    is_good &= pem.has_value();
    if (pem) text += *pem;
  };
  if (bundle.certificate) add(written(PEM_write_bio_X509, bundle.certificate.get()));
  for (const auto& authority : bundle.authorities) add(written(PEM_write_bio_X509, authority.get()));
  for (const auto& list : bundle.revocation_lists) add(written(PEM_write_bio_X509_CRL, list.get()));
  ERR_clear_error();
  if (!is_good) return std::nullopt;
  return text;
}

void check_round_trip(const CertificateBundle& bundle) {
  const std::optional<std::string> text = write_bundle(bundle);
  if (!text) return;
  std::string error;
  const std::optional<CertificateBundle> again = parse_bundle(*text, error);
  SPINDLE_CHECK(again.has_value() && error.empty());
  SPINDLE_CHECK((again->certificate != nullptr) == (bundle.certificate != nullptr));
  SPINDLE_CHECK(again->authorities.size() == bundle.authorities.size());
  SPINDLE_CHECK(again->revocation_lists.size() == bundle.revocation_lists.size());
  SPINDLE_CHECK(write_bundle(*again) == text);
}

void check_certificate_of_file(X509& certificate) {
  const std::optional<CertificateRecord> record = read_certificate(certificate);
  const std::optional<CertificateName> name = name_of(certificate);
  SPINDLE_CHECK(record.has_value() == name.has_value());
  if (!record) return;
  SPINDLE_CHECK(record->name == *name);
  SPINDLE_CHECK(parse_certificate_name(to_uri(*name)) == name);
  SPINDLE_CHECK(to_identity(*name).ends_with(":" + name->name));
  SPINDLE_CHECK(show_time(record->expires).ends_with("Z"));
  SPINDLE_CHECK(!record->issuer.empty() && !record->serial.empty());
}

void check_text(const std::string& text) {
  std::string error;
  const std::optional<CertificateBundle> bundle = parse_bundle(text, error);
  SPINDLE_CHECK(bundle.has_value() == error.empty());
  SPINDLE_CHECK(ERR_peek_error() == 0);
  if (!bundle) return;
  for (const auto& authority : bundle->authorities) check_certificate_of_file(*authority);
  if (bundle->certificate) check_certificate_of_file(*bundle->certificate);
  for (const bool needs_key : {true, false}) {
    SPINDLE_CHECK(check_bundle(*bundle, needs_key, error) == error.empty());
  }
  check_round_trip(*bundle);
}

void check_context(const Files& files) {
  std::string error;
  const std::shared_ptr<const TlsContext> context =
      TlsContext::make(files.role, files.bundle, files.revocation_lists, test::kToday, error);
  SPINDLE_CHECK((context != nullptr) == error.empty());
  if (!context) return;
  if (const std::optional<CertificateRecord>& own = context->certificate()) {
    SPINDLE_CHECK(parse_certificate_name(to_uri(own->name)) == own->name);
    SPINDLE_CHECK(own->expires >= test::kToday);
    const bool may_be_revoked = files.bundle.find(PEM_STRING_X509_CRL) != std::string::npos ||
                                files.revocation_lists.find(PEM_STRING_X509_CRL) != std::string::npos;
    SPINDLE_CHECK(!context->has_revoked(*own) || may_be_revoked);
  }
  SPINDLE_CHECK(context->make_ssl(test::kToday) != nullptr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Files files = read_input(Input(data, size));
  files.bundle = through_file(files.bundle);
  if (files.makes_context) {
    check_context(files);
  } else {
    check_text(files.bundle);
    check_text(files.revocation_lists);
  }
  return 0;
}
