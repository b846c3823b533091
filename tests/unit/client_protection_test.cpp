// What a connection by TLS needs of the files that a program names.
#include "libclient/src/protection.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/files.h"

namespace spindle {
namespace {

TEST(ClientProtection, NamesTheFileOfRevocationListsWhereThereAreNoneInIt) {
  const test::TemporaryDirectory directory;
  ConnectOptions options;
  options.tls_bundle = directory.path("bundle.pem");
  options.tls_revocation_lists = directory.path("lists.crl");
  std::ofstream(options.tls_bundle) << "no certificate";
  std::ofstream(options.tls_revocation_lists) << "no list";
  std::string text;
  EXPECT_EQ(make_protected_stream(-1, options, text), nullptr);
  EXPECT_EQ(text, options.tls_bundle + ", with the revocation lists of " + options.tls_revocation_lists +
                      ": of the revocation lists: there are none in it");
}

}  // namespace
}  // namespace spindle
