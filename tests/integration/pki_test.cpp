// `spmonitor pki` as it is typed, and what the `openssl` command says of its files.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>

#include "tests/integration/needs.h"
#include "tests/integration/process.h"

namespace spindle::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// In a folder of its own.
class PkiCommand : public testing::Test {
 protected:
  Finished run_here(std::vector<std::string> command) {
    command.insert(command.begin(), {"-C", folder_.path("")});
    ProcessOptions options;
    options.arguments = std::move(command);
    if (const char* path = std::getenv("PATH")) options.environment = {std::string("PATH=") + path};
    return run("/usr/bin/env", options);
  }
  Finished pki(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {SPMONITOR_PATH, "pki"});
    return run_here(std::move(arguments));
  }
  /// What standard output says, where that works.
  std::string done(const std::vector<std::string>& arguments) {
    const Finished finished = pki(arguments);
    EXPECT_EQ(finished.code, 0) << finished.error;
    return finished.out;
  }
  /// What standard error says, where it ends with `code`.
  std::string refused(const std::vector<std::string>& arguments, int code = 1) {
    const Finished finished = pki(arguments);
    EXPECT_EQ(finished.code, code) << finished.out << finished.error;
    EXPECT_EQ(finished.out, "");
    return finished.error;
  }
  Finished openssl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "openssl");
    return run_here(std::move(arguments));
  }
  std::string why_no_openssl() {
    return openssl({"version"}).code == 0 ? std::string() : "there is no command `openssl` here";
  }
  std::string extensions_of(const std::string& file) {
    return openssl({"x509", "-in", file, "-noout", "-subject", "-ext",
                    "subjectAltName,extendedKeyUsage,keyUsage,basicConstraints"})
        .out;
  }
  mode_t mode(const std::string& file) {
    struct stat status {};
    EXPECT_EQ(::stat(folder_.path(file).c_str(), &status), 0) << file;
    return status.st_mode & 0777;
  }

  TemporaryDirectory folder_;
};

TEST_F(PkiCommand, OpensslTakesItsCertificates) {
  SPINDLE_TEST_NEEDS(why_no_openssl());
  EXPECT_THAT(done({"init", "trading"}), HasSubstr("trading.ca: the CA of cluster trading, until"));
  done({"issue", "trading.ca", "alpha", "--dns", "alpha.example.org", "--ip", "192.0.2.1", "--ip", "2001:db8::1"});
  done({"issue", "trading.ca", "--client", "feed", "--days", "30"});
  done({"issue", "trading.ca", "--operator", "anna", "--output", "laptop.pem"});
  done({"issue", "trading.ca", "--any-daemon"});
  for (const char* file : {"alpha.pem", "feed.pem", "laptop.pem", "any-daemon.pem"}) {
    EXPECT_EQ(openssl({"verify", "-x509_strict", "-CAfile", "trading.ca", file}).code, 0) << file;
    EXPECT_EQ(mode(file), 0600u) << file;
  }
  EXPECT_EQ(mode("trading.ca"), 0600u);
  EXPECT_EQ(openssl({"verify", "-purpose", "sslserver", "-CAfile", "trading.ca", "alpha.pem"}).code, 0);
  EXPECT_EQ(openssl({"verify", "-purpose", "sslclient", "-CAfile", "trading.ca", "alpha.pem"}).code, 0);
  EXPECT_EQ(openssl({"verify", "-purpose", "sslclient", "-CAfile", "trading.ca", "feed.pem"}).code, 0);
  EXPECT_NE(openssl({"verify", "-purpose", "sslserver", "-CAfile", "trading.ca", "feed.pem"}).code, 0);

  const std::string alpha = extensions_of("alpha.pem");
  EXPECT_THAT(alpha, HasSubstr("subject=O = trading, CN = alpha"));
  EXPECT_THAT(alpha, HasSubstr("URI:spindle://trading/daemon/alpha, DNS:alpha.example.org, IP Address:192.0.2.1"));
  EXPECT_THAT(alpha, HasSubstr("TLS Web Server Authentication, TLS Web Client Authentication"));
  EXPECT_THAT(extensions_of("feed.pem"), HasSubstr("URI:spindle://trading/client/feed\n"));
  EXPECT_THAT(extensions_of("laptop.pem"), HasSubstr("URI:spindle://trading/operator/anna\n"));
  EXPECT_THAT(extensions_of("any-daemon.pem"), HasSubstr("URI:spindle://trading/daemon/*\n"));
  EXPECT_THAT(extensions_of("trading.ca"), HasSubstr("CA:TRUE, pathlen:0"));
}

TEST_F(PkiCommand, OpensslTakesItsListOfRevokedOnes) {
  SPINDLE_TEST_NEEDS(why_no_openssl());
  done({"init", "trading"});
  for (const char* name : {"alpha", "beta", "gamma"}) done({"issue", "trading.ca", name});
  done({"issue", "trading.ca", "--client", "feed"});
  const auto is_good = [&](const std::string& file) {
    const Finished finished =
        openssl({"verify", "-crl_check", "-CAfile", "trading.ca", "-CRLfile", "trading.crl", file});
    EXPECT_EQ(finished.code != 0, finished.error.find("certificate revoked") != std::string::npos) << finished.error;
    return finished.code == 0;
  };
  EXPECT_THAT(done({"revoke", "trading.ca", "alpha.pem"}), HasSubstr("daemon:alpha: is revoked"));
  EXPECT_TRUE(!is_good("alpha.pem") && is_good("beta.pem") && is_good("gamma.pem") && is_good("feed.pem"));
  done({"revoke", "trading.ca", "beta"});
  EXPECT_TRUE(!is_good("alpha.pem") && !is_good("beta.pem") && is_good("gamma.pem") && is_good("feed.pem"));
  done({"revoke", "trading.ca", "--client", "feed"});
  EXPECT_THAT(done({"revoke", "trading.ca", "alpha.pem"}), HasSubstr("daemon:alpha: was revoked before"));
  EXPECT_TRUE(!is_good("alpha.pem") && !is_good("beta.pem") && is_good("gamma.pem") && !is_good("feed.pem"));
  EXPECT_THAT(openssl({"crl", "-in", "trading.crl", "-noout", "-crlnumber"}).out, HasSubstr("crlNumber=0x04"));
}

TEST_F(PkiCommand, GoesOverToAnotherCa) {
  SPINDLE_TEST_NEEDS(why_no_openssl());
  done({"init", "trading"});
  done({"init", "trading", "--output", "next.ca"});
  done({"issue", "trading.ca", "alpha", "--trust", "next.ca"});
  done({"issue", "next.ca", "beta", "--trust", "trading.ca"});
  done({"issue", "next.ca", "gamma"});
  done({"revoke", "trading.ca", "alpha"});
  done({"revoke", "next.ca", "gamma"});
  for (const char* trusted : {"alpha.pem", "beta.pem"}) {
    const auto verify = [&](const std::string& file) {
      return openssl(
          {"verify", "-crl_check", "-CAfile", trusted, "-CRLfile", "trading.crl", "-CRLfile", "next.crl", file});
    };
    EXPECT_THAT(verify("alpha.pem").error, HasSubstr("certificate revoked")) << trusted;
    EXPECT_EQ(verify("beta.pem").code, 0) << trusted;
    EXPECT_THAT(verify("gamma.pem").error, HasSubstr("certificate revoked")) << trusted;
  }
  EXPECT_NE(openssl({"verify", "-CAfile", "gamma.pem", "alpha.pem"}).code, 0);
}

TEST_F(PkiCommand, RefusesAndSaysWhatToDo) {
  done({"init", "trading"});
  done({"issue", "trading.ca", "alpha"});
  const std::string ca = read_file(folder_.path("trading.ca")), alpha = read_file(folder_.path("alpha.pem"));
  EXPECT_THAT(refused({"init", "trading"}), HasSubstr("a CA is never replaced; give another --output FILE"));
  EXPECT_THAT(refused({"issue", "trading.ca", "alpha"}), HasSubstr("--force replaces it"));
  EXPECT_THAT(refused({"issue", "trading.ca", "beta", "--force", "--output", "trading.ca"}), HasSubstr("move it away"));
  EXPECT_THAT(refused({"issue", "trading.ca", "al pha"}), HasSubstr("1 to 64 printable ASCII characters"));
  EXPECT_THAT(refused({"issue", "alpha.pem", "beta"}),
              HasSubstr("give the file that `spmonitor pki init` has written"));
  EXPECT_THAT(refused({"show", "gamma.pem"}), HasSubstr("No such file"));
  write_file(folder_.path("cut.pem"), alpha.substr(0, alpha.size() - 100));
  EXPECT_THAT(refused({"show", "cut.pem"}), HasSubstr("damaged or cut short"));
  EXPECT_THAT(refused({"revoke", "trading.ca", "gamma"}), HasSubstr("give another name, or the file"));
  EXPECT_EQ(read_file(folder_.path("trading.ca")), ca);
  EXPECT_EQ(read_file(folder_.path("alpha.pem")), alpha);
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{},
                                                {"issue", "trading.ca"},
                                                {"issue", "trading.ca", "beta", "--client", "feed"},
                                                {"issue", "trading.ca", "beta", "--days", "0"},
                                                {"init", "--days", "soon", "other"},
                                                {"show", "--json", "alpha.pem"}}) {
    refused(wrong, 2);
  }
}

TEST_F(PkiCommand, ShowsWhatIsWrongWithAFile) {
  done({"init", "trading"});
  done({"issue", "trading.ca", "alpha"});
  done({"issue", "trading.ca", "beta"});
  EXPECT_THAT(done({"show", "alpha.pem"}), HasSubstr("daemon:alpha of cluster trading"));
  EXPECT_THAT(done({"show", "trading.ca"}), HasSubstr("keep the file offline"));
  const std::string alpha = read_file(folder_.path("alpha.pem")), beta = read_file(folder_.path("beta.pem"));
  write_file(folder_.path("mixed.pem"),
             alpha.substr(0, alpha.find("-----BEGIN CERTIFICATE")) + beta.substr(beta.find("-----BEGIN CERTIFICATE")));
  const Finished mixed = pki({"show", "mixed.pem"});
  EXPECT_EQ(mixed.code, 1);
  EXPECT_THAT(mixed.out, HasSubstr("problem       it does not match the certificate"));
  EXPECT_THAT(mixed.out + mixed.error, Not(HasSubstr(alpha.substr(alpha.find('\n') + 1, 64))));
}

}  // namespace
}  // namespace spindle::test
